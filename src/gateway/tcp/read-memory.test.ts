import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';

import { ReadMemory, release } from './read-memory.ts';

/** Stands in for a read of so many bytes. */
function read(memory: ReadMemory, length: number, fill: string): Buffer {
  memory.next().fill(fill, 0, length);
  return memory.bytes(length);
}

/** A socket with something that it has not written yet. */
function busySocket(): Socket {
  const socket = new Socket();
  socket.cork();
  socket.write('x');
  return socket;
}

test('sockets that are silent hold no memory of their own', () => {
  const [one, other] = [new ReadMemory(new Socket()), new ReadMemory(new Socket())];
  const memory = one.next();
  assert.equal(other.next(), memory);
  read(one, memory.length, 'a');
  assert.notEqual(one.next(), memory, 'more seems to wait');
  read(one, 10, 'a');
  assert.equal(one.next(), memory, 'it does not any more');
});

test('what was read stays what it is when another socket reads, and when the same one does', () => {
  for (const length of [1, 100, 10_000, 64 * 1024, 256 * 1024]) {
    const [one, other] = [new ReadMemory(busySocket()), new ReadMemory(new Socket())];
    const bytes = read(one, Math.min(length, one.next().length), 'a');
    read(one, one.next().length, 'b');
    read(other, other.next().length, 'c');
    read(other, other.next().length, 'c');
    assert.equal(bytes.toString('latin1'), 'a'.repeat(bytes.length));
  }
});

test('large memory is not read into again while the other socket has something left to write', () => {
  const to = new Socket();
  const memory = new ReadMemory(to);
  read(memory, memory.next().length, 'a');
  const bytes = read(memory, memory.next().length, 'b');
  to.cork();
  to.write('x');
  for (let reads = 0; reads < 3; reads++) read(memory, memory.next().length, 'c');
  assert.equal(bytes.toString('latin1'), 'b'.repeat(bytes.length));
});

test('only memory that is nobody else’s is given back', () => {
  const [own, slice, pooled] = [Buffer.alloc(100_000), Buffer.alloc(100_000).subarray(1), Buffer.from('abc')];
  for (const bytes of [own, slice, pooled]) release(bytes);
  assert.deepEqual([own.length, slice.length, pooled.toString()], [0, 99_999, 'abc']);
});
