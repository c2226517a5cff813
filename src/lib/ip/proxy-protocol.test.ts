import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatIp } from './address.ts';
import { ProxyHeaderReader } from './proxy-protocol.ts';
import type { ProxyHeader } from './proxy-protocol.ts';

const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
const ipv4Block = [192, 0, 2, 1, 198, 51, 100, 2, 0xdc, 0x04, 0x01, 0xbb];
const ipv6Block = [...Buffer.from('20010db800000000000000000000000120010db8000000000000000000000002dc0401bb', 'hex')];

function v2(versionAndCommand: number, family: number, block: readonly number[], length = block.length): Buffer {
  return Buffer.from([...signature, versionAndCommand, family, length >> 8, length & 255, ...block]);
}

function read(bytes: Buffer | string): ProxyHeader {
  return new ProxyHeaderReader().push(Buffer.from(bytes));
}

/** `source rest`, to compare by. */
function summary(result: ProxyHeader): string {
  if (result.state !== 'done') return result.state === 'bad' ? `bad: ${result.reason}` : 'more';
  const source = result.source === undefined ? 'none' : formatIp(result.source);
  return `${source} ${result.rest.toString('latin1')}`;
}

const goodHeaders: readonly (readonly [name: string, header: Buffer, source: string])[] = [
  ['v1 IPv4', Buffer.from('PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n'), '192.0.2.1'],
  ['v1 IPv6', Buffer.from('PROXY TCP6 2001:db8::1 2001:DB8::2 56324 443\r\n'), '2001:db8::1'],
  ['v1 mapped', Buffer.from('PROXY TCP6 ::ffff:192.0.2.1 ::ffff:198.51.100.2 0 65535\r\n'), '192.0.2.1'],
  [
    'v1 longest',
    Buffer.from(`PROXY TCP6 ${'ffff:'.repeat(7)}ffff ${'ffff:'.repeat(7)}ffff 65535 65535\r\n`),
    `${'ffff:'.repeat(7)}ffff`,
  ],
  ['v1 unknown', Buffer.from('PROXY UNKNOWN\r\n'), 'none'],
  ['v1 unknown with more', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(91)}\r\n`), 'none'],
  ['v2 IPv4', v2(0x21, 0x11, ipv4Block), '192.0.2.1'],
  ['v2 IPv6', v2(0x21, 0x21, ipv6Block), '2001:db8::1'],
  [
    'v2 mapped',
    v2(0x21, 0x21, [...Array<number>(10).fill(0), 0xff, 0xff, 192, 0, 2, 1, ...ipv6Block.slice(16)]),
    '192.0.2.1',
  ],
  ['v2 extensions', v2(0x21, 0x11, [...ipv4Block, 0x04, 0, 3, 1, 2, 3]), '192.0.2.1'],
  ['v2 longest', v2(0x21, 0x11, [...ipv4Block, ...Array<number>(4084).fill(7)]), '192.0.2.1'],
  ['v2 local', v2(0x20, 0x00, []), 'none'],
  ['v2 local with addresses', v2(0x20, 0x11, ipv4Block), 'none'],
  ['v2 local of unknown family', v2(0x20, 0xff, [1, 2, 3]), 'none'],
  ['v2 family left open', v2(0x21, 0x00, [1, 2, 3]), 'none'],
];

test('a header gives the source and what follows it', () => {
  for (const [name, header, source] of goodHeaders) {
    assert.equal(summary(read(header)), `${source} `, name);
    assert.equal(summary(read(Buffer.concat([header, Buffer.from('GET /\r\n\r\n')]))), `${source} GET /\r\n\r\n`, name);
  }
});

test('a header that comes byte by byte is read like one that comes at once', () => {
  for (const [name, header, source] of goodHeaders) {
    const reader = new ProxyHeaderReader();
    for (let at = 0; at < header.length - 1; at++)
      assert.equal(reader.push(header.subarray(at, at + 1)).state, 'more', `${name} at ${at}`);
    assert.equal(summary(reader.push(header.subarray(-1))), `${source} `, name);
  }
});

test('however a header and its payload are cut, the outcome is the same', () => {
  const headers = fc.constantFrom(...goodHeaders.filter(([name]) => name !== 'v2 longest'));
  fc.assert(
    fc.property(
      headers,
      fc.uint8Array({ maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 60 })),
      (good, payload, cuts) => {
        const [, header, source] = good;
        const bytes = Buffer.concat([header, payload]);
        const reader = new ProxyHeaderReader();
        let result: ProxyHeader = { state: 'more' };
        let at = 0;
        for (const size of [...cuts, bytes.length]) {
          if (result.state !== 'more') break;
          result = reader.push(bytes.subarray(at, at + size));
          at += size;
        }
        const seen = header.length + (result.state === 'done' ? result.rest.length : -1);
        assert.equal(seen, Math.min(at, bytes.length));
        assert.equal(summary(result), `${source} ${bytes.toString('latin1', header.length, seen)}`);
      },
    ),
  );
});

test('an IPv4 address of any value is read alike from both versions', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.nat(65535), (ip, port) => {
      const block = [...ip.split('.').map(Number), 1, 2, 3, 4, port >> 8, port & 255, 0, 80];
      assert.equal(summary(read(v2(0x21, 0x11, block))), `${ip} `);
      assert.equal(summary(read(`PROXY TCP4 ${ip} 1.2.3.4 ${port} 80\r\n`)), `${ip} `);
    }),
  );
});

test('a malformed line of version 1 is refused', () => {
  for (const line of [
    'PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\n',
    'PROXY UNKNOWN\n',
    'PROXY  TCP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4  192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2 \r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2 3\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1\r\n',
    'PROXY TCP4\t192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 2\r\r\n',
    'PROXY TCP5 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY UDP4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY tcp4 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY UNKNOWNS\r\n',
    'PROXY \r\n',
    'PROXY TCP4 2001:db8::1 2001:db8::2 1 2\r\n',
    'PROXY TCP6 192.0.2.1 198.51.100.2 1 2\r\n',
    'PROXY TCP6 2001:db8::1 198.51.100.2 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 fe80::2 1 2\r\n',
    'PROXY TCP4 192.0.2.01 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.256 198.51.100.2 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100 1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 65536 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 1 65536\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 01 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 +1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2 -1 2\r\n',
    'PROXY TCP4 192.0.2.1 198.51.100.2  2\r\n',
  ])
    assert.equal(read(line).state, 'bad', JSON.stringify(line));
});

test('a line of version 1 is refused as soon as it is too long', () => {
  const line = `PROXY UNKNOWN ${'x'.repeat(92)}`;
  assert.equal(read(line).state, 'more');
  assert.equal(read(`${line}\r`).state, 'bad');
  assert.equal(read(`${line}\r\n`).state, 'bad');
});

test('a malformed header of version 2 is refused', () => {
  for (const [name, header] of Object.entries({
    'version 1': v2(0x11, 0x11, ipv4Block),
    'version 3': v2(0x31, 0x11, ipv4Block),
    'command 2': v2(0x22, 0x11, ipv4Block),
    'command 15': v2(0x2f, 0x11, ipv4Block),
    'datagrams over IPv4': v2(0x21, 0x12, ipv4Block),
    'datagrams over IPv6': v2(0x21, 0x22, ipv6Block),
    'a Unix socket': v2(0x21, 0x31, Array<number>(216).fill(0)),
    'family 4': v2(0x21, 0x41, ipv4Block),
    'IPv4 without a transport': v2(0x21, 0x10, ipv4Block),
    'a short IPv4 block': v2(0x21, 0x11, ipv4Block.slice(1)),
    'a short IPv6 block': v2(0x21, 0x21, ipv6Block.slice(1)),
    'no block': v2(0x21, 0x11, []),
  }))
    assert.equal(read(header).state, 'bad', name);
});

test('a header of version 2 that announces too much is refused before it comes', () => {
  assert.equal(read(v2(0x21, 0x11, [], 4097)).state, 'bad');
  assert.equal(read(v2(0x20, 0x00, [], 65535)).state, 'bad');
  assert.equal(read(v2(0x21, 0x11, [], 4096)).state, 'more');
});

test('a connection that starts otherwise is refused at the first byte that differs', () => {
  for (const text of ['GET / HTTP/1.1\r\n', 'G', '\x16\x03', 'PROXX', 'Pr', '\r\n\r\n\0\r\nQUIT\r', '\r\r', ' PROXY '])
    assert.equal(read(text).state, 'bad', JSON.stringify(text));
  for (const text of ['', 'P', 'PROXY', '\r', '\r\n\r\n\0'])
    assert.equal(read(text).state, 'more', JSON.stringify(text));
});

test('no bytes at all make the reader fail or wait beyond its limits', () => {
  const start = fc.constantFrom('', 'PROXY ', 'PROXY TCP4 ', Buffer.from(signature).toString('latin1'));
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 64 }), (text, noise) => {
      const bytes = Buffer.concat([Buffer.from(text, 'latin1'), noise, Buffer.alloc(5000)]);
      assert.notEqual(new ProxyHeaderReader().push(bytes).state, 'more');
    }),
  );
});
