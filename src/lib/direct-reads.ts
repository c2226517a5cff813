import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Hands what a socket reads straight to its user, who listens to `data` as well: for each piece Node's streams look for room,
 * call listeners and plan a look at whether more should be read, which takes as long as the gateway's own work on it. Bytes
 * that wait in the stream, because it is paused, still come before. Returns a function that ends it.
 */
export function readDirectly(stream: Duplex, onData: (bytes: Buffer) => void): () => void {
  if (!(stream instanceof Socket)) return () => {};
  const push = stream.push.bind(stream);
  stream.push = (bytes: Buffer | null) => {
    if (bytes === null || stream.readableLength > 0 || stream.readableFlowing !== true) return push(bytes);
    onData(bytes);
    return true;
  };
  return () => {
    stream.push = push;
  };
}
