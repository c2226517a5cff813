import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import { connect } from 'node:tls';

import * as fc from 'fast-check';

import { rounds } from '../../test/support/long-form.ts';
import { readClientHello } from './client-hello.ts';

/** The first message of a real client. */
async function realHello(servername: string | undefined): Promise<Buffer> {
  const [client, server] = duplexPair();
  const socket = connect({ socket: client, ...(servername !== undefined && { servername }), ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  // The event `data` of a stream without an encoding has this argument.
  const [bytes] = (await once(server, 'data')) as [Buffer];
  socket.destroy();
  return bytes;
}

/** The same message in records of `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

test('the server name of a real client is read, in lower case, and its protocols', async () => {
  assert.deepEqual(readClientHello(await realHello('Shop.Example.com')), {
    state: 'done',
    serverName: 'shop.example.com',
    protocols: ['h2'],
  });
  const nameless = { state: 'done', serverName: undefined, protocols: ['h2'] };
  assert.deepEqual(readClientHello(await realHello(undefined)), nameless);
});

test('a message in pieces or in several records is read like one that comes at once', async () => {
  const hello = await realHello('a.test');
  for (const size of [50, 100, 16_000]) {
    const bytes = inRecords(hello, size);
    for (let end = 0; end < bytes.length; end++)
      assert.equal(readClientHello(bytes.subarray(0, end)).state, 'more', `${size} ${end}`);
    assert.deepEqual(readClientHello(Buffer.concat([bytes, Buffer.from('more')])), {
      state: 'done',
      serverName: 'a.test',
      protocols: ['h2'],
    });
  }
});

test('bytes that are not TLS are known by the first of them', () => {
  for (const text of [
    'GET / HTTP/1.1\r\n',
    'PROXY',
    '\x16\x04',
    '\x16\x03\x01\x00\x00',
    '\x16\x03\x01\x00\x04\x02\x00\x00\x00',
  ])
    assert.deepEqual(readClientHello(Buffer.from(text, 'latin1')), { state: 'done', serverName: undefined }, text);
});

test('a message in more records than any client makes of it is not read', async () => {
  assert.deepEqual(readClientHello(inRecords(await realHello('a.test'), 1)), { state: 'done', serverName: undefined });
});

test('a message that announces more than any client sends is not waited for', () => {
  assert.equal(readClientHello(Buffer.from([22, 3, 1, 64, 0, 1, 0, 64, 0])).state, 'done');
  assert.equal(readClientHello(Buffer.from([22, 3, 1, 64, 0, 1, 0, 63, 0])).state, 'more');
});

test('two server names are none', async () => {
  const hello = await realHello('a.test');
  const name = Buffer.from('\0\0\0\x0b\0\x09\0\0\x06a.test', 'latin1');
  assert.ok(hello.includes(name), 'the extension is there in this form');
  const at = hello.indexOf(name);
  const doubled = Buffer.concat([hello.subarray(0, at), name, hello.subarray(at)]);
  for (const [place, bytes] of [
    [3, 2],
    [6, 3],
  ] as const)
    doubled.writeUIntBE(doubled.readUIntBE(place, bytes) + name.length, place, bytes);
  const extensions = 5 + 4 + 34 + 1 + (doubled[43] ?? 0);
  const after = extensions + 2 + doubled.readUInt16BE(extensions);
  const start = after + 1 + (doubled[after] ?? 0);
  doubled.writeUInt16BE(doubled.readUInt16BE(start) + name.length, start);
  assert.deepEqual(readClientHello(doubled), { state: 'done', serverName: undefined });
});

test('no bytes make it throw, or wait for more than it would take', async () => {
  const hello = await realHello('a.test');
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), fc.nat(hello.length), (at, value, end) => {
      const spoilt = Buffer.from(hello);
      spoilt[at] = value;
      readClientHello(spoilt.subarray(0, end));
      return readClientHello(Buffer.concat([spoilt, Buffer.alloc(70_000, spoilt)])).state === 'done';
    }),
    { numRuns: rounds(600, 20_000) },
  );
});
