import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { createFetch } from './guarded-fetch.ts';

/** Outcome of a request to a server that sends this and closes the connection. */
async function ask(text: string): Promise<number | string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(text));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const fetch = createFetch(({ host, port: wanted }, _options, established) => connect(wanted, host, established));
  const answered = fetch(`http://127.0.0.1:${port}/`, { method: 'GET', headers: {} });
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
