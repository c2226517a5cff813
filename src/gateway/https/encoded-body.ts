import type { Duplex } from 'node:stream';

import { PieceJoiner } from '../turns/piece-joiner.ts';
import type { Exchange } from './exchange.ts';

export interface EncodedBodyOwner {
  /** The encoder takes more of the upstream's body. */
  onEncoderDrain(): void;
  /** The encoder failed: what the client has got is not the whole body. */
  onEncoderFault(cause: Error): void;
}

function ignore(): void {}

/** Passes a response body through a module's encoder to the client, as fast as the client takes it. */
export class EncodedBody {
  readonly #transform: Duplex;
  readonly #pieces: PieceJoiner;

  constructor(transform: Duplex, exchange: Pick<Exchange, 'write'>, owner: EncodedBodyOwner) {
    this.#transform = transform;
    this.#pieces = new PieceJoiner((bytes, written) => {
      if (!exchange.write(bytes, written)) transform.pause();
    });
    transform.on('data', (chunk: Buffer) => this.#pieces.push(chunk));
    transform.on('drain', () => {
      owner.onEncoderDrain();
    });
    transform.on('error', (cause) => {
      owner.onEncoderFault(cause);
    });
  }

  /** False: wait for `onEncoderDrain`. Calls `written` when the encoder has taken it. */
  write(chunk: Buffer, written: () => void): boolean {
    return this.#transform.write(chunk, written);
  }

  /** Calls back when all that came out has been written to the client. */
  end(chunk: Buffer | undefined, done: () => void): void {
    this.#transform.on('end', () => {
      this.#pieces.flush();
      done();
    });
    if (chunk === undefined) this.#transform.end();
    else this.#transform.end(chunk);
  }

  /** The client takes more. */
  resume(): void {
    this.#transform.resume();
  }

  /** Drops the body: nothing is written and nobody is called any more. */
  destroy(): void {
    this.#pieces.drop();
    this.#transform.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error');
    // One that is made of several streams says that it was ended early.
    this.#transform.on('error', ignore).destroy();
  }
}
