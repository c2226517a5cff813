import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { StreamDuplex } from './stream-duplex.ts';
import { dataFrame, flags, windowBytes, windowIncrementFrame } from '../wire/frame.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import {
  openDuplex,
  openRecorded,
  serverOptions,
  startPair,
  startRawPeer,
  startSide,
} from '../../../test/agents/support/mux-peers.ts';
import type { Side } from '../../../test/agents/support/mux-peers.ts';

const { syn } = flags;
const megabytes20 = 20 * 1024 * 1024;

async function socketPair(t: TestContext): Promise<readonly [Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on a port has an address of this form.
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [accepted] = (await once(server, 'connection')) as [Socket];
  t.after(() => {
    client.destroy();
    accepted.destroy();
    server.close();
  });
  return [accepted, client];
}

function duplexOf(side: Side, at = 0): StreamDuplex {
  const recorder = side.accepted[at];
  assert.ok(recorder?.stream !== undefined);
  const duplex = new StreamDuplex().attach(recorder.stream);
  recorder.stream.receiver = duplex;
  recorder.stream.credit(recorder.bytes);
  return duplex;
}

/** Reads all, with a rest after every 64 kB or so. */
async function readSlowly(stream: StreamDuplex): Promise<string> {
  const hash = createHash('sha256');
  let sinceRest = 0;
  // Else the loop would end the other direction too.
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    hash.update(chunk as Buffer);
    sinceRest += (chunk as Buffer).length;
    if (sinceRest < 65_536) continue;
    sinceRest = 0;
    await sleep(1);
  }
  return hash.digest('hex');
}

suite('flow control', () => {
  test('20 MB each way at once between slow readers, with equal hashes', async (t) => {
    const [left, right] = await socketPair(t);
    const [server, client] = [startSide(left, serverOptions), startSide(right, { ...serverOptions, role: 'client' })];
    const ours = openDuplex(server, 'x');
    await until(() => client.accepted.length === 1, 'accepted');
    const theirs = duplexOf(client);
    const [down, up] = [randomBytes(megabytes20), randomBytes(megabytes20)];
    ours.end(down);
    theirs.end(up);
    const [gotDown, gotUp] = await Promise.all([readSlowly(theirs), readSlowly(ours)]);
    assert.equal(gotDown, createHash('sha256').update(down).digest('hex'));
    assert.equal(gotUp, createHash('sha256').update(up).digest('hex'));
    await until(() => server.mux.localStreams === 0, 'closed in order');
    assert.equal(server.mux.heldBytes, 0);
  });

  for (const direction of ['to the agent', 'from the agent'] as const) {
    test(`a reader that stalls stops its own stream at the window, and no other, ${direction}`, async () => {
      const pair = startPair();
      const [writer, reader] = direction === 'to the agent' ? [pair.server, pair.client] : [pair.client, pair.server];
      const stalled = openRecorded(writer, 'x');
      const brisk = openRecorded(writer, 'y');
      await until(() => reader.accepted.length === 2, 'accepted');
      const [first, second] = reader.accepted;
      assert.ok(first !== undefined && second !== undefined);
      first.isSlow = true;
      assert.equal(stalled.stream?.write(Buffer.alloc(2 * windowBytes)), false);
      await until(() => first.bytes === windowBytes, 'the window is used up');
      for (let round = 0; round < 20; round++) {
        brisk.stream?.write(Buffer.alloc(50_000));
        await until(() => second.bytes === 1 + 50_000 * (round + 1), 'the other stream goes on');
      }
      assert.equal(first.bytes, windowBytes);
      assert.equal(stalled.drains, 0);
      first.isSlow = false;
      first.stream?.credit(windowBytes);
      await until(() => first.bytes === 2 * windowBytes + 1, 'the rest');
      assert.equal(stalled.drains, 1);
    });
  }

  test('streams take turns when the connection is busy', async (t) => {
    const [left, right] = await socketPair(t);
    const [server, client] = [startSide(left, serverOptions), startSide(right, { ...serverOptions, role: 'client' })];
    const order: number[] = [];
    const writers = Array.from({ length: 4 }, () => openRecorded(server, 'x'));
    await until(() => client.accepted.length === 4, 'accepted');
    client.accepted.forEach((recorder, at) => {
      const take = recorder.onBytes.bind(recorder);
      recorder.onBytes = (bytes) => {
        order.push(at);
        take(bytes);
      };
    });
    for (const { stream } of writers) stream?.write(Buffer.alloc(windowBytes - 1));
    await until(() => client.accepted.every(({ bytes }) => bytes === windowBytes), 'all');
    // If the first went alone, the last would begin only when three quarters had come.
    assert.ok(order.indexOf(3) < order.length / 2, order.join(' '));
  });

  test('the window of a peer is never exceeded, whatever it credits', async () => {
    const peer = startRawPeer();
    const ours = openRecorded(peer.side, Buffer.alloc(windowBytes));
    ours.stream?.write(Buffer.alloc(10 * windowBytes));
    const sent = (): number => peer.frames.reduce((sum, frame) => sum + frame.replace(/^data 2 \d /, '').length, 0);
    await until(() => sent() === windowBytes, 'the first window');
    peer.send(windowIncrementFrame(2, 0x7fffffff));
    await until(() => sent() === 2 * windowBytes, 'one window more');
    peer.send(windowIncrementFrame(2, 100));
    await until(() => sent() === 2 * windowBytes + 100, 'a hundred bytes more');
  });

  test('credits are given in steps, for what was read', async () => {
    const peer = startRawPeer({}, true);
    peer.send(dataFrame(3, syn, Buffer.alloc(200_000)));
    await until(() => peer.side.accepted[0]?.bytes === 200_000, 'all came');
    peer.side.accepted[0]?.stream?.credit(65_535);
    peer.side.accepted[0]?.stream?.credit(1);
    peer.side.accepted[0]?.stream?.credit(100);
    peer.side.accepted[0]?.stream?.credit(1_000_000);
    await until(() => peer.frames.length === 2, 'credits');
    assert.deepEqual(peer.frames, ['increment 3 65536', `increment 3 ${200_000 - 65_536}`]);
  });
});

