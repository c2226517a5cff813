import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { StreamDuplex } from '../agents/mux/stream-duplex.ts';
import { windowBytes } from '../agents/wire/frame.ts';
import { streamTypes, typedStart } from '../agents/wire/stream-types.ts';
import { LinkServer } from './link-server.ts';
import { requestStart, StreamRefused } from './stream-request.ts';
import type { RefusalReason } from './stream-request.ts';
import { until } from '../../test/e2e/gateway/support/until.ts';
import { moveClock } from '../../test/support/move-clock.ts';
import { openRecorded, serverOptions, startSide } from '../../test/agents/support/mux-peers.ts';
import type { Recorder } from '../../test/agents/support/mux-peers.ts';
import { request, socketPair, startLinked } from '../../test/support/linked.ts';
import type { Linked } from '../../test/support/linked.ts';

const megabytes5 = 5 * 1024 * 1024;

/** The stream as the agent behind the link gets it. */
function atAgent({ agent }: Linked, at = 0): Recorder {
  return agent.accepted[at] ?? assert.fail(`the agent has no stream ${at}`);
}

/** Makes the agent's end of a stream one of Node's. */
function asDuplex(recorder: Recorder): StreamDuplex {
  const { stream } = recorder;
  assert.ok(stream);
  const duplex = new StreamDuplex().attach(stream);
  stream.receiver = duplex;
  return duplex.on('error', () => {});
}

async function opened(linked: Linked, more = {}): Promise<{ visitor: Duplex; recorder: Recorder }> {
  const visitor = await linked.dial(more);
  await until(() => linked.agent.accepted.length > 0, 'a stream at the agent');
  return { visitor, recorder: atAgent(linked) };
}

test('the head of a stream says who comes, through which tunnel', async (t) => {
  const linked = await startLinked(t);
  await linked.dial({ proto: 'tls', isTls: true, address: '[2001:db8::1]:9' });
  assert.deepEqual(linked.requests, [{ ...request, proto: 'tls', isTls: true, address: '[2001:db8::1]:9' }]);
});

test('5 MB go each way at the same time with equal hashes', async (t) => {
  const linked = await startLinked(t);
  const { visitor, recorder } = await opened(linked);
  const agent = asDuplex(recorder);
  const [up, down] = [randomBytes(megabytes5), randomBytes(megabytes5)];
  visitor.end(up);
  agent.end(down);
  const [gotUp, gotDown] = await Promise.all([readAll(agent), readAll(visitor)]);
  assert.equal(hashOf(gotUp), hashOf(up));
  assert.equal(hashOf(gotDown), hashOf(down));
  await until(() => linked.link.streams === 0 && linked.session.mux.localStreams === 0, 'no stream is left');
  assert.deepEqual(linked.ends, []);
});

test('the end of one direction is passed on, and the other one goes on', async (t) => {
  const linked = await startLinked(t);
  const { visitor, recorder } = await opened(linked);
  visitor.end('question');
  await until(() => recorder.hasEnded, 'the end arrives');
  assert.equal(recorder.text, 'hello question');
  assert.equal(recorder.fault, 'open');
  recorder.stream?.end(Buffer.from('answer'));
  assert.equal(String(await readAll(visitor)), 'answer');
  await until(() => recorder.fault === undefined, 'an orderly close');
});

test('an end behind bytes that the other side has not taken yet closes the stream in order once they are taken', async (t) => {
  const linked = await startLinked(t, { slowAgent: true });
  const { visitor, recorder } = await opened(linked);
  const sent = randomBytes(3 * windowBytes);
  visitor.end(sent);
  recorder.stream?.end();
  await until(() => recorder.bytes >= windowBytes, 'the first window');
  recorder.isSlow = false;
  recorder.stream?.credit(recorder.bytes);
  await until(() => recorder.hasEnded, 'the end arrives');
  assert.equal(recorder.bytes, 'hello '.length + sent.length);
  visitor.resume();
  await until(() => linked.link.streams === 0 && linked.session.mux.localStreams === 0, 'no stream is left');
  assert.equal(linked.session.mux.heldBytes, 0);
});

