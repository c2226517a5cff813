import type { Transform } from 'node:stream';

import type { Exchange } from './client/exchange.ts';

export interface EncodedBodyOwner {
  /** The encoder takes more of the upstream's body. */
  onEncoderDrain(): void;
  /** The encoder failed: what the client has got is not the whole body. */
  onEncoderFault(cause: Error): void;
}

/** Passes a response body through a module's encoder to the client, as fast as the client takes it. */
export class EncodedBody {
  readonly #transform: Transform;

  constructor(transform: Transform, exchange: Exchange, owner: EncodedBodyOwner) {
    this.#transform = transform;
    transform.on('data', (chunk: Buffer) => {
      if (!exchange.write(chunk)) transform.pause();
    });
    transform.on('drain', () => {
      owner.onEncoderDrain();
    });
    transform.on('error', (cause) => {
      owner.onEncoderFault(cause);
    });
  }

  /** False: wait for `onEncoderDrain`. */
  write(chunk: Buffer): boolean {
    return this.#transform.write(chunk);
  }

  /** Calls back once the client has been given all that came out. */
  end(chunk: Buffer | undefined, done: () => void): void {
    this.#transform.on('end', done);
    if (chunk === undefined) this.#transform.end();
    else this.#transform.end(chunk);
  }

  /** The client takes more. */
  resume(): void {
    this.#transform.resume();
  }

  /** Drops what has not come out yet. */
  destroy(): void {
    this.#transform.removeAllListeners('data').removeAllListeners('end').destroy();
  }
}
