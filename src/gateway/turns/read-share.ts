import type { Duplex } from 'node:stream';

import type { SourceKey } from '../../lib/ip/source-key.ts';
import { readerOf } from '../../lib/reader-of.ts';
import type { Reader } from '../../lib/reader-of.ts';
import { restingReaders } from './resting-readers.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

/** Reading a smaller piece costs more than its bytes. In bytes. */
const smallBytes = 64;
/** Small pieces that a connection may bring in each millisecond, and those that it may bring at once. */
const piecesPerMs = 2;
const mostAtOnce = 128;

/**
 * The share of one connection in the turns of the event loop. Reading a record of TLS or a frame of HTTP/2 takes some
 * microseconds however small it is, and one read of the socket brings hundreds. A connection that brings more small ones
 * than its share rests until its turn comes.
 */
export class ReadShare implements Reader {
  readonly #reader: Reader;
  /** Connections of one source or account share their turns. */
  readonly #owner: SourceKey;
  #turn = -1;
  /** Value of `performance.now()` when the first small piece of that turn came, and when the newest did. */
  #turnAt = 0;
  #lastAt = 0;
  /** Small pieces that it has brought beyond what it may. */
  #surplus = 0;
  /** The turn in which it was last sent to rest. */
  #restsIn = -1;
  #isResting = false;
  #isPaused = false;
  #isOver = false;

  constructor(stream: Duplex, owner: SourceKey) {
    this.#reader = readerOf(stream);
    this.#owner = owner;
  }

  /** Must be called for every piece that was read. */
  count(bytes: number): void {
    if (bytes >= smallBytes) return;
    const turn = currentTurn();
    if (turn !== this.#turn) this.#beginTurn(turn);
    this.#surplus += 1;
    if (this.#surplus <= mostAtOnce) return;
    this.#lastAt = performance.now();
    this.#rest();
  }

  /** Whoever takes the bytes takes no more for now. */
  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#reader.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isResting) this.#reader.resume();
  }

  /** The connection is gone, or somebody else reads from it. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#isResting || this.#isPaused) this.#reader.resume();
  }

  #beginTurn(turn: number): void {
    const nowMs = performance.now();
    this.#surplus = Math.max(0, this.#surplus - (nowMs - this.#turnAt) * piecesPerMs);
    this.#turn = turn;
    this.#turnAt = nowMs;
  }

  #rest(): void {
    if (this.#isOver || this.#restsIn === this.#turn) return;
    this.#restsIn = this.#turn;
    // Also where it rests already: Node reads from the connection of a session again when it has written.
    this.#reader.pause();
    if (this.#isResting) return;
    this.#isResting = true;
    // Bytes that the socket has read by now still come, in this turn.
    atTurnEnd(() => {
      restingReaders.spent(this.#lastAt - this.#turnAt);
      restingReaders.add(this.#owner, this.#goOn);
    });
  }

  readonly #goOn = (): boolean => {
    this.#isResting = false;
    // The reader has waited for its turn.
    this.#surplus = Math.min(this.#surplus, mostAtOnce);
    if (this.#isOver) return false;
    if (!this.#isPaused) this.#reader.resume();
    return true;
  };
}
