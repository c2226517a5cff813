import { typeBytes } from '../wire/stream-types.ts';
import type { MuxStream, StreamFault, StreamReceiver } from './mux-stream.ts';

/** Reads the type of a stream that the peer opened, then hands the stream to the receiver chosen by it. */
export class StreamStart implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #choose: (type: number, stream: MuxStream) => StreamReceiver | undefined;
  #held: Buffer = Buffer.alloc(0);

  /** `choose` returns undefined after it has reset the stream or closed the session. */
  constructor(stream: MuxStream, choose: (type: number, stream: MuxStream) => StreamReceiver | undefined) {
    this.#stream = stream;
    this.#choose = choose;
  }

  onBytes(bytes: Buffer): void {
    this.#held = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length < typeBytes) return;
    const rest = this.#held.subarray(typeBytes);
    const next = this.#choose(this.#held.readUInt32BE(0), this.#stream);
    if (next === undefined) return;
    this.#stream.receiver = next;
    this.#stream.credit(typeBytes);
    if (rest.length > 0) next.onBytes(rest);
  }

  onEnd(): void {
    this.#stream.reset();
  }

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {}
}
