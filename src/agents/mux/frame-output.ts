import type { Duplex } from 'node:stream';

import { windowIncrementFrame } from '../wire/frame.ts';

/** Bytes of one turn up to which frames are joined by hand; above it the socket joins them without memory of the heap. */
const joinedBytes = 16 * 1024;
/** Bytes that are written at once, without waiting for the end of the turn. */
const turnBytes = 64 * 1024;
/** Control frames that may wait for a peer that does not read. */
const maxWaitingControlBytes = 1024 * 1024;
/** Stream 1 is used by nobody, so a credit for it changes nothing. */
const ackCarrier = windowIncrementFrame(1, 1);

export interface OutputOwner {
  /** The socket takes data again. */
  outputReady(): void;
  /** The peer makes us answer but does not read the answers. */
  outputStuck(): void;
}

/**
 * Frames on their way to the socket. Those of one turn of the event loop, whichever streams they belong to, leave in one
 * write, which is one TLS record and one system call.
 */
export class FrameOutput {
  readonly #socket: Duplex;
  readonly #owner: OutputOwner;
  #frames: Buffer[] = [];
  #bytes = 0;
  #scheduled = false;
  #ackWanted = false;
  #stopped = false;

  constructor(socket: Duplex, owner: OutputOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on('drain', () => {
      if (!this.#stopped) owner.outputReady();
    });
  }

  /** False while data has to wait; control frames are always taken. */
  get isReady(): boolean {
    return !this.#socket.writableNeedDrain && this.#bytes < turnBytes;
  }

  data(frames: readonly Buffer[]): void {
    for (const frame of frames) this.#add(frame);
    if (this.#bytes >= turnBytes) this.flush();
  }

  control(frame: Buffer): void {
    this.#add(frame);
    if (this.#bytes + this.#socket.writableLength > maxWaitingControlBytes) this.#owner.outputStuck();
  }

  /**
   * Asks that something be sent at the end of this turn. Agents that leave Nagle's algorithm on hold back a small frame
   * until the one before is acknowledged, and the kernel sends an acknowledgement by itself only after 40 ms.
   */
  wantAck(): void {
    this.#ackWanted = true;
    this.#schedule();
  }

  flush(): void {
    if (this.#stopped) return;
    if (this.#bytes === 0) {
      if (this.#ackWanted && !this.#socket.writableNeedDrain) this.#socket.write(ackCarrier);
      this.#ackWanted = false;
      return;
    }
    const frames = this.#frames;
    const bytes = this.#bytes;
    this.#frames = [];
    this.#bytes = 0;
    this.#ackWanted = false;
    this.#write(frames, bytes);
  }

  /** Drops what waits. */
  stop(): void {
    this.#stopped = true;
    this.#frames = [];
    this.#bytes = 0;
  }

  #add(frame: Buffer): void {
    this.#frames.push(frame);
    this.#bytes += frame.length;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    // All sockets that are readable have their turn before it, so that their bytes share a write.
    setImmediate(() => {
      this.#scheduled = false;
      this.flush();
      if (!this.#stopped && this.isReady) this.#owner.outputReady();
    });
  }

  #write(frames: readonly Buffer[], bytes: number): void {
    const [first] = frames;
    if (frames.length === 1 && first !== undefined) this.#socket.write(first);
    else if (bytes <= joinedBytes) this.#socket.write(Buffer.concat(frames, bytes));
    else {
      this.#socket.cork();
      for (const frame of frames) this.#socket.write(frame);
      this.#socket.uncork();
    }
  }
}
