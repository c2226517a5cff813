import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { parseHostname, parseHostPort } from './host-port.ts';

const plain = { wildcard: false };
const wild = { wildcard: true };
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const label = fc.stringMatching(/^[a-z][a-z0-9]{0,20}$/);
const hostname = fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.'));

test('a host and its port are taken apart', () => {
  for (const [text, host, port] of [
    ['example.com:443', 'example.com', 443],
    ['EXAMPLE.com:1', 'example.com', 1],
    ['localhost:65535', 'localhost', 65535],
    ['my_service:8080', 'my_service', 8080],
    ['10.0.0.1:80', '10.0.0.1', 80],
    ['[2001:DB8:0::1]:443', '2001:db8::1', 443],
    ['[::ffff:10.0.0.1]:443', '10.0.0.1', 443],
  ] as const)
    assert.deepEqual(parseHostPort(text), { ok: true, host, port });
});

test('what is wrong is told: the form, the host or the port', () => {
  const faults = {
    form: [
      '',
      'example.com',
      '10.0.0.1',
      '2001:db8::1',
      '2001:db8::1:443',
      '[::1]',
      'a:1:2',
      'http://a:80',
      '[::1]:1:2',
    ],
    host: [':80', ' a:80', 'a b:80', '-a:80', 'a..b:80', '1.2.3:80', '1.2.3.400:80', '[]:80', '[a]:80', '[::1%lo]:80'],
    port: ['a:', 'a:0', 'a:65536', 'a:99999', 'a:080', 'a:+80', 'a:80 ', 'a:8e1', 'a:http', '10.0.0.1:-1', 'a:٨'],
  };
  for (const [fault, texts] of Object.entries(faults))
    for (const text of texts) {
      const result = parseHostPort(text);
      assert.ok(!result.ok, text);
      assert.equal(result.fault, fault, text);
    }
});

test('an address in brackets without a port is told to lack one', () => {
  const result = parseHostPort('[::1]');
  assert.ok(!result.ok);
  assert.match(result.reason, /no port/);
});

test('a near miss is answered with what was probably meant', () => {
  for (const [text, meant] of [
    ['http://127.0.0.1:9000', /starts with "http:\/\/".*write 127\.0\.0\.1:9000$/],
    ['https://app.example.com', /write app\.example\.com:443$/],
    ['HTTP://app.example.com/path?q', /write app\.example\.com:443$/],
    ['https://*.example.com/', /write \*\.example\.com:443$/],
    ['ftp://a b/', /write host:port$/],
    ['app.example.com', /has no port; did you mean "app\.example\.com:443"\?$/],
    ['[::1]', /did you mean "\[::1\]:443"\?$/],
    ['münchen.example:443', /did you mean "xn--mnchen-3ya\.example:443", which is the same name\?$/],
    ['*.*.example.com:443', /one "\*" only.*such as \*\.example\.com$/],
    ['*:443', /one "\*" only/],
    [':443', /has no host before its port$/],
    ['a b:443', /no host name or IP address$/],
    ['a\u0000:443', /no host name or IP address$/],
  ] as const) {
    const result = parseHostPort(text, { wildcard: true, usualPort: 443 });
    assert.ok(!result.ok, text);
    assert.match(result.reason, meant);
  }
  const plainResult = parseHostPort('*.example.com:443');
  assert.ok(!plainResult.ok && /"\*", which is not possible here/.test(plainResult.reason));
});

test('only IPv6 addresses may stand in brackets', () => {
  for (const text of ['[10.0.0.1]:80', '[example.com]:80', '[::1:80', '::1]:80'])
    assert.ok(!parseHostPort(text).ok, text);
});

test('a wildcard is a host only where it is allowed', () => {
  assert.deepEqual(parseHostPort('*.Example.com:443', wild), { ok: true, host: '*.example.com', port: 443 });
  assert.equal(parseHostPort('*.example.com:443').ok, false);
});

test('any name with any port is taken apart and lower-cased', () => {
  fc.assert(
    fc.property(hostname, fc.integer({ min: 1, max: 65535 }), (name, port) => {
      assert.deepEqual(parseHostPort(`${name.toUpperCase()}:${port}`), { ok: true, host: name, port });
    }),
  );
});

test('a host name has letters, digits, hyphens and underscores in labels of at most 63', () => {
  for (const text of ['a', 'a-b.c', 'xn--bcher-kva.example', '_acme.a', '1a.com', '1.2.3.4a', 'a'.repeat(63), 'a.0b'])
    assert.equal(parseHostname(text, plain), text);
  for (const text of [
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    '-a',
    'a-',
    'a.-b',
    'a b',
    'bücher.de',
    'a/b',
    'a:1',
    'a\n',
    '\u212a.com',
  ])
    assert.equal(parseHostname(text, plain), undefined, text);
  assert.equal(parseHostname('a'.repeat(64), plain), undefined);
});

test('a host name has at most 253 characters', () => {
  const long = `${'a.'.repeat(126)}a`;
  assert.equal(parseHostname(long, plain), long);
  assert.equal(parseHostname(`a${long}`, plain), undefined);
});

test('a name that a resolver could read as an address is refused', () => {
  for (const text of ['1', '1.2.3.4', 'a.1', '256.256.256.256', '0x7f000001', '127.0x1', 'a.0X', '2130706433'])
    assert.equal(parseHostname(text, plain), undefined, text);
});

test('a wildcard is one whole first label before at least two others', () => {
  assert.equal(parseHostname('*.Example.com', wild), '*.example.com');
  for (const text of ['*', '*.', '*.com', 'a.*.com', '*a.example.com', '*.*.example.com', '**.example.com', '*.1.2'])
    assert.equal(parseHostname(text, wild), undefined, text);
});

test('every character outside the allowed ones is refused anywhere', () => {
  fc.assert(
    fc.property(
      hostname,
      fc.nat(10),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
      (name, at, stranger) => {
        fc.pre(!`${letters}0123456789-_.`.includes(stranger));
        assert.equal(parseHostname(name.slice(0, at) + stranger + name.slice(at), plain), undefined);
      },
    ),
  );
});
