import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { dial, silent, startUpstream } from '../gateway/support/tcp-peers.ts';
import { scratchFolder } from '../support/scratch.ts';
import { until } from './gateway/support/until.ts';
import { AgentServer } from './support/own-agent.ts';

/** Our own agent, `gatehouse tcp`, in a process of its own, against the program in another. */

const folder = scratchFolder();
let server: AgentServer;
before(async () => {
  server = await AgentServer.start(folder);
});
after(() => server[Symbol.asyncDispose]());

/** Starts an agent for a port; returns the public port. */
async function publish(port: number, ...options: readonly string[]) {
  const { agent, address } = await server.online(['tcp', port, ...options]);
  return { agent, port: Number(new URL(address).port) };
}

test('5 MB each way arrive as they were sent, and the connection is described when it ends', async (t) => {
  const upstream = await startUpstream(t);
  const { agent, port } = await publish(upstream.port);
  const { socket } = dial(t, port);
  const sent = randomBytes(5 * 1024 * 1024);
  const hash = createHash('sha256');
  socket.on('data', (chunk) => hash.update(chunk));
  socket.end(sent);
  await once(socket, 'end');
  assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'));
  await agent.printed(/connection of 127\.0\.0\.1:\d+: 5\.2 MB in, 5\.2 MB out, /);
});

test('each direction ends by itself', async (t) => {
  const upstream = await startUpstream(t, silent);
  const { port } = await publish(upstream.port);
  const client = dial(t, port);
  client.socket.end('question');
  await until(() => upstream.peers[0]?.ended === true, 'the end of the visitor arrives');
  assert.equal(upstream.peers[0]?.text, 'question');
  upstream.peers[0]?.socket.end('answer');
  await client.receives('answer');
  await client.seesEnd();

  const other = dial(t, port);
  other.socket.write('a');
  await until(() => upstream.peers[1]?.text === 'a', 'the first byte arrives');
  upstream.peers[1]?.socket.end('early');
  await other.seesEnd();
  other.socket.end('late');
  await until(() => upstream.peers[1]?.ended === true, 'the end of the visitor arrives');
  assert.equal(upstream.peers[1]?.text, 'alate');
});

test('a side that breaks off breaks off the other', async (t) => {
  const upstream = await startUpstream(t, silent);
  const { port } = await publish(upstream.port);
  const [left, broken] = [dial(t, port), dial(t, port)];
  for (const { socket } of [left, broken]) socket.write('x');
  await until(() => upstream.peers.length === 2 && upstream.peers.every(({ text }) => text === 'x'), 'both arrive');
  upstream.peers[0]?.socket.resetAndDestroy();
  await until(() => [left, broken].some((peer) => peer.broken === 'ECONNRESET'), 'the visitor is reset');
  const alive = left.broken === undefined ? left : broken;
  alive.socket.resetAndDestroy();
  await until(() => upstream.peers[1]?.broken === 'ECONNRESET', 'the target is reset');
});

test('while nothing listens at the target, visitors are reset, and the operator gets a line', async (t) => {
  const target = await freePort();
  const { agent, port } = await publish(target);
  const client = dial(t, port);
  client.socket.write('hello');
  await client.isReset();
  await agent.printed(new RegExp(`target tcp://localhost:${target} cannot be reached: nothing listens there`));
});

test('a visitor that does not read stalls nobody else', async (t) => {
  const upstream = await startUpstream(t, (socket) => {
    socket.once('data', (chunk) => {
      if (String(chunk) === 'much') socket.write(Buffer.alloc(64 * 1024 * 1024));
      else socket.write(chunk);
    });
  });
  const { port } = await publish(upstream.port);
  const slow = dial(t, port);
  slow.socket.pause();
  slow.socket.write('much');
  await until(() => upstream.peers[0]?.text === 'much', 'the slow one asks');
  for (let left = 20; left > 0; left--) {
    const client = dial(t, port);
    client.socket.write(`hello ${left}`);
    await client.receives(`hello ${left}`);
    client.socket.destroy();
  }
});

test('a target that does not read stalls only its own visitor', async (t) => {
  const upstream = await startUpstream(t, (socket) => {
    if (upstream.peers.length === 1) socket.pause();
    else socket.on('data', (chunk) => socket.write(chunk));
  });
  const { port } = await publish(upstream.port);
  const slow = dial(t, port);
  slow.socket.write(Buffer.alloc(64 * 1024 * 1024));
  await until(() => upstream.peers.length === 1, 'the slow one arrives');
  for (let left = 20; left > 0; left--) {
    const client = dial(t, port);
    client.socket.write('hello');
    await client.receives('hello');
    client.socket.destroy();
  }
});

test('a reserved address is had by its name', async (t) => {
  const upstream = await startUpstream(t);
  const { addr } = await server.program.must('POST', '/reserved_addrs', {});
  const { address } = await server.online(['tcp', `127.0.0.1:${upstream.port}`, '--remote-addr', addr]);
  assert.equal(address, `tcp://${addr}`);
});
