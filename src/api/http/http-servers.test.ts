import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { fastify } from 'fastify';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { ready } from '../../lib/awaitable.ts';
import { HttpServers } from './http-servers.ts';

/** No grace of these tests is near it, however slow the machine is. */
const limitMs = 120_000;

/** A server, and connections to it on which so much was sent. */
async function serve(context: TestContext, graceMs: number, sent: readonly string[]) {
  const servers = new HttpServers({
    connections: { accept: () => {}, busy: () => {}, idle: () => {} },
    isOurs: () => ready(false),
    stallSeconds: 10 * limitMs,
    answer: (_fault, socket) => socket.destroy(),
    anonymous: { restAfter: () => 0, sourceOf: () => undefined },
    graceMs,
  });
  const app = fastify({ serverFactory: (handle) => servers.create(handle) });
  const gate = Promise.withResolvers<string>();
  const arrived = Promise.withResolvers<void>();
  app.get('/slow', () => {
    arrived.resolve();
    return gate.promise;
  });
  app.post('/', () => 'done');
  app.get('/echo/:number', ({ url }) => `${url};`);
  app.addHook('preClose', async () => servers.closeInTime());
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

describe('several servers', () => {
  test('answer bytes that are not HTTP, and reset the connections of the gateway', async (context) => {
    const answered: string[] = [];
    const handled: string[] = [];
    const ours = new Set<number | undefined>();
    const servers = new HttpServers({
      connections: { accept: () => {}, busy: () => {}, idle: () => {} },
      isOurs: async ({ remotePort }) => ours.has(remotePort),
      stallSeconds: limitMs,
      answer: ({ message }, socket) => {
        answered.push(message);
        socket.destroy();
      },
      anonymous: { restAfter: () => 0, sourceOf: () => undefined },
    });
    for (const name of ['first', 'second']) {
      const server = servers.create((_request, response) => {
        handled.push(name);
        response.end();
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      context.after(() => server.close());
      // A listening TCP server has an address of this form.
      const { port } = server.address() as AddressInfo;
      const send = async (text: string, isOurs = false) => {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        if (isOurs) ours.add(socket.localPort);
        const closed = once(socket, 'close').catch((error: unknown) => error);
        socket.resume().write(text);
        return closed;
      };
      await send('GARBAGE\r\n\r\n');
      await send('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
      await send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      const end = await send('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', true);
      assert.ok(end instanceof Error && 'code' in end && end.code === 'ECONNRESET');
    }
    assert.deepEqual(handled, ['first', 'second']);
    assert.equal(answered.length, 4);
    assert.equal(answered.filter((message) => message === 'CONNECT').length, 2);
  });
});

test('requests that wait to be parsed stay as they were sent, whatever others send meanwhile', async (context) => {
  const count = 300;
  const paths = Array.from({ length: count }, (_, at) => `/echo/${at}`);
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const { app, gate, arrived, sockets } = await serve(context, limitMs, [['/slow', ...paths].map(get).join(''), '']);
  context.after(() => app.close());
  const [first = assert.fail(), other = assert.fail()] = sockets;
  await arrived.promise;
  const body = 'x'.repeat(60_000);
  other.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 60000\r\n\r\n${body}`);
  const [answer] = await once(other, 'data');
  assert.match(String(answer), /^HTTP\/1\.1 200 [^]*done$/);
  let text = '';
  first.on('data', (bytes) => (text += String(bytes)));
  gate.resolve('');
  await until(() => text.includes(`${paths.at(-1)};`) || first.readableEnded, 'all are answered');
  assert.deepEqual(
    [...text.matchAll(/(\/echo\/\d+);/g)].map(([, path]) => path),
    paths,
  );
});
