import type { Transform } from 'node:stream';

import type { Exchange } from './exchange.ts';

export interface EncodedBodyOwner {
  /** The encoder takes more of the upstream's body. */
  onEncoderDrain(): void;
  /** The encoder failed: what the client has got is not the whole body. */
  onEncoderFault(cause: Error): void;
}

/** Passes a response body through a module's encoder to the client, as fast as the client takes it. */
export class EncodedBody {
  readonly #transform: Transform;

  constructor(transform: Transform, exchange: Pick<Exchange, 'write'>, owner: EncodedBodyOwner) {
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

  /** Calls back when all that came out has been written to the client. */
  end(chunk: Buffer | undefined, done: () => void): void {
    this.#transform.on('end', done);
    if (chunk === undefined) this.#transform.end();
    else this.#transform.end(chunk);
  }

  /** The client takes more. */
  resume(): void {
    this.#transform.resume();
  }

  /** Drops the body: nothing is written and nobody is called any more. */
  destroy(): void {
    this.#transform.removeAllListeners('data').removeAllListeners('end').destroy();
  }
}
