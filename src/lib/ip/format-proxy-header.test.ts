import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatIp, parseIp } from './address.ts';
import { formatProxyHeader } from './format-proxy-header.ts';
import type { IpEndpoint } from './format-proxy-header.ts';
import { ProxyHeaderReader } from './proxy-protocol.ts';

function end(text: string, port: number): IpEndpoint {
  return { ip: parseIp(text) ?? assert.fail(text), port };
}

test('a line of version 1 names both ends', () => {
  const line = formatProxyHeader(1, end('192.0.2.1', 56324), end('198.51.100.2', 443));
  assert.equal(line.toString(), 'PROXY TCP4 192.0.2.1 198.51.100.2 56324 443\r\n');
});

test('a header of version 2 has the bytes of the specification', () => {
  const header = formatProxyHeader(2, end('192.0.2.1', 56324), end('198.51.100.2', 443));
  assert.equal(header.toString('hex'), '0d0a0d0a000d0a515549540a2111000cc0000201c6336402dc0401bb');
});

test('each version is read as it was written, for ends of one family and of two', () => {
  const ends = ['192.0.2.1', '2001:db8::1', '255.255.255.255', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'];
  for (const version of [1, 2] as const) {
    for (const source of ends) {
      for (const destination of ends) {
        const header = formatProxyHeader(version, end(source, 65535), end(destination, 0));
        const read = new ProxyHeaderReader().push(Buffer.concat([header, Buffer.from('rest')]));
        assert.ok(read.state === 'done' && read.source !== undefined, `${version} ${source} ${destination}`);
        assert.equal(formatIp(read.source), source);
        assert.equal(read.rest.toString(), 'rest');
      }
    }
  }
});
