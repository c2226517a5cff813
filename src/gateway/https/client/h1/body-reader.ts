import type { RequestBody, RequestBodySource } from '../../exchange.ts';
import { ChunkedDecoder } from '../../framing/chunked-decoder.ts';
import type { Reader } from '../../../../lib/reader-of.ts';

export interface BodyReaderOwner extends Reader {
  /** Somebody takes the body now: bytes that have come already can be pushed. */
  onWanted(): void;
}

interface Sink {
  readonly onBytes: (bytes: Buffer) => void;
  readonly onEnd: () => void;
}

/** Reads the body of one request from the bytes of its connection. */
export class BodyReader implements RequestBodySource {
  readonly #owner: BodyReaderOwner;
  readonly #chunks: ChunkedDecoder | undefined;
  /** Bytes still to come where the length is known. */
  #left: number;
  #sink: Sink | undefined;
  #isDropped = false;

  constructor(body: RequestBody, owner: BodyReaderOwner) {
    this.#owner = owner;
    this.#chunks = body === 'chunked' ? new ChunkedDecoder() : undefined;
    this.#left = typeof body === 'object' ? body.length : 0;
  }

  get trailers(): readonly string[] {
    return this.#chunks?.trailers ?? [];
  }

  /** True when all of it has come. */
  get isDone(): boolean {
    return this.#chunks === undefined ? this.#left === 0 : this.#chunks.done;
  }

  /** True if bytes of the connection belong to it, and somebody takes them. */
  get wantsBytes(): boolean {
    return !this.isDone && (this.#isDropped || this.#sink !== undefined);
  }

  /** Takes bytes of the connection and returns how many. Throws a `MalformedMessage`. */
  push(chunk: Buffer): number {
    const taken =
      this.#chunks === undefined
        ? this.#pushPlain(chunk)
        : this.#chunks.push(chunk, 0, (bytes) => this.#sink?.onBytes(bytes));
    if (this.isDone) this.#end();
    return taken;
  }

  read(onBytes: (bytes: Buffer) => void, onEnd: () => void): void {
    this.#sink = { onBytes, onEnd };
    this.#owner.onWanted();
  }

  pause(): void {
    this.#owner.pause();
  }

  resume(): void {
    this.#owner.resume();
  }

  drop(): void {
    this.#isDropped = true;
    this.#sink = undefined;
    this.#owner.resume();
    this.#owner.onWanted();
  }

  #pushPlain(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.#left);
    this.#left -= taken;
    this.#sink?.onBytes(taken === chunk.length ? chunk : chunk.subarray(0, taken));
    return taken;
  }

  #end(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd();
  }
}
