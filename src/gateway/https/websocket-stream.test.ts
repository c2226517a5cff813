import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';

import { nextTurn } from '../../lib/next-turn.ts';
import { WebsocketStream } from './websocket-stream.ts';

test('the bytes that a turn brings one by one are read as one piece, also before an end', async () => {
  const socket = new Socket();
  const stream = new WebsocketStream(socket, '192.0.2.1', 1000);
  const pieces: string[] = [];
  stream.on('data', (bytes: Buffer) => pieces.push(bytes.toString()));
  await nextTurn();
  const message = Buffer.concat([
    Buffer.from([0x82, 0xfe, 1000 >> 8, 1000 & 255, 0, 0, 0, 0]),
    Buffer.alloc(1000, 'x'),
  ]);
  for (const byte of message) socket.emit('data', Buffer.of(byte));
  await nextTurn();
  await nextTurn();
  assert.equal(pieces.join(''), 'x'.repeat(1000));
  assert.ok(pieces.length <= 2, `${pieces.length} pieces`);
  for (const byte of [0x82, 0x82, 0, 0, 0, 0, 0x79, 0x7a]) socket.emit('data', Buffer.of(byte));
  socket.emit('end');
  await nextTurn();
  assert.equal(pieces.slice(-1).join(''), 'yz', 'what waits comes before the end');
  stream.destroy();
});

/** A socket whose handle counts how often reading stops and starts. */
function countedSocket() {
  const socket = new Socket();
  const counts = { stops: 0, starts: 0 };
  const count = (which: keyof typeof counts) => () => {
    counts[which] += 1;
    return 0;
  };
  Reflect.set(socket, '_handle', { readStop: count('stops'), readStart: count('starts'), close: () => {} });
  return { socket, counts };
}

/** The head of a frame of zeros as its mask, with a length of 16 bits. */
function head(length: number): Buffer {
  return Buffer.from([0x82, 0xfe, length >> 8, length & 255, 0, 0, 0, 0]);
}

test('a client that brings more small pieces than its share rests, and no more once it is gone', () => {
  const { socket, counts } = countedSocket();
  const stream = new WebsocketStream(socket, '192.0.2.2', 1000).resume();
  socket.emit('data', head(1000));
  for (let at = 0; at < 100; at++) socket.emit('data', Buffer.of(0));
  assert.equal(counts.stops, 0, 'its share');
  for (let at = 0; at < 100; at++) socket.emit('data', Buffer.of(0));
  assert.equal(counts.stops, 1, 'more than its share');
  const { starts } = counts;
  socket.emit('close');
  assert.ok(counts.starts > starts);
  stream.destroy();
});

test('nothing more is read from a client while nobody takes its messages', async () => {
  const { socket, counts } = countedSocket();
  const stream = new WebsocketStream(socket, '192.0.2.3', 1000);
  for (let at = 0; at < 3; at++) socket.emit('data', Buffer.concat([head(60_000), Buffer.alloc(60_000)]));
  await nextTurn();
  const { stops, starts } = counts;
  assert.ok(stops > 0);
  stream.resume();
  await nextTurn();
  assert.ok(counts.starts > starts, 'taken, so that more may come');
  stream.destroy();
});
