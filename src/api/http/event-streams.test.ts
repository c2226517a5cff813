import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';

import { fastify } from 'fastify';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { EventStreams } from './event-streams.ts';

/** A server with one stream of large events; `isDisposed` tells whether the stream still takes them. */
async function serveStream() {
  const app = fastify();
  const streams = new EventStreams();
  streams.attach(app);
  const state = { isDisposed: false, taken: 0 };
  const source = {
    take: async () => {
      state.taken += 1;
      return [{ event: 'large', data: { text: 'x'.repeat(400_000) } }];
    },
    [Symbol.dispose]: () => {
      state.isDisposed = true;
    },
  };
  app.get('/', (request, reply) => streams.serve(request, reply, source, async () => {}));
  await app.listen({ host: '127.0.0.1', port: 0 });
  // The server listens on a port.
  const { port } = app.server.address() as { readonly port: number };
  return { app, state, port };
}

test('a client that does not read is dropped, and nothing is made for it any more', async (context) => {
  const { app, state, port } = await serveStream();
  context.after(() => app.close());
  const socket = connect(port, '127.0.0.1');
  context.after(() => socket.destroy());
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await until(() => state.isDisposed, 'the client is dropped');
  const { taken } = state;
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal(state.taken, taken);
});

test('a client that leaves ends its stream', async (context) => {
  const { app, state, port } = await serveStream();
  context.after(() => app.close());
  const leaving = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: leaving.signal });
  assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  leaving.abort();
  await until(() => state.isDisposed, 'the stream has ended');
});

test('HEAD has the head alone, and leaves the connection to the next request', async (context) => {
  const { app, state, port } = await serveStream();
  context.after(() => app.close());
  const socket = connect(port, '127.0.0.1');
  context.after(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
  socket.write(head + head);
  await until(() => text.split('HTTP/1.1 200').length === 3, 'both are answered');
  assert.equal(state.taken, 0);
});