test('a reset of the visitor reaches the agent, and one of the agent the visitor, with its code', async (t) => {
  const linked = await startLinked(t);
  const { visitor, recorder } = await opened(linked);
  visitor.destroy();
  await until(() => recorder.fault !== 'open', 'the reset arrives');
  assert.deepEqual(recorder.fault, { code: 6, by: 'peer' });
  const other = await linked.dial();
  const broken = once(other, 'error');
  await until(() => linked.agent.accepted.length === 2, 'the second stream');
  atAgent(linked, 1).stream?.reset(13);
  const [error] = await broken;
  assert.deepEqual(error.fault, { code: 13, by: 'peer' });
  assert.deepEqual(linked.ends, []);
});

test('a visitor that does not read stops the agent after a few windows, and no other visitor', async (t) => {
  const linked = await startLinked(t);
  const { recorder } = await opened(linked);
  const slow = recorder.stream ?? assert.fail();
  let written = 0;
  const piece = randomBytes(64 * 1024);
  for (let round = 0; round < 200; round++) {
    while (slow.write(piece)) written += piece.length;
    await sleep(1);
  }
  // A window at the link, one on the way through the holder, and what Node's own stream takes.
  assert.ok(written < 5 * windowBytes, `${written} bytes`);
  const other = await linked.dial();
  await until(() => linked.agent.accepted.length === 2, 'the second stream');
  const quick = asDuplex(atAgent(linked, 1));
  const sent = randomBytes(megabytes5);
  quick.end(sent);
  assert.equal(hashOf(await readAll(other)), hashOf(sent));
});

test('an agent that does not read stops the visitor', async (t) => {
  const linked = await startLinked(t, { slowAgent: true });
  const { visitor, recorder } = await opened(linked);
  let written = 0;
  const piece = randomBytes(64 * 1024);
  for (let round = 0; round < 200; round++) {
    while (!visitor.writableNeedDrain) {
      visitor.write(piece);
      written += piece.length;
    }
    await sleep(1);
  }
  assert.ok(written < 5 * windowBytes, `${written} bytes`);
  assert.ok(recorder.bytes <= windowBytes);
});

for (const reason of ['gone', 'full', 'unreachable'] as const satisfies readonly RefusalReason[]) {
  test(`a stream that is refused as ${reason} is refused as that at the other side, and leaves nothing open`, async (t) => {
    const open = async (): Promise<void> => {
      throw new StreamRefused(reason, 'no');
    };
    const linked = await startLinked(t, { open });
    await assert.rejects(linked.dial(), { name: 'StreamRefused', reason });
    await until(() => linked.link.streams === 0, 'no stream is left');
  });
}

test('a fault of the program behind is a refusal too', async (t) => {
  const linked = await startLinked(t, { open: () => Promise.reject(new Error('a fault')) });
  await assert.rejects(linked.dial(), { reason: 'unreachable' });
});

test('a stream that is not answered in time is given up, and does not come to life later', async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const session: { linked?: Linked } = {};
  const linked = await startLinked(t, {
    open: async (_asked, user) => {
      await promise;
      const stream = session.linked?.session.mux.open(user, Buffer.from('late'));
      assert.ok(stream);
      user.attach(stream);
    },
  });
  session.linked = linked;
  await assert.rejects(linked.dial({}, 50), { reason: 'unreachable' });
  resolve();
  await until(() => linked.agent.accepted.length === 1, 'it is opened at last');
  await until(() => atAgent(linked).fault !== 'open', 'and broken off');
  assert.equal(linked.link.isOpen, true);
});

test('a dial over a link whose other side is silent closes the link, where heartbeats are on', async (t) => {
  const linked = await startLinked(t, {
    heartbeat: { intervalMs: 600_000, silenceMs: 600_000 },
    open: () => new Promise(() => {}),
  });
  await assert.rejects(linked.dial({}, 50), { reason: 'unreachable' });
  assert.equal(linked.link.isOpen, false);
  assert.deepEqual(linked.ends[0], 'client: no answer');
});

