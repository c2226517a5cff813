import type { MuxStream, StreamFault } from '../agents/mux/mux-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import type { StreamUser } from './stream-request.ts';

/**
 * One end of two streams that are joined: bytes, the end and a reset of each go on to the other, the last in the form that its
 * peer understands. Bytes are credited when
 * the other stream has sent them, so that a slow reader at one side stops the sender at the other.
 */
export class SpliceEnd implements StreamUser {
  readonly #onAttach: () => void;
  #stream: MuxStream | undefined;
  #other: SpliceEnd | undefined;
  /** Bytes that wait in the other stream. */
  #held = 0;
  #isOver = false;

  /** `onAttach` runs before anything is passed on. */
  constructor(onAttach: () => void = () => {}) {
    this.#onAttach = onAttach;
  }

  static join(one: SpliceEnd, other: SpliceEnd): void {
    one.#other = other;
    other.#other = one;
  }

  attach(stream: MuxStream): this {
    this.#stream = stream;
    this.#onAttach();
    if (this.#other?.isOver === true) stream.abandon();
    return this;
  }

  get stream(): MuxStream | undefined {
    return this.#stream;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onBytes(bytes: Buffer): void {
    const target = this.#other?.stream;
    // The peer has to wait until the other stream is open.
    if (target === undefined) this.#stream?.reset(codes.protocol);
    else if (target.write(bytes)) this.#stream?.credit(bytes.length);
    else this.#held += bytes.length;
  }

  onEnd(): void {
    const target = this.#other?.stream;
    if (target === undefined) this.#stream?.reset();
    else target.end();
  }

  onDrain(): void {
    this.#other?.release();
  }

  onClose(fault: StreamFault | undefined): void {
    this.#isOver = true;
    if (fault === undefined) this.#other?.release();
    else this.#other?.stream?.abandon(fault.by === 'peer' ? fault.code : codes.cancelled);
  }

  /** Bytes that waited in the other stream have left. */
  release(): void {
    const held = this.#held;
    this.#held = 0;
    if (held > 0) this.#stream?.credit(held);
  }
}
