import type { Socket } from 'node:net';

/** Memory that all of these sockets read into: the bytes of a read are copied out of it before the next one. */
const shared = Buffer.allocUnsafeSlow(64 * 1024);

/** Large reads and writes carry the same bytes in half the time. */
const largeBytes = 256 * 1024;
/** Smaller buffers are left to the garbage collector, which is good at them. */
const releasedBytes = 16 * 1024;

/**
 * Memory that a socket reads into when its bytes go on to another socket. A new buffer for each read would cost more than
 * the read; a buffer for each socket would be held by thousands of silent ones. So all sockets read into one shared
 * buffer. A socket that fills it gets a large one of its own, for as long as it fills that and the other socket keeps up.
 */
export class ReadMemory {
  readonly #to: Socket;
  #current = shared;
  #wasFilled = false;
  /** The buffer that was written last, if it is not the shared one. */
  #written: Buffer | undefined;

  constructor(to: Socket) {
    this.#to = to;
  }

  /** Returns the memory for the next read. Must be called after each read, when its bytes have been written. */
  next(): Buffer {
    const isFree = this.#to.writableLength === 0;
    const wantsLarge = isFree && this.#wasFilled;
    if (wantsLarge && this.#current !== shared) return this.#current;
    this.#giveBack(isFree);
    this.#current = wantsLarge ? Buffer.allocUnsafeSlow(largeBytes) : shared;
    return this.#current;
  }

  /** Returns the bytes of a read; they stay unchanged until they have been written. */
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
    // If no drain is to come, little is waiting, and the garbage collector takes it.
    else if (this.#to.writableNeedDrain) this.#to.once('drain', () => release(written));
  }
}

/**
 * Frees the memory of a buffer at once, if nothing else shares it: large buffers left to the garbage collector make it
 * walk the whole heap again and again. DANGER: the caller must be the last holder, with no write that still reads from it.
 * Callers rely on a rule that Node does not document: once `writableLength` is 0, the kernel or TLS has copied the bytes.
 * "what a client sends waits unchanged for an upstream that does not read" (test/gateway/tcp-bulk.test.ts) guards it, and
 * runs with `npm test`: the pinned version of Node may move only when that test passes.
 */
export function release({ buffer, length }: Buffer): void {
  if (length >= releasedBytes && length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