test('heartbeats keep a quiet link open, and find a silent one at either side', async (t) => {
  const linked = await startLinked(t, { heartbeat: { intervalMs: 20, silenceMs: 60_000 } });
  const advance = moveClock(t);
  // Two of these times together are longer than the silence of a link that is gone.
  for (let time = 0; time < 3; time++) {
    advance(40_000);
    const heard = linked.sockets.map(({ bytesRead }) => bytesRead);
    const hasHeard = () => linked.sockets.every(({ bytesRead }, at) => bytesRead > (heard[at] ?? 0) + 100);
    await until(hasHeard, 'beats and answers at both sides');
  }
  assert.deepEqual(linked.ends, []);
  assert.equal(linked.link.streams, 0);
  for (const socket of linked.sockets) socket.pause();
  advance(60_000);
  await until(() => linked.ends.length === 2, 'both sides notice');
  assert.deepEqual(new Set(linked.ends), new Set(['client: no sign of life', 'server: no sign of life']));
});

test('a stream that is opened and broken off at once does no harm to its process', async (t) => {
  const held: { linked?: Linked } = {};
  const linked = await startLinked(t, {
    open: async (_asked, user) => {
      const stream = held.linked?.session.mux.open(user, Buffer.from('x'));
      assert.ok(stream);
      user.attach(stream);
      stream.reset();
    },
  });
  held.linked = linked;
  const visitor = await linked.dial();
  await until(() => visitor.destroyed, 'it is broken');
  assert.equal(linked.link.streams, 0);
});

test('the end of a link breaks its streams off at both sides, and refuses what is being opened', async (t) => {
  const linked = await startLinked(t);
  const { visitor, recorder } = await opened(linked);
  const broken = once(visitor, 'error');
  linked.sockets[1].destroy();
  await broken;
  await until(() => recorder.fault !== 'open', 'the agent hears of it');
  await assert.rejects(linked.dial(), { reason: 'unreachable' });
});

test('beyond its bound for unread bytes the slowest visitor is cut off, which is told', async (t) => {
  const linked = await startLinked(t, { maxUnreadBytes: 256 * 1024 });
  const visitors = [await linked.dial(), await linked.dial(), await linked.dial()];
  await until(() => linked.agent.accepted.length === 3, 'three streams');
  const ends = visitors.map((visitor) => once(visitor, 'error'));
  for (const { stream } of linked.agent.accepted) stream?.write(randomBytes(windowBytes));
  await Promise.race(ends);
  assert.ok(linked.overruns.includes('client'));
  assert.equal(linked.link.isOpen, true);
});

test('a peer that sends bytes before its stream is open, or a request that cannot be read, loses that stream', async (t) => {
  const [near, far] = await socketPair(t);
  const ends: string[] = [];
  const server = new LinkServer(far, {
    maxUnreadBytes: 2 ** 20,
    open: () => new Promise(() => {}),
    overrun: () => {},
    closed: (reason) => ends.push(reason),
  });
  const peer = startSide(near, { ...serverOptions, role: 'client' });
  const malformed = [
    Buffer.concat([requestStart(request), Buffer.from('early')]),
    requestStart({ ...request, address: 'x'.repeat(5000) }),
    typedStart(streamTypes.proxy, Buffer.from('\0\x02[]')),
    typedStart(streamTypes.proxy, Buffer.from('\0\x02{}')),
    typedStart(streamTypes.auth, '{}'),
  ];
  for (const start of malformed) {
    const recorder = openRecorded(peer, start);
    await until(() => recorder.fault !== 'open', 'a reset');
    assert.ok(typeof recorder.fault === 'object' && [1, 5].includes(recorder.fault.code));
  }
  assert.deepEqual(ends, []);
  server.close('over');
});

/** Reads to the end, and leaves the other direction alone, which Node's own consumers do not. */
async function readAll(stream: Duplex): Promise<Buffer> {
  const pieces: Buffer[] = [];
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  await once(stream, 'end');
  return Buffer.concat(pieces);
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
