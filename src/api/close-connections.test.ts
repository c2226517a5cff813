import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { fastify } from 'fastify';

import { closeConnectionsInTime } from './close-connections.ts';

/** No grace of these tests is near it, however slow the machine is. */
const limitMs = 30_000;

/** A server, and connections to it on which so much was sent. */
async function serve(context: TestContext, graceMs: number, sent: readonly string[]) {
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
  context.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  const closesInTime = async () => {
    const late = new AbortController();
    const isLate = sleep(limitMs, 'late', { signal: late.signal }).catch(() => 'in time');
    const first = await Promise.race([app.close().then(() => 'closed'), isLate]);
    late.abort();
    return first === 'closed';
  };
  return { app, gate, arrived, sockets, closesInTime };
}

describe('closing the server', () => {
  test('does not wait for connections that never sent a whole request', async (context) => {
    const { closesInTime } = await serve(context, 10 * limitMs, ['', 'GET / HTTP/1.1\r\nHost:']);
    assert.ok(await closesInTime());
  });

  test('waits for a call under way', async (context) => {
    const slow = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n';
    const { app, gate, arrived, sockets } = await serve(context, 10 * limitMs, [slow]);
    await arrived.promise;
    const closed = app.close();
    gate.resolve('finished');
    const [answer] = await once(sockets[0] ?? assert.fail(), 'data');
    assert.match(String(answer), /^HTTP\/1\.1 200 [^]*finished$/);
    await closed;
  });

  test('waits for it no longer than the grace', async (context) => {
    const body = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: text/plain\r\n\r\nhalf';
    const { arrived, closesInTime } = await serve(context, 50, ['GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', body]);
    await arrived.promise;
    assert.ok(await closesInTime());
  });
});
