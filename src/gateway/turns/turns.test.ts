import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { readDirectly } from '../../lib/direct-reads.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { Flow } from './flow.ts';
import { PieceJoiner } from './piece-joiner.ts';
import { ReadShare } from './read-share.ts';
import { RequestQueue } from './request-queue.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

test('a turn ends after everything that it has brought, for all who ask', async () => {
  const first = currentTurn();
  let calls = 0;
  atTurnEnd(() => calls++);
  atTurnEnd(() => calls++);
  await Promise.resolve();
  assert.deepEqual([currentTurn(), calls], [first, 0]);
  await nextTurn();
  assert.equal(calls, 2);
  assert.ok(currentTurn() > first);
});

/** A joiner whose pieces are written at once. */
function joinerInto(note: (bytes: Buffer) => void): PieceJoiner {
  return new PieceJoiner((bytes, written) => {
    note(bytes);
    written();
  });
}

test('a piece of a socket is handed on in memory of its own, which the next read leaves alone', async (context) => {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  // A listening TCP server has an address of this form.
  const sender = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [reader] = (await once(server, 'connection')) as [Socket];
  context.after(() => [sender, reader].forEach((socket) => socket.destroy()));
  const emitted: Buffer[] = [];
  const pieces = joinerInto((bytes) => emitted.push(bytes));
  readDirectly(reader, (bytes) => pieces.push(bytes));
  reader.resume();
  const sent = ['a'.repeat(100), 'b'.repeat(8000), 'c'.repeat(100)];
  for (const [at, text] of sent.entries()) {
    sender.write(text);
    const length = sent.slice(0, at + 1).join('').length;
    await until(() => Buffer.concat(emitted).length === length, `piece ${at}`);
  }
  assert.equal(Buffer.concat(emitted).toString(), sent.join(''));
});

test('the first piece of a turn goes on at once, and the others in one', async () => {
  const emitted: string[] = [];
  const pieces = joinerInto((bytes) => emitted.push(bytes.toString()));
  await nextTurn();
  for (const piece of 'abcdef') pieces.push(Buffer.from(piece));
  assert.deepEqual(emitted, ['a']);
  await nextTurn();
  assert.deepEqual(emitted, ['a', 'bcdef']);
  await nextTurn();
  pieces.push(Buffer.from('g'));
  assert.deepEqual(emitted, ['a', 'bcdef', 'g']);
});

test('a large piece goes on at once, behind what waits; a flush hands on, a drop forgets', async () => {
  const emitted: number[] = [];
  const pieces = joinerInto((bytes) => emitted.push(bytes.length));
  await nextTurn();
  for (const length of [1, 2, 3, 5000, 1]) pieces.push(Buffer.alloc(length));
  assert.deepEqual(emitted, [1, 5, 5000]);
  pieces.flush();
  assert.deepEqual(emitted, [1, 5, 5000, 1]);
  pieces.push(Buffer.alloc(7));
  pieces.drop();
  await nextTurn();
  assert.deepEqual(emitted, [1, 5, 5000, 1]);
  // More than this waits for no turn to end.
  for (let at = 0; at < 40; at++) pieces.push(Buffer.alloc(4000));
  assert.ok(emitted.length >= 6, String(emitted));
});

test('pieces of later turns are joined as long as one before them waits to be written', async () => {
  const emitted: number[] = [];
  const waiting: (() => void)[] = [];
  const pieces = new PieceJoiner((bytes, written) => {
    emitted.push(bytes.length);
    waiting.push(written);
  });
  for (let at = 0; at < 100; at++) {
    pieces.push(Buffer.alloc(1));
    await nextTurn();
  }
  assert.deepEqual(emitted, [1]);
  waiting.pop()?.();
  assert.deepEqual(emitted, [1, 99]);
  pieces.push(Buffer.alloc(1));
  await nextTurn();
  // Whoever takes them must see that they are many.
  pieces.push(Buffer.alloc(4095));
  assert.deepEqual(emitted, [1, 99, 4096]);
  for (const written of waiting.splice(0)) written();
  pieces.push(Buffer.alloc(2));
  assert.deepEqual(emitted, [1, 99, 4096, 2]);
});