suite('memory', () => {
  test('the stream that holds most is reset above the bound, and the others go on', async () => {
    const maxUnreadBytes = 600_000;
    const peer = startRawPeer({ maxUnreadBytes }, true);
    let highest = 0;
    const send = async (id: number, flag: number, bytes: number): Promise<void> => {
      peer.send(dataFrame(id, flag, Buffer.alloc(bytes)));
      await until(() => peer.side.accepted.some(({ stream }) => stream?.id === id), 'accepted');
      await sleep(1);
      highest = Math.max(highest, peer.side.mux.heldBytes);
    };
    await send(3, syn, 200_000);
    await send(5, syn, 262_144);
    await send(7, syn, 130_000);
    assert.deepEqual(peer.frames, []);
    await send(7, 0, 100_000);
    await until(() => peer.frames.length > 0, 'a reset');
    assert.deepEqual(peer.frames, ['reset 5 3']);
    assert.ok(highest <= maxUnreadBytes, `${highest}`);
    assert.deepEqual(
      peer.side.accepted.map(({ fault }) => fault),
      ['open', { code: 3, by: 'us' }, 'open'],
    );
  });

  test('many small pieces count for the memory they take', async () => {
    const peer = startRawPeer({ maxUnreadBytes: 100_000 }, true);
    const one = Buffer.from('x');
    peer.send(dataFrame(3, syn, one), ...Array.from({ length: 999 }, () => dataFrame(3, 0, one)));
    await until(() => peer.frames.length > 0, 'a reset');
    assert.equal(peer.frames[0], 'reset 3 3');
    assert.ok((peer.side.accepted[0]?.bytes ?? 0) < 500);
  });

  test('a small piece that waits does not hold the memory of the read it came in', async () => {
    const peer = startRawPeer({}, true);
    const filler = Array.from({ length: 1000 }, () => windowIncrementFrame(99, 1));
    peer.send(dataFrame(3, syn, Buffer.from('a')), dataFrame(3, 0, Buffer.from('b')), ...filler);
    await until(() => peer.side.accepted[0]?.pieces.length === 2, 'both');
    assert.equal(peer.side.accepted[0]?.pieces[1]?.buffer.byteLength, 1);
  });

  test('windows shrink while readers hold half of the bound', async () => {
    const peer = startRawPeer({ maxUnreadBytes: 900_000 }, true);
    peer.send(dataFrame(3, syn, Buffer.alloc(262_144)), dataFrame(5, syn, Buffer.alloc(262_144)));
    await until(() => peer.side.accepted[1]?.bytes === 262_144, 'all came');
    peer.side.accepted[0]?.stream?.credit(66_000);
    await until(() => peer.frames.length === 1, 'the first credit');
    peer.side.accepted[1]?.stream?.credit(5000);
    peer.side.accepted[0]?.stream?.credit(66_000);
    await until(() => peer.frames.length === 2, 'the second credit');
    // With 392,288 bytes held the session is no longer pressed, and all is credited.
    assert.deepEqual(peer.frames, ['increment 3 65536', `increment 3 ${132_000 - 65_536}`]);
  });
});

suite('as a Duplex', () => {
  test('an error or an early end of the user resets the stream', async () => {
    const { server, client } = startPair();
    const duplex = openDuplex(server, 'x');
    await until(() => client.accepted.length === 1, 'accepted');
    duplex.destroy();
    await until(() => client.accepted[0]?.fault !== 'open', 'reset');
    assert.deepEqual(client.accepted[0]?.fault, { code: 6, by: 'peer' });
  });

  test('a reset of the peer is an error', async () => {
    const { server, client } = startPair();
    const duplex = openDuplex(server, 'x');
    await until(() => client.accepted.length === 1, 'accepted');
    client.accepted[0]?.stream?.reset(9);
    const [error] = await once(duplex, 'error');
    assert.deepEqual(error.fault, { code: 9, by: 'peer' });
  });

  test('without half-open an end of the peer ends both directions', async () => {
    const { server, client } = startPair();
    const duplex = new StreamDuplex({ allowHalfOpen: false });
    const stream = server.mux.open(duplex, Buffer.from('x'));
    assert.ok(stream !== undefined);
    duplex.attach(stream).resume();
    await until(() => client.accepted.length === 1, 'accepted');
    client.accepted[0]?.stream?.end();
    await until(() => client.accepted[0]?.hasEnded === true, 'ended');
    await until(() => server.mux.localStreams === 0, 'closed');
  });
});
