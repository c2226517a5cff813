import { FairQueue } from '../../lib/fair-queue.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

/** Requests that begin in one turn of the event loop, of all connections together. Each takes some 0.1 ms. */
const perTurn = 8;

/**
 * Begins requests, a few in each turn of the event loop and by turns between connections: one that brings hundreds at once,
 * as HTTP/2 can, must not keep the others waiting until all of its own have begun.
 */
export class RequestQueue {
  readonly #waiting = new FairQueue<() => void, object>();
  #turn = -1;
  #begun = 0;

  /** Calls `begin` now or in a later turn, when the client may have left. */
  add(connection: object, begin: () => void): void {
    if (this.#waiting.isEmpty) {
      if (this.#mayBegin()) {
        begin();
        return;
      }
      atTurnEnd(this.#beginSome);
    }
    this.#waiting.push(connection, begin);
  }

  #mayBegin(): boolean {
    const turn = currentTurn();
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#begun = 0;
    }
    this.#begun += 1;
    return this.#begun <= perTurn;
  }

  readonly #beginSome = (): void => {
    while (!this.#waiting.isEmpty && this.#mayBegin()) this.#waiting.take()?.();
    if (!this.#waiting.isEmpty) atTurnEnd(this.#beginSome);
  };
}
