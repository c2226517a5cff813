import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { GatewayTimeouts } from '../../src/gateway/engine.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, startGateway, until } from './support/tcp-engine.ts';
import type { Gateway } from './support/tcp-engine.ts';
import { backend, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dial, dialAndEcho, silent, startUpstream } from './support/tcp-peers.ts';
import type { Behaviour } from './support/tcp-peers.ts';

async function openEdge(t: TestContext, behaviour: Behaviour, timeouts: Partial<GatewayTimeouts> = {}) {
  const gateway = await startGateway(t, { timeouts: { ...plainOptions.timeouts, ...timeouts } });
  const upstream = await startUpstream(t, behaviour);
  const port = await freePort();
  await gateway.engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  return { ...gateway, upstream, port };
}

async function endOf({ seen }: Gateway): Promise<string | undefined> {
  await until(() => seen.closed.length > 0, 'the connection is over');
  return seen.closed[0]?.reason;
}

test('the end of what the client sends reaches the upstream, which can still answer', async (t) => {
  const edge = await openEdge(t, (socket) => {
    socket.on('end', () => {
      setTimeout(() => socket.end('answered after the end'), 20);
    });
  });
  const client = dial(t, edge.port);
  client.socket.end('question');
  await client.seesEnd();
  assert.equal(client.text, 'answered after the end');
  assert.equal(edge.upstream.peers[0]?.text, 'question');
  assert.equal(await endOf(edge), 'client');
});

test('the end of what the upstream sends reaches the client, which can still go on', async (t) => {
  const edge = await openEdge(t, (socket) => socket.end('bye'));
  const client = dial(t, edge.port);
  await client.seesEnd();
  client.socket.write('first, ');
  await new Promise((resolve) => setTimeout(resolve, 20));
  client.socket.end('last');
  await until(() => edge.upstream.peers[0]?.ended === true, 'the upstream sees the end');
  assert.equal(edge.upstream.peers[0]?.text, 'first, last');
  assert.equal(await endOf(edge), 'upstream');
});

const bulkBytes = 20 * 1024 * 1024;

async function hashOf(socket: Socket): Promise<string> {
  const hash = createHash('sha256');
  socket.on('data', (chunk) => hash.update(chunk));
  await once(socket, 'end');
  return hash.digest('hex');
}

test('20 MB arrive whole each way at once, at a reader that stops now and then, without piling up in between', async (t) => {
  const bulk = randomBytes(bulkBytes);
  const expected = createHash('sha256').update(bulk).digest('hex');
  let atUpstream: Promise<string> | undefined;
  const edge = await openEdge(t, (socket) => {
    atUpstream = hashOf(socket);
    socket.end(bulk);
  });
  const client = dial(t, edge.port);
  const atClient = hashOf(client.socket);
  client.socket.end(bulk);

  let pauses = 0;
  let upstreamSentWhilePaused = Infinity;
  client.socket.on('data', () => {
    if (pauses >= 3) return;
    client.socket.pause();
    pauses++;
    setTimeout(() => {
      upstreamSentWhilePaused = edge.upstream.peers[0]?.socket.writableLength ?? 0;
      client.socket.resume();
    }, 100);
  });
  assert.equal(await atClient, expected);
  assert.equal(await atUpstream, expected);
  assert.equal(pauses, 3);
  assert.ok(upstreamSentWhilePaused > 0, 'the upstream was held back while the client did not read');
});

test('a connection on which nothing moves is reset, one on which something does is not', async (t) => {
  const edge = await openEdge(t, silent, { idleMs: 400 });
  const idle = dial(t, edge.port);
  const busy = dial(t, edge.port);
  const beat = setInterval(() => busy.socket.write('.'), 50);
  t.after(() => {
    clearInterval(beat);
  });
  await idle.isReset();
  assert.equal(await endOf(edge), 'idle');
  await until(() => busy.socket.bytesWritten > 20, 'the other lives on for more than twice the limit');
  assert.equal(busy.broken, undefined);
});

test('a connection is reset whose client is silent and whose upstream reads nothing of what waits for it', async (t) => {
  const edge = await openEdge(t, (socket) => void socket.once('data', () => socket.pause()), { idleMs: 300 });
  const client = dial(t, edge.port);
  client.socket.write(Buffer.alloc(bulkBytes));
  await client.isReset();
  assert.equal(await endOf(edge), 'idle');
});

test('an upstream whose TLS handshake does not come to an end in time resets the client', async (t) => {
  const gateway = await startGateway(t, { timeouts: { ...plainOptions.timeouts, upstreamConnectMs: 150 } });
  const upstream = await startUpstream(t, silent);
  const port = await freePort();
  await gateway.engine.apply(snapshot(backend('bkdsc_1', upstream.port, { tls: true }), tcpEdge('edgtcp_1', [port])));
  await dial(t, port).isReset();
  assert.equal(await endOf(gateway), 'connect timeout');
});

test('an upstream that refuses the connection resets the client', async (t) => {
  const gateway = await startGateway(t);
  const port = await freePort();
  await gateway.engine.apply(snapshot(backend('bkdsc_1', await freePort()), tcpEdge('edgtcp_1', [port])));
  await dial(t, port).isReset();
  assert.equal(await endOf(gateway), 'connect failed');
  assert.match(gateway.seen.closed[0]?.cause ?? '', /ECONNREFUSED 127\.0\.0\.1:\d+/);
});

test('a reset by the upstream reaches the client as a reset', async (t) => {
  const edge = await openEdge(t, (socket) => {
    socket.on('data', () => socket.resetAndDestroy());
  });
  const client = dial(t, edge.port);
  client.socket.write('go');
  await client.isReset();
  assert.equal(await endOf(edge), 'upstream');
});

test('a reset by the client reaches the upstream as a reset', async (t) => {
  const edge = await openEdge(t, (socket) => void socket.write('ready'));
  const client = dial(t, edge.port);
  await client.receives('ready');
  client.socket.resetAndDestroy();
  await edge.upstream.peers[0]?.isReset();
  assert.equal(await endOf(edge), 'client');
});

test('a drain lets open connections end, takes no new ones, and resets what is left at its limit', async (t) => {
  const edge = await openEdge(t, (socket) => {
    socket.on('data', (chunk) => socket.write(chunk)).on('end', () => socket.end());
  });
  const [ending, staying] = [await dialAndEcho(t, edge.port), await dialAndEcho(t, edge.port)];
  const drained = edge.engine.drain(300);
  ending.socket.end();
  await ending.seesEnd();
  const late = dial(t, edge.port);
  await until(() => late.broken === 'ECONNREFUSED', 'a new connection is refused');
  assert.equal(staying.broken, undefined);
  await drained;
  await staying.isReset();
  assert.deepEqual(edge.seen.closed.map(({ reason }) => reason).toSorted(), ['client', 'drained']);
});
