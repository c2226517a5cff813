import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { createFetch } from './guarded-fetch.ts';

/** Outcome of a request to a server that sends this and closes the connection. */
async function ask(text: string, more: { readonly maxBytes?: number } = {}): Promise<number | string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const fetch = createFetch(({ host, port: wanted }, _options, established) => connect(wanted, host, established));
  const answered = fetch(`http://127.0.0.1:${port}/`, { method: 'GET', headers: {}, ...more });
  const outcome = await answered.then(
    ({ status }) => status,
    () => 'failed',
  );
  server.close();
  return outcome;
}

test('a server that answers with another protocol, or with no answer, is no answer, and nobody waits for one', async () => {
  const answers = [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nab',
    'HTTP/1.1 600 Unknown\r\nContent-Length: 0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab',
    '',
  ];
  for (const answer of answers) assert.equal(await ask(answer), 'failed', JSON.stringify(answer));
  assert.equal(await ask('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'), 200);
});

test('an answer of 64 kB is read, and a longer one, or one in thousands of parts, is none', async () => {
  const ofLength = (length: number) => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${'x'.repeat(length)}`;
  assert.equal(await ask(ofLength(65_536)), 200);
  assert.equal(await ask(ofLength(65_537)), 'failed');
  assert.equal(await ask(ofLength(65_537), { maxBytes: 100_000 }), 200, 'where it may be longer');
  const inParts = (count: number) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`;
  assert.equal(await ask(inParts(1_500)), 200);
  assert.equal(await ask(inParts(2_500)), 'failed');
});

test('a request that was given up before it began opens no connection', async () => {
  let connections = 0;
  const fetch = createFetch(({ host, port }, _options, established) => {
    connections += 1;
    return connect(port, host, established);
  });
  const gone = fetch('http://127.0.0.1:9/', {
    method: 'GET',
    headers: {},
    signal: AbortSignal.abort(new Error('given up')),
  });
  await assert.rejects(gone, /given up/);
  assert.equal(connections, 0);
});

test('a server that answers without reading what it was sent is let go', async (t) => {
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 204 No Content\r\n\r\n');
    t.after(() => socket.destroy());
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closed = Promise.withResolvers<undefined>();
  const fetch = createFetch(({ host }, _options, established) =>
    connect(port, host, established).once('close', () => closed.resolve(undefined)),
  );
  // More than lies in the buffers of both sides.
  const body = 'x'.repeat(20_000_000);
  assert.equal((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: {}, body })).status, 204);
  await closed.promise;
});
