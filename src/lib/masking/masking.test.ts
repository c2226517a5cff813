import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { bodyText, maskBodySteps, maskBodyText, maskHeader, maskHeaders, maskHeadersSteps } from './mask-message.ts';
import { maskTarget, maskTargetSteps } from './mask-text.ts';
import { isSecretName } from './secret-names.ts';

setFlagsFromString('--expose-gc');
// The flag adds it to new contexts.
const collectGarbage = runInNewContext('gc') as () => void;
function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

const secret = 'hunter2-Very';
const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl';

suite('no secret is left in', () => {
  const headers: readonly (readonly [name: string, value: string, masked: string])[] = [
    ['Authorization', `Bearer ${secret}`, 'Bearer [masked]'],
    ['authorization', secret, '[masked]'],
    ['Proxy-Authorization', `Basic ${secret}`, 'Basic [masked]'],
    ['Cookie', `sid=${secret}; theme=${secret}`, 'sid=[masked]; theme=[masked]'],
    ['Set-Cookie', `sid=${secret}; Path=/; HttpOnly`, 'sid=[masked]; Path=/; HttpOnly'],
    ['X-Api-Key', secret, '[masked]'],
    ['X-Hub-Signature-256', secret, '[masked]'],
    ['X-Auth', secret, '[masked]'],
    ['X-Amz-Security-Token', secret, '[masked]'],
    ['Location', `/cb?code=${secret}&page=2`, '/cb?code=[masked]&page=2'],
    ['Referer', `https://ann:${secret}@a.test/?token=${secret}`, 'https://[masked]@a.test/?token=[masked]'],
    ['Cookie', secret, '[masked]'],
    ['Cookie', `a=1; ${secret}; b`, 'a=[masked]; [masked]; [masked]'],
    ['Set-Cookie', `${secret}; Path=/`, '[masked]; Path=/'],
    ['Ocp-Apim-Subscription-Key', secret, '[masked]'],
    ['Location', `https://a.test/#access_token=${secret}&n=1`, 'https://a.test/#access_token=[masked]&n=1'],
    ['Location', `/cb?n=1#id_token=${secret}`, '/cb?n=1#id_token=[masked]'],
    ['Referer', `/login?next=%2Fcb%3Ftoken%3D${secret}&n=1`, '/login?next=[masked]&n=1'],
    ['Referer', `https://a.test/app;jsessionid=${secret}?n=1`, 'https://a.test/app;jsessionid=[masked]?n=1'],
    ['X-Other', `see ${jwt}`, 'see [masked]'],
    ['X-Other', `password=${secret}`, 'password=[masked]'],
    ['WWW-Authenticate', 'Basic realm="a"', 'Basic realm="a"'],
    ['User-Agent', 'hook-sender/4.2 (x86_64)', 'hook-sender/4.2 (x86_64)'],
    ['ETag', '"5d41402abc4b2a76b9719d911017c592"', '"5d41402abc4b2a76b9719d911017c592"'],
    ['X-Request-Id', '7b1f0a52-6f0e-4c53-9d8e-0c8a4f1d2e3b', '7b1f0a52-6f0e-4c53-9d8e-0c8a4f1d2e3b'],
  ];
  for (const [name, value, masked] of headers)
    test(`the header ${name}: ${value}`, () => assert.equal(maskHeader(name, value), masked));

  const bodies: readonly (readonly [what: string, type: string, body: string, masked: string])[] = [
    ['JSON', 'application/json', `{"a": 1, "password" : "${secret}"}`, '{"a": 1, "password" : "[masked]"}'],
    ['JSON that says it is text', 'text/plain', `{"apiKey":"${secret}"}`, '{"apiKey":"[masked]"}'],
    ['a name with an escape', 'application/json', `{"pass\\u0077ord":"${secret}"}`, '{"pass\\u0077ord":"[masked]"}'],
    ['a value with a quote', 'application/json', `{"token":"a\\"${secret}","b":1}`, '{"token":"[masked]","b":1}'],
    [
      'what a secret name holds',
      'application/json',
      `{"credentials":{"n":[17,{"x":"${secret}"}],"u":"${secret}"},"ok":"yes"}`,
      '{"credentials":{"n":["[masked]",{"x":"[masked]"}],"u":"[masked]"},"ok":"yes"}',
    ],
    ['a number', 'application/json', '{"pin":1234,"n":1234,"otp":null}', '{"pin":"[masked]","n":1234,"otp":null}'],
    [
      'a name beside its value',
      'application/json',
      `[{"name":"password","value":"${secret}"},{"name":"a","value":"b"}]`,
      '[{"name":"password","value":"[masked]"},{"name":"a","value":"b"}]',
    ],
    [
      'lists and objects beside a name, and what follows them',
      'application/json',
      `[{"name":"password","value":{"name":"secret","a":["${secret}"]},"was":"${secret}"},"b"]`,
      '[{"name":"password","value":{"name":"[masked]","a":["[masked]"]},"was":"[masked]"},"b"]',
    ],
    [
      'JSON in a form',
      'application/x-www-form-urlencoded',
      `payload=%7B%22token%22%3A%22${secret}%22%7D&text=100%25&url=https%3A%2F%2Fa.test%2F%3Fn%3D1`,
      'payload=[masked]&text=100%25&url=https%3A%2F%2Fa.test%2F%3Fn%3D1',
    ],
    [
      'a code and what proves it',
      'application/x-www-form-urlencoded',
      `code_verifier=${secret}&device_code=${secret}&n=1`,
      'code_verifier=[masked]&device_code=[masked]&n=1',
    ],
    ['JSON that was cut off', 'application/json', `{"b":"c","secret":"${secret}`, '{"b":"c","secret":"[masked]"'],
    [
      'lines of JSON',
      'application/x-ndjson',
      `{"token":"${secret}"}\n{"token":"${secret}"}`,
      '{"token":"[masked]"}\n{"token":"[masked]"}',
    ],
    [
      'a token without a name',
      'application/json',
      `{"note":"it is ${jwt}, they say"}`,
      '{"note":"it is [masked], they say"}',
    ],
    [
      'JSON in a text of JSON',
      'application/json',
      JSON.stringify({ a: JSON.stringify({ password: secret, n: 1 }), b: `/c?token=${secret}&n=1` }),
      '{"a":"{\\"password\\":[masked],\\"n\\":1}","b":"/c?token=[masked]&n=1"}',
    ],
    [
      'a form',
      'application/x-www-form-urlencoded',
      `user=ann&pass%77ord=${secret}&code=${secret}&a=b`,
      'user=ann&pass%77ord=[masked]&code=[masked]&a=b',
    ],
    ['a form that does not say so', '', `user=ann&password=${secret}`, 'user=ann&password=[masked]'],
    [
      'a form in parts',
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--b--`,
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n[masked]\r\n--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--b--',
    ],
    [
      'XML',
      'application/xml',
      `<a><password>${secret}</password><b>c</b></a>`,
      '<a><password>[masked]</password><b>c</b></a>',
    ],
    [
      'plain text',
      'text/plain',
      `login: ann\npassword: ${secret}\nAuthorization: Bearer ${secret}`,
      'login: ann\npassword: [masked]\nAuthorization: [masked] [masked]',
    ],
    [
      'a private key',
      'text/plain',
      `a\n-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----\nb`,
      'a\n[masked]\nb',
    ],
    ['a private key that was cut off', 'text/plain', `a\n-----BEGIN PRIVATE KEY-----\n${secret}`, 'a\n[masked]'],
  ];
  for (const [what, type, body, masked] of bodies)
    test(what, () => {
      const shown = maskBodyText(body, type);
      assert.equal(shown, masked);
      assert.ok(!shown.includes(secret), shown);
    });
});

test('values of headers are masked by the names before them', () => {
  assert.deepEqual(maskHeaders(['A', 'token', 'X-Token', 'a']), ['A', 'token', 'X-Token', '[masked]']);
});

test('a target keeps its path and the parameters that are no secrets', () => {
  assert.equal(maskTarget(`/a/b?x=1&api_key=${secret}&y`), '/a/b?x=1&api_key=[masked]&y');
  assert.equal(maskTarget(`/reset/${jwt}`), '/reset/[masked]');
  assert.equal(maskTarget('/labels/KF-8841-203.pdf'), '/labels/KF-8841-203.pdf');
});

test('an address within an address hides nothing, however often it is encoded', () => {
  const nested = (inner: string, times: number): string => {
    let text = inner;
    for (let time = 0; time < times; time++) text = encodeURIComponent(text);
    return text;
  };
  for (const inner of [`/cb?code=${secret}&page=2`, `/cb?page=2#token=${secret}`, `{"password":"${secret}"}`])
    for (let times = 1; times < 9; times++) {
      const value = nested(inner, times);
      assert.equal(maskTarget(`/login?next=${value}&n=1`), '/login?next=[masked]&n=1', value);
      assert.equal(maskBodyText(`{"next":"/login?next=${value}","n":1}`, ''), '{"next":"[masked]","n":1}', value);
      assert.equal(maskHeader('X-Next', `see ${value}`), 'see [masked]');
    }
  assert.equal(maskBodyText(JSON.stringify({ u: `/cb?code=${secret}` }), ''), '{"u":"/cb?code=[masked]"}');
  assert.equal(maskHeader('X-Next', `/cb?n=1&state=${secret}`), '/cb?n=1&state=[masked]');
  assert.equal(maskTarget(`/a?%70ass%2577ord=${secret}&n=1`), '/a?%70ass%2577ord=[masked]&n=1');
  assert.equal(maskTarget(`/a?${nested('code ', 9)}=${secret}`), `/a?${nested('code ', 9)}=[masked]`);
  assert.equal(maskTarget(`/a?next=%ff%2Fcb%3Fcode%3D${secret}`), '/a?next=[masked]', 'no UTF-8');
  assert.equal(maskTarget('/a?next=code%3Dx1'), '/a?next=[masked]', 'its name begins the text');
  assert.equal(maskTarget('/a?next=page%3Dx1'), '/a?next=page%3Dx1');
  assert.equal(maskTarget('/a?next=%252Fb%253Fpage%253D2'), '/a?next=%252Fb%253Fpage%253D2');
  assert.equal(maskTarget('/a%20b?x=100%&y=a+b'), '/a%20b?x=100%&y=a+b');
  assert.equal(maskBodyText('save 20% now, code: none, key=1', ''), 'save 20% now, code: none, key=1');
});

test('everyday names are no secrets', () => {
  for (const name of ['author', 'monkey', 'content-type', 'passenger', 'key', 'code', 'shipment', 'assign', 'spin'])
    assert.equal(isSecretName(name), false, name);
  for (const name of [
    'authToken',
    'user_pin',
    'X-Auth',
    'card_number',
    'clientSecret',
    'PASSWORD',
    'sid',
    `${'x'.repeat(1000)}password`,
  ])
    assert.equal(isSecretName(name), true, name);
});

test('compressed text is read, cut or whole; what is no text is not', () => {
  const packed = gzipSync(JSON.stringify({ a: 'b'.repeat(500), c: Math.PI }));
  const read = (bytes: Buffer, encoding: string, isCut: boolean, most = 65_536) =>
    bodyText(bytes, encoding, isCut, most);
  assert.equal(read(packed, 'gzip', false)?.text.startsWith('{"a":"b'), true);
  assert.equal(read(packed.subarray(0, packed.length - 12), 'gzip', true)?.text.startsWith('{"a":"b'), true);
  assert.equal(read(gzipSync(Buffer.alloc(10_000_000, 'a')), 'gzip', false), undefined, 'too long');
  assert.equal(read(packed, 'zstd', false), undefined);
  assert.equal(read(packed, '', false), undefined);
  assert.equal(read(Buffer.from('p\0a\0s\0s\0'), '', false), undefined);
  const cut = Buffer.from('€').subarray(0, 2);
  assert.deepEqual([read(cut, '', true), read(cut, '', false)], [{ text: '', isWhole: false }, undefined]);
  assert.deepEqual(read(gzipSync('a€'), 'gzip', false, 3), { text: 'a', isWhole: false }, 'of a long one the start');
  assert.deepEqual(read(gzipSync('a€'), 'gzip', false, 4), { text: 'a€', isWhole: true });
});

test('names keep nothing of the texts that they are parts of', () => {
  const text = 'x'.repeat(100_000);
  const before = heapBytes();
  for (let at = 0; at < 300; at++) maskBodyText(`{"a name of its own ${at}":"${text}"}`, 'application/json');
  const kept = heapBytes() - before;
  assert.ok(kept < 10_000_000, `${kept} bytes`);
});

test('texts that would cost much cost time in proportion to their size', () => {
  // 64 KiB of each: were one of them quadratic, the test would not end.
  const parts = [
    'eyJ',
    '"',
    '{',
    '[{"a":',
    '\\',
    'a=',
    '-----BEGIN PRIVATE KEY-----',
    'bearer ',
    '<a ',
    'password',
    ' ',
    '.',
    'A1a',
  ];
  for (const part of parts) {
    const text = part.repeat(Math.floor(65_536 / part.length));
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=-',
      'text/plain',
    ])
      maskBodyText(text, type);
    maskHeader('Cookie', text);
    maskHeader('Authorization', text);
    maskTarget(text);
    assert.equal(typeof isSecretName(text), 'boolean');
  }
});

test('long messages are masked in many steps', () => {
  const count = (steps: Generator<void, unknown>): number => {
    let made = 0;
    while (steps.next().done !== true) made++;
    return made;
  };
  const size = 65_536;
  const repeat = (part: string): string => part.repeat(size / part.length);
  const bodies = [
    ['a=b,', 'text/plain'],
    ['a%20', 'text/plain'],
    ['x=%20,a%', 'text/plain'],
    ['"a":', 'application/json'],
    ['a=1&', 'application/x-www-form-urlencoded'],
    ['a=%3D%3D', 'application/x-www-form-urlencoded'],
    ['--b\r\na=1', 'multipart/form-data; boundary=b'],
  ] as const;
  for (const [part, type] of bodies) {
    const steps = count(maskBodySteps(repeat(part), type));
    // A word without end is one step for each level of its encoding.
    assert.ok(part === 'a%20' ? steps > 1 : steps >= size / part.length / 32 / 4, `${part} ${type}: ${steps}`);
  }
  assert.ok(count(maskHeadersSteps(Array.from({ length: 1000 }, () => 'a'))) >= 30);
  assert.ok(count(maskTargetSteps(`/?${repeat('a=1&')}`)) >= 500);
});
