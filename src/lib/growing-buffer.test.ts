import assert from 'node:assert/strict';
import { test } from 'node:test';

import { GrowingBuffer } from './growing-buffer.ts';

test('pieces come back joined, in the order in which they were added', () => {
  const buffer = new GrowingBuffer();
  const pieces = ['', 'a', 'bc', 'd'.repeat(700), '', 'e'.repeat(5_000), 'f'];
  for (const piece of pieces) buffer.add(Buffer.from(piece));
  assert.equal(buffer.length, 5_704);
  assert.equal(buffer.take().toString(), pieces.join(''));
});

test('a piece is copied: the buffer that it came in may be used again', () => {
  const buffer = new GrowingBuffer();
  const piece = Buffer.from('first');
  buffer.add(piece);
  piece.fill('x');
  assert.equal(buffer.take().toString(), 'first');
});

test('what was taken stays as it is when more is added', () => {
  const buffer = new GrowingBuffer();
  buffer.add(Buffer.from('first'));
  const taken = buffer.take();
  assert.deepEqual([buffer.length, buffer.capacity], [0, 0]);
  buffer.add(Buffer.from('other'));
  assert.equal(taken.toString(), 'first');
  assert.equal(buffer.take().toString(), 'other');
});

test('nothing at all is an empty buffer', () => {
  assert.equal(new GrowingBuffer().take().length, 0);
});

test('single bytes cost at most twice their number, and few copies', () => {
  const buffer = new GrowingBuffer();
  const byte = Buffer.from('x');
  const capacities = new Set<number>();
  for (let at = 0; at < 100_000; at++) {
    buffer.add(byte);
    capacities.add(buffer.capacity);
  }
  assert.equal(buffer.length, 100_000);
  assert.ok(buffer.capacity < 200_000, String(buffer.capacity));
  assert.ok(capacities.size < 10, [...capacities].join());
  // A view of the pool that Node shares among small buffers would hold more than it shows.
  assert.equal(buffer.take().buffer.byteLength, Math.max(...capacities));
});

test('a first piece that is large is held as it is', () => {
  const buffer = new GrowingBuffer();
  buffer.add(Buffer.alloc(10_000));
  assert.equal(buffer.capacity, 10_000);
});

test('the capacity with more bytes is known before they are added', () => {
  const buffer = new GrowingBuffer();
  for (const size of [0, 1, 511, 1, 3_000, 10]) {
    const capacity = buffer.capacityWith(size);
    buffer.add(Buffer.alloc(size));
    assert.equal(buffer.capacity, capacity);
  }
});

test('doubling ends at the most that it may hold', () => {
  const buffer = new GrowingBuffer(1_000);
  for (let at = 0; at < 600; at++) buffer.add(Buffer.from('x'));
  assert.equal(buffer.capacity, 1_000);
  const small = new GrowingBuffer(10);
  small.add(Buffer.from('x'));
  assert.equal(small.capacity, 10);
});
