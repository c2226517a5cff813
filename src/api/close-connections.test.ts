import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';

import { fastify } from 'fastify';

import { closeConnectionsInTime } from './close-connections.ts';

/** A server, and connections to it on which so much was sent. */
async function serve(graceMs: number, sent: readonly string[]) {
  const app = fastify();
  const gate = Promise.withResolvers<string>();
  const arrived = Promise.withResolvers<void>();
  app.get('/slow', () => {
    arrived.resolve();
    return gate.promise;
  });
  app.post('/', () => 'done');
  closeConnectionsInTime(app, graceMs);
  await app.listen({ host: '127.0.0.1', port: 0 });
  // A listening TCP server has an address of this form.
  const { port } = app.server.address() as AddressInfo;
  const sockets = await Promise.all(
    sent.map(async (text) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }),
  );
  return { app, gate, arrived, sockets };
}

describe('closing the server', () => {
  test('does not wait for connections that never sent a whole request', async () => {
    const { app } = await serve(60_000, ['', 'GET / HTTP/1.1\r\nHost:']);
    await app.close();
  });

  test('waits for a call under way', async () => {
    const { app, gate, arrived, sockets } = await serve(60_000, ['GET /slow HTTP/1.1\r\nHost: x\r\n\r\n']);
    await arrived.promise;
    const closed = app.close();
    gate.resolve('finished');
    const [answer] = await once(sockets[0] ?? assert.fail(), 'data');
    assert.match(String(answer), /^HTTP\/1\.1 200 [^]*finished$/);
    await closed;
  });

  test('waits for it no longer than the grace', async () => {
    const body = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: text/plain\r\n\r\nhalf';
    const { app, arrived } = await serve(50, ['GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', body]);
    await arrived.promise;
    await app.close();
  });
});
