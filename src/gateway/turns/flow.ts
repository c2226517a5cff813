import type { Duplex } from 'node:stream';

import type { SourceKey } from '../../lib/ip/source-key.ts';
import { PieceJoiner } from './piece-joiner.ts';
import { ReadShare } from './read-share.ts';

/** Bytes on their way from one stream to another: the pieces of a turn in one write, and no faster than they are taken. */
export class Flow {
  readonly #share: ReadShare;
  readonly #pieces: PieceJoiner;

  /** `owner` is the source of the client. */
  constructor(from: Duplex, to: Duplex, owner: SourceKey) {
    this.#share = new ReadShare(from, owner);
    this.#pieces = new PieceJoiner((bytes, written) => {
      if (to.write(bytes, written) || to.writableLength === 0) return;
      this.#share.pause();
      to.once('drain', () => this.#share.resume());
    });
    from.on('close', () => this.#share.end());
    to.on('close', () => this.#pieces.drop());
  }

  push(chunk: Buffer): void {
    this.#share.count(chunk.length);
    this.#pieces.push(chunk);
  }

  /** Writes what waits: before an end. */
  flush(): void {
    this.#pieces.flush();
  }
}
