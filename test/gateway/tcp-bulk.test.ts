import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../support/free-port.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { backend, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dial, startUpstream } from './support/tcp-peers.ts';
import type { Behaviour } from './support/tcp-peers.ts';

const megabyte = 1024 * 1024;

async function openEdge(t: TestContext, behaviour: Behaviour) {
  const gateway = await startGateway(t);
  const upstream = await startUpstream(t, behaviour);
  const port = await freePort();
  await gateway.engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  return { ...gateway, upstream, port };
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Hashes all received data, with a pause after each `restAfter` bytes. */
async function hashOfReceived(socket: Socket, restAfter = Infinity): Promise<string> {
  const hash = createHash('sha256');
  let left = restAfter;
  socket.on('data', (chunk) => {
    hash.update(chunk);
    left -= chunk.length;
    if (left > 0) return;
    left = restAfter;
    socket.pause();
    setTimeout(() => socket.resume(), 3);
  });
  await once(socket, 'end');
  return hash.digest('hex');
}

/** Echoes the data, with backpressure. */
const echo: Behaviour = (socket) => {
  socket.pipe(socket);
};

test('many connections at once, with readers that rest now and then, all get their own bytes back', async (t) => {
  const edge = await openEdge(t, echo);
  const pairs = await Promise.all(
    Array.from({ length: 12 }, async (_, at) => {
      const sent = randomBytes(3 * megabyte + at);
      const { socket } = dial(t, edge.port);
      socket.end(sent);
      return [hashOf(sent), await hashOfReceived(socket, (at + 1) * 50_000)];
    }),
  );
  for (const [sent, received] of pairs) assert.equal(received, sent);
  await until(() => edge.seen.closed.length === 12, 'all are over');
  const sizes = edge.seen.closed.map(({ bytesIn, bytesOut }) => [bytesIn, bytesOut]);
  assert.deepEqual(
    sizes.toSorted(([a = 0], [b = 0]) => a - b),
    Array.from({ length: 12 }, (_, at) => [3 * megabyte + at, 3 * megabyte + at]),
  );
});

test('messages of any size come back whole from many connections in turn', async (t) => {
  const edge = await openEdge(t, echo);
  const clients = Array.from({ length: 20 }, () => dial(t, edge.port).socket);
  const sent = clients.map(() => createHash('sha256'));
  const received = clients.map((socket) => hashOfReceived(socket));
  for (let round = 0; round < 40; round++) {
    for (const [at, socket] of clients.entries()) {
      const message = randomBytes(1 + ((round * 7919 + at * 104_729) % 90_000));
      sent[at]?.update(message);
      if (!socket.write(message)) await once(socket, 'drain');
    }
  }
  for (const socket of clients) socket.end();
  assert.deepEqual(
    await Promise.all(received),
    sent.map((hash) => hash.digest('hex')),
  );
});

test('data that waits for a client that does not read is unchanged after others had their turn', async (t) => {
  const bytes = randomBytes(20 * megabyte);
  const edge = await openEdge(t, (socket) => {
    socket.once('data', (order) => {
      if (order.toString() === 'all') socket.end(bytes);
      else socket.end(bytes.subarray(megabyte, 4 * megabyte));
    });
  });
  const waiting = dial(t, edge.port).socket;
  waiting.pause();
  waiting.write('all');
  const upstreamHolds = () => edge.upstream.peers[0]?.socket.writableLength ?? 0;
  await until(() => upstreamHolds() > 0, 'the upstream sends');
  for (let held = Infinity; upstreamHolds() !== held; await sleep(50)) held = upstreamHolds();

  for (let others = 0; others < 5; others++) {
    const { socket } = dial(t, edge.port);
    socket.write('a part');
    assert.equal(await hashOfReceived(socket), hashOf(bytes.subarray(megabyte, 4 * megabyte)));
  }
  assert.ok(upstreamHolds() > megabyte, 'the upstream was held back meanwhile');
  const received = hashOfReceived(waiting);
  waiting.resume();
  assert.equal(await received, hashOf(bytes));
});

test('data of a client waits unchanged for an upstream that does not read', async (t) => {
  const bytes = randomBytes(20 * megabyte);
  let received: Promise<string> | undefined;
  const edge = await openEdge(t, (socket) => {
    received = hashOfReceived(socket, 2 * megabyte);
    socket.pause();
  });
  const { socket } = dial(t, edge.port);
  socket.end(bytes);
  await until(() => socket.bytesWritten > 0 && edge.upstream.peers.length === 1, 'it is sent');
  for (let held = Infinity; socket.writableLength !== held; await sleep(50)) held = socket.writableLength;
  assert.ok(socket.writableLength > megabyte, 'the client is held back');
  edge.upstream.peers[0]?.socket.resume();
  await until(() => edge.upstream.peers[0]?.ended === true, 'all is there');
  assert.equal(await received, hashOf(bytes));
});
