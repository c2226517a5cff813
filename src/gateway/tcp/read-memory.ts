import type { Socket } from 'node:net';

/** For all sockets together: what is read into it is copied before anything else can be. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);
/** Fewer, larger reads and writes carry the same bytes in half the time. */
const largeBytes = 256 * 1024;
/** Smaller pieces are left to the collector, which is good at them. */
const releasedBytes = 16 * 1024;

/**
 * Where a socket reads into, for what goes on to another one. New memory for each read would cost more than the read,
 * memory of its own for each socket would be held by thousands that are silent. So all read into one place, and only
 * one that fills it has memory of its own, for as long as it fills that and the other socket keeps up.
 */
export class ReadMemory {
  readonly #to: Socket;
  #current = shared;
  #wasFilled = false;
  /** What was written last, of this socket's own memory. */
  #written: Buffer | undefined;

  constructor(to: Socket) {
    this.#to = to;
  }

  /** Memory for the next read. To be called after each, when its bytes have been written. */
  next(): Buffer {
    const isFree = this.#to.writableLength === 0;
    const wantsLarge = isFree && this.#wasFilled;
    if (wantsLarge && this.#current !== shared) return this.#current;
    this.#giveBack(isFree);
    this.#current = wantsLarge ? Buffer.allocUnsafeSlow(largeBytes) : shared;
    return this.#current;
  }

  /** The bytes of a read, which stay what they are until they have been written. */
  bytes(length: number): Buffer {
    const read = this.#current.subarray(0, length);
    this.#wasFilled = length === this.#current.length;
    this.#written = this.#current === shared ? Buffer.from(read) : this.#current;
    return this.#current === shared ? this.#written : read;
  }

  #giveBack(isFree: boolean): void {
    const written = this.#written;
    this.#written = undefined;
    if (written === undefined) return;
    if (isFree) release(written);
    // Without a drain to come, it is little that waits.
    else if (this.#to.writableNeedDrain) this.#to.once('drain', () => release(written));
  }
}

/**
 * Gives memory back at once, if it is nobody else's: left to the collector, large buffers make it go through the whole
 * heap again and again. To be called by the last one who holds it, when no write reads from it any more.
 */
export function release({ buffer, length }: Buffer): void {
  if (length >= releasedBytes && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
