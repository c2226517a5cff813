import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute } from './support/https-entries.ts';
import { startGateway as startHttpsGateway } from './support/https-gateway.ts';
import { startUpstream as startHttpUpstream } from './support/https-upstream.ts';
import { startGateway } from './support/tcp-engine.ts';
import { backend, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

test('a client of a TCP edge is not sent first to a member that could not be reached in the last five seconds', async (t) => {
  let nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  const { engine } = await startGateway(t);
  const other = await startUpstream(t);
  const [port, deadPort] = [await freePort(), await freePort()];
  await engine.apply(
    snapshot(
      backend('bkdsc_dead', deadPort),
      backend('bkdsc_other', other.port),
      {
        kind: 'backend_group',
        id: 'bkdfo_1',
        choice: 'failover',
        members: ['bkdsc_dead', 'bkdsc_other'].map((id) => ({ id, weight: 1 })),
      },
      tcpEdge('edgtcp_1', [port], toBackend('bkdfo_1')),
    ),
  );
  await dialAndEcho(t, port);
  const back = createServer((socket) => socket.end('back')).listen(deadPort, '127.0.0.1');
  t.after(() => back.close());
  await once(back, 'listening');
  nowMs += 4_999;
  for (let round = 0; round < 3; round++) await dialAndEcho(t, port);
  assert.equal(other.peers.length, 4);
  nowMs += 1;
  await dial(t, port).receives('back');
  await dial(t, port).receives('back');
  assert.equal(other.peers.length, 4);
});

test('nor is a request, until one of them has reached it again', async (t) => {
  let nowMs = performance.now();
  t.mock.method(performance, 'now', () => nowMs);
  await using other = await startHttpUpstream((_, response) => void response.end('other'));
  const deadPort = await freePort();
  await using gateway = await startHttpsGateway([
    backendEntry('dead', deadPort),
    backendEntry('other', other.port),
    {
      kind: 'backend_group',
      id: 'bkdfo_1',
      choice: 'failover',
      members: ['dead', 'other'].map((id) => ({ id, weight: 1 })),
    },
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('bkdfo_1'))]),
  ]);
  const ask = async () => (await sendRaw(gateway.port, get('/'))).body;
  assert.equal(await ask(), 'other');
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nback';
  const back = createServer((socket) => socket.end(answer)).listen(deadPort, '127.0.0.1');
  t.after(() => back.close());
  await once(back, 'listening');
  nowMs += 4_999;
  for (let round = 0; round < 3; round++) assert.equal(await ask(), 'other');
  nowMs += 1;
  for (let round = 0; round < 3; round++) assert.equal(await ask(), 'back');
});
