import type { OnReadOpts, Socket } from 'node:net';

/** Shared by all sockets: the bytes of a read are copied out of it before the next read can happen. */
export const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);
/** Reads of this size are handed on as they are: copying them would cost more than memory of their own. */
const largeBytes = 16 * 1024;

/**
 * For the `onread` of a socket that is used as a stream all the same. Node makes 64 kB of memory for each read and gives
 * most of it back: the answers of upstreams are small, and that costs more than the read and keeps the garbage collector
 * busy. Here reads go into one buffer, and a copy of the right size goes on. A socket that has just read much gets memory of
 * its own for the next read.
 */
export function pushReads(socketOf: () => Socket): OnReadOpts {
  let current = sharedBuffer;
  let wasLarge = false;
  return {
    buffer: () => (current = wasLarge ? Buffer.allocUnsafeSlow(sharedBuffer.length) : sharedBuffer),
    callback: (length) => {
      wasLarge = length >= largeBytes;
      if (wasLarge && current !== sharedBuffer) return socketOf().push(current.subarray(0, length));
      const read = Buffer.allocUnsafe(length);
      current.copy(read, 0, 0, length);
      return socketOf().push(read);
    },
  };
}
