import { FairQueue } from '../../lib/fair-queue.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { ClientConnection } from '../https/exchange.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

/** Requests that begin in one turn of the event loop, of all connections together. Each takes some 0.1 ms. */
const perTurn = 8;

type Owner = Pick<ClientConnection, 'peer' | 'peerTrusted'>;

/**
 * Begins requests, a few in each turn of the event loop, by turns between sources and then between the connections of one:
 * a client that brings hundreds at once, as HTTP/2 can, must not keep the others waiting until all of its own have begun. A
 * connection of a trusted proxy stands for many clients: it counts as a source.
 */
export class RequestQueue {
  /** Connections whose requests wait, each once. */
  readonly #next = new FairQueue<Owner, SourceKey | Owner>();
  readonly #waiting = new Map<Owner, (() => void)[]>();
  #turn = -1;
  #begun = 0;

  /** Calls `begin` now or in a later turn, when the client may have left. */
  add(connection: Owner, begin: () => void): void {
    if (this.#next.isEmpty) {
      if (this.#mayBegin()) {
        begin();
        return;
      }
      atTurnEnd(this.#beginSome);
    }
    const waiting = this.#waiting.get(connection);
    if (waiting !== undefined) {
      waiting.push(begin);
      return;
    }
    this.#waiting.set(connection, [begin]);
    this.#next.push(sourceOf(connection), connection);
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
    while (!this.#next.isEmpty && this.#mayBegin()) this.#take()?.();
    if (!this.#next.isEmpty) atTurnEnd(this.#beginSome);
  };

  #take(): (() => void) | undefined {
    const connection = this.#next.take();
    const waiting = connection && this.#waiting.get(connection);
    if (connection === undefined || waiting === undefined) return undefined;
    const begin = waiting.shift();
    if (waiting.length > 0) this.#next.push(sourceOf(connection), connection);
    else this.#waiting.delete(connection);
    return begin;
  }
}

function sourceOf(connection: Owner): SourceKey | Owner {
  return connection.peerTrusted ? connection : sourceKey(connection.peer);
}
