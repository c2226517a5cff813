import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Memory that all of these sockets read into: the bytes of a read are used, or copied out of it, before the next one. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** Names by which a socket knows the memory that it reads into, and what is called then. Node has no public ones. */
const [memoryKey, callbackKey] = ['kBuffer', 'kBufferCb'].map((name) =>
  Object.getOwnPropertySymbols(new Socket()).find(({ description }) => description === name),
);

/**
 * Hands what a socket reads straight to its user, who listens to `data` as well: for each piece Node's streams look for room,
 * call listeners and plan a look at whether more should be read, which takes as long as the gateway's own work on it. Bytes
 * that wait in the stream, because it is paused, still come before. A piece is good until `onData` returns. Returns a function
 * that ends it.
 */
export function readDirectly(stream: Duplex, onData: (bytes: Buffer) => void): () => void {
  if (!(stream instanceof Socket)) return () => {};
  const push = stream.push.bind(stream);
  let isDirect = true;
  const mayPass = () => isDirect && stream.readableLength === 0 && stream.readableFlowing === true;
  stream.push = (bytes: Buffer | null) => {
    if (bytes === null || !mayPass()) return push(bytes);
    onData(bytes);
    return true;
  };
  readIntoShared(stream, (bytes) => {
    if (!mayPass()) return push(Buffer.from(bytes));
    onData(bytes);
    return true;
  });
  return () => {
    isDirect = false;
    stream.push = push;
  };
}

/**
 * As `onread` does for sockets that connect: for each read Node makes 64 kB of memory and an object, and gives most of it back.
 * A socket that has memory of its own keeps it.
 */
function readIntoShared(socket: Socket, take: (bytes: Buffer) => boolean): void {
  if (memoryKey === undefined || callbackKey === undefined || Reflect.get(socket, memoryKey) !== null) return;
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return;
  const useMemory: unknown = Reflect.get(handle, 'useUserBuffer');
  if (typeof useMemory !== 'function') return;
  Reflect.set(socket, memoryKey, shared);
  Reflect.set(socket, callbackKey, (length: number) => take(shared.subarray(0, length)));
  Reflect.apply(useMemory, handle, [shared]);
}
