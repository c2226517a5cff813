import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

/** Memory that all of these sockets read into. Nobody else sees it: what one visitor sent must never come to another. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);
/** Behind a read of this size a socket gets memory of its own for the next one: to copy that would cost more. In bytes. */
const largeBytes = 16 * 1024;

/** Names by which a socket knows the memory that it reads into, and what is called then. Node has no public ones. */
const [memoryKey, callbackKey, chooseKey] = ['kBuffer', 'kBufferCb', 'kBufferGen'].map((name) =>
  Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name),
);

/**
 * Hands what a socket reads straight to its user, who listens to `data` as well: for each piece Node's streams look for room,
 * call listeners and plan a look at whether more should be read, which takes as long as the gateway's own work on it. Bytes
 * that wait in the stream, because it is paused, still come before. Returns a function that ends it.
 */
export function readDirectly(stream: Duplex, onData: (bytes: Buffer) => void): () => void {
  if (!(stream instanceof Socket)) return () => {};
  const push = stream.push.bind(stream);
  let isDirect = true;
  stream.push = (bytes: Buffer | null) => {
    if (bytes === null || !isDirect || stream.readableLength > 0 || stream.readableFlowing !== true) return push(bytes);
    onData(bytes);
    return true;
  };
  readIntoShared(stream);
  return () => {
    isDirect = false;
  };
}

/**
 * As `onread` does for sockets that connect, but the stream can be used later. For each read Node makes 64 kB of memory and an
 * object, and gives most of it back: requests and answers are small, and that costs more than the read.
 */
function readIntoShared(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (memoryKey === undefined || callbackKey === undefined || chooseKey === undefined) return;
  if (typeof handle !== 'object' || handle === null) return;
  const useMemory: unknown = Reflect.get(handle, 'useUserBuffer');
  if (typeof useMemory !== 'function') return;
  let memory = shared;
  let wasLarge = false;
  Reflect.set(socket, memoryKey, memory);
  Reflect.set(socket, callbackKey, (length: number) => {
    wasLarge = length >= largeBytes;
    if (memory !== shared && wasLarge) return socket.push(memory.subarray(0, length));
    const read = Buffer.allocUnsafe(length);
    memory.copy(read, 0, 0, length);
    return socket.push(read);
  });
  // TLS hands over records, which are never larger.
  if (!(socket instanceof TLSSocket))
    Reflect.set(socket, chooseKey, () => (memory = wasLarge ? Buffer.allocUnsafeSlow(shared.length) : shared));
  Reflect.apply(useMemory, handle, [memory]);
}