test('joined pieces are copies: their memory may be used again', async () => {
  const emitted: string[] = [];
  const pieces = joinerInto((bytes) => emitted.push(bytes.toString()));
  const memory = Buffer.from('xx');
  await nextTurn();
  pieces.push(memory);
  pieces.push(memory);
  memory.write('yy');
  await nextTurn();
  assert.deepEqual(emitted, ['xx', 'xx']);
});

/** A stream that notes whether it is paused. */
class Watched extends PassThrough {
  isStopped = false;

  override pause(): this {
    this.isStopped = true;
    return super.pause();
  }

  override resume(): this {
    this.isStopped = false;
    return super.resume();
  }
}

async function untilGoing(...streams: readonly Watched[]): Promise<void> {
  while (streams.some(({ isStopped }) => isStopped)) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('a reader that brings very many small pieces at once rests, and goes on by itself', async () => {
  const stream = new Watched();
  const share = new ReadShare(stream, 'a');
  for (let at = 0; at < 100; at++) share.count(1);
  assert.equal(stream.isStopped, false);
  for (let at = 0; at < 100; at++) share.count(1);
  assert.equal(stream.isStopped, true);
  await untilGoing(stream);
});

test('larger pieces, and small ones that come over a time, are no reason to rest', async () => {
  const stream = new Watched();
  const share = new ReadShare(stream, 'a');
  for (let at = 0; at < 10_000; at++) share.count(64);
  assert.equal(stream.isStopped, false);
  for (let round = 0; round < 4; round++) {
    for (let at = 0; at < 100; at++) share.count(63);
    assert.equal(stream.isStopped, false);
    await new Promise((resolve) => setTimeout(resolve, 70));
    await nextTurn();
  }
});

test('a reader whose bytes nobody takes stays paused after its rest, and rests though it is resumed', async () => {
  const [held, other] = [new Watched(), new Watched()];
  const share = new ReadShare(held, 'a');
  const after = new ReadShare(other, 'b');
  for (let at = 0; at < 200; at++) {
    share.count(1);
    after.count(1);
  }
  share.pause();
  await untilGoing(other);
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(held.isStopped, true);
  share.resume();
  assert.equal(held.isStopped, false);
  await nextTurn();
  for (let at = 0; at < 200; at++) share.count(1);
  share.pause();
  share.resume();
  assert.equal(held.isStopped, true);
  share.end();
  assert.equal(held.isStopped, false);
});

test('readers that rest go on by turns between their owners', async () => {
  const went: string[] = [];
  const streams = ['x', 'x', 'x', 'y'].map((owner, at) => {
    const stream = new Watched();
    stream.on('resume', () => went.push(`${owner}${at}`));
    return { stream, share: new ReadShare(stream, owner) };
  });
  for (const { share } of streams) for (let at = 0; at < 200; at++) share.count(1);
  await untilGoing(...streams.map(({ stream }) => stream));
  assert.deepEqual(went, ['x0', 'y3', 'x1', 'x2']);
});

const connectionFrom = (address: string, peerTrusted = false) => ({ peer: parseIp(address)!, peerTrusted });

test('a few requests begin in a turn, by turns between sources, however many connections one has', async () => {
  const queue = new RequestQueue();
  const begun: string[] = [];
  const own = Array.from({ length: 40 }, (_, at) => connectionFrom(at % 2 === 0 ? '192.0.2.1' : '2001:db8::1'));
  const network = connectionFrom('2001:db8::2');
  await nextTurn();
  for (const connection of own) queue.add(connection, () => begun.push('own'));
  queue.add(network, () => begun.push('network'));
  for (const address of ['192.0.2.2', '192.0.2.3']) {
    const other = connectionFrom(address);
    for (let at = 0; at < 2; at++) queue.add(other, () => begun.push(address));
  }
  for (const proxied of ['a', 'b']) queue.add(connectionFrom('192.0.2.4', true), () => begun.push(proxied));
  await nextTurn();
  assert.equal(begun.length, 16);
  const second = begun.slice(8);
  for (const name of ['192.0.2.2', '192.0.2.3', 'a', 'b'])
    assert.ok(second.includes(name), `${name}: ${String(second)}`);
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  assert.equal(begun.at(-1), 'network', 'a network of IPv6 is one source');
  assert.equal(begun.length, 47);
});

test('a few requests begin in a turn, by turns between connections', async () => {
  const queue = new RequestQueue();
  const begun: string[] = [];
  const [many, one] = [connectionFrom('192.0.2.1'), connectionFrom('192.0.2.1')];
  await nextTurn();
  for (let at = 0; at < 30; at++) queue.add(many, () => begun.push(`many ${at}`));
  assert.equal(begun.length, 8);
  queue.add(one, () => begun.push('one'));
  await nextTurn();
  assert.equal(begun.length, 16);
  assert.ok(begun.slice(8, 10).includes('one'), String(begun));
  for (let turn = 0; turn < 4; turn++) await nextTurn();
  assert.equal(begun.length, 31);
  assert.deepEqual(
    begun.filter((name) => name !== 'one'),
    Array.from({ length: 30 }, (_, at) => `many ${at}`),
  );
  queue.add(one, () => begun.push('at once'));
  assert.equal(begun.at(-1), 'at once');
  // Both have waited before, and wait again.
  for (let at = 0; at < 30; at++) queue.add(many, () => begun.push('many again'));
  queue.add(one, () => begun.push('one again'));
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  assert.deepEqual(
    ['many again', 'one again'].map((wanted) => begun.filter((name) => name === wanted).length),
    [30, 1],
  );
});

test('a source that waits alone begins fewer requests in a turn while others come and go', async () => {
  const queue = new RequestQueue();
  let begun = 0;
  const add = (connection: ReturnType<typeof connectionFrom>, count: number) => {
    for (let at = 0; at < count; at++) queue.add(connection, () => (begun += 1));
  };
  /** Requests that begin in the turn after this one. */
  const inNextTurn = async () => {
    const before = begun;
    await nextTurn();
    return begun - before;
  };
  const [many, same, other] = [
    connectionFrom('192.0.2.1'),
    connectionFrom('192.0.2.1'),
    connectionFrom('192.0.2.2'),
  ] as const;
  await nextTurn();
  add(same, 1);
  add(many, 31);
  assert.deepEqual([await inNextTurn(), await inNextTurn()], [8, 8], 'two connections of one source are not others');
  assert.equal(await inNextTurn(), 8);
  add(other, 1);
  add(many, 60);
  assert.equal(await inNextTurn(), 3);
  add(other, 8);
  assert.equal(await inNextTurn(), 8, 'two that wait');
  for (let turn = 0; turn < 40; turn++) await nextTurn();
  assert.equal(begun, 101);
  for (let turn = 0; turn < 1_000; turn++) {
    add(same, 1);
    await nextTurn();
  }
  add(many, 30);
  assert.equal(await inNextTurn(), 8, 'nobody else has come for long');
});

test('bytes flow no faster than they are taken, and all of them arrive', async () => {
  const from = new Watched();
  const to = new PassThrough({ highWaterMark: 1000 });
  const flow = new Flow(from, to, 'a');
  const sent = Buffer.alloc(10_000, 'abc');
  for (let at = 0; at < sent.length; at += 40) flow.push(sent.subarray(at, at + 40));
  flow.flush();
  assert.equal(from.isStopped, true);
  const received: Buffer[] = [];
  to.on('data', (chunk: Buffer) => received.push(chunk));
  await untilGoing(from);
  to.end();
  await once(to, 'end');
  assert.deepEqual(Buffer.concat(received), sent);
});

test('who has left neither waits for a turn nor is written to', async (t) => {
  const [from, to] = [new Watched(), new PassThrough()];
  const { mock: writes } = t.mock.method(to, 'write');
  const flow = new Flow(from, to, 'a');
  await nextTurn();
  for (let at = 0; at < 200; at++) flow.push(Buffer.from('a'));
  assert.deepEqual([from.isStopped, writes.callCount()], [true, 1]);
  const [fromClosed, toClosed] = [once(from, 'close'), once(to, 'close')];
  from.destroy();
  to.destroy();
  await Promise.all([fromClosed, toClosed]);
  assert.equal(from.isStopped, false);
  await nextTurn();
  await nextTurn();
  assert.equal(writes.callCount(), 1);
});
