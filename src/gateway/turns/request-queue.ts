import { FairQueue } from '../../lib/fair-queue.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { ClientConnection } from '../https/exchange.ts';
import { atTurnEnd, currentTurn } from './turn.ts';

/** Requests that begin in one turn of the event loop, of all connections together. Each takes some 0.1 ms. */
const perTurn = 8;

/** As many of one source that alone has requests waiting while others come and go: whoever comes next waits less than half as long. */
const perTurnBesideOthers = 3;

/** Turns after which a source counts as alone. A busy loop has one or two thousand in a second. */
const aloneAfter = 1_000;

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
  #last: Owner | undefined;
  /** Turn in which a request began whose source was not that of the one before. */
  #changedTurn = -aloneAfter;

  /** Calls `begin` now or in a later turn, when the client may have left. */
  add(connection: Owner, begin: () => void): void {
    if (this.#next.isEmpty) {
      if (this.#mayBegin(perTurn)) {
        this.#notice(connection);
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

  #mayBegin(most: number): boolean {
    const turn = currentTurn();
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#begun = 0;
    }
    this.#begun += 1;
    return this.#begun <= most;
  }

  #notice(connection: Owner): void {
    const last = this.#last;
    if (connection === last) return;
    this.#last = connection;
    if (last !== undefined && sourceOf(connection) !== sourceOf(last)) this.#changedTurn = this.#turn;
  }

  #mostOfWaiting(): number {
    const isBesideOthers = this.#next.owners === 1 && currentTurn() - this.#changedTurn < aloneAfter;
    return isBesideOthers ? perTurnBesideOthers : perTurn;
  }

  readonly #beginSome = (): void => {
    while (!this.#next.isEmpty && this.#mayBegin(this.#mostOfWaiting())) this.#take()?.();
    if (!this.#next.isEmpty) atTurnEnd(this.#beginSome);
  };

  #take(): (() => void) | undefined {
    const connection = this.#next.take();
    const waiting = connection && this.#waiting.get(connection);
    if (connection === undefined || waiting === undefined) return undefined;
    this.#notice(connection);
    const begin = waiting.shift();
    if (waiting.length > 0) this.#next.push(sourceOf(connection), connection);
    else this.#waiting.delete(connection);
    return begin;
  }
}

function sourceOf(connection: Owner): SourceKey | Owner {
  return connection.peerTrusted ? connection : sourceKey(connection.peer);
}
