import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';

import { startAgents, tunnelBackend } from './support/agents.ts';
import { connectClient } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { clients } from './support/https-versions.ts';
import { until } from './support/tcp-engine.ts';

const events = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]);

/** Rejects instead of waiting for ever. */
function soon<T>(answer: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => {
      reject(new Error('the head is held back'));
    }, 120_000).unref();
  });
  return Promise.race([answer, late]);
}

for (const [version, ask] of Object.entries(clients)) {
  for (const way of ['straight', 'through an agent']) {
    test(`${version}, ${way}: a head goes out before its body comes`, async (t) => {
      let upstreamSocket: Socket | undefined;
      await using upstream = await startRawUpstream((socket) => {
        upstreamSocket = socket;
        socket.write(events);
      });
      const agents = await startAgents(t);
      const backend =
        way === 'straight' ? backendEntry('b', upstream.port) : tunnelBackend('b', [await agents.start(upstream.port)]);
      await using gateway = await startGateway([backend, edge], { dialer: agents.dialer });
      const answer = await soon(ask(gateway.port));
      assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'text/event-stream']);
      let body = '';
      answer.body.on('data', (chunk: Buffer) => (body += chunk.toString('latin1'))).resume();
      upstreamSocket?.write('9\r\ndata: 1\n\n\r\n');
      await until(() => body.includes('data: 1\n\n'), 'the first event');
      upstreamSocket?.end('0\r\n\r\n');
      await soon(once(answer.body, 'end'));
    });
  }
}

test('a short answer still goes out in one piece with its head', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello');
  });
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge]);
  const client = await connectClient(gateway.port);
  client.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  // The event `data` of a stream without an encoding has this argument.
  const [first] = (await once(client, 'data')) as [Buffer];
  assert.match(first.toString('latin1'), /^HTTP\/1\.1 200 [^]*\r\n\r\nhello$/);
  client.destroy();
});
