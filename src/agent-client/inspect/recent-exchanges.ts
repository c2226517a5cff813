import { randomBytes } from 'node:crypto';

import type { ExchangeRecorder } from '../watch/http-watch.ts';
import { Exchange } from './exchange.ts';
import type { Origin } from './exchange.ts';

interface InspectBounds {
  readonly exchanges: number;
  readonly bytes: number;
}

const usualBounds: InspectBounds = { exchanges: 500, bytes: 32 * 1024 * 1024 };

/** The last requests of all visitors, in memory alone. The oldest go when there are too many, or when they take too much. */
export class RecentExchanges {
  readonly #bounds: InspectBounds;
  /** Ids of another run of the agent are never those of this one. */
  readonly #prefix = randomBytes(6).toString('hex');
  /** Oldest first. */
  readonly #byId = new Map<string, Exchange>();
  #bytes = 0;
  #count = 0;
  #gaveUp = 0;

  constructor(bounds: InspectBounds = usualBounds) {
    this.#bounds = bounds;
  }

  /** Connections that were not HTTP/1, or no longer, and of which nothing more could be recorded. */
  get gaveUp(): number {
    return this.#gaveUp;
  }

  /** Memory that all of them take. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Newest first. */
  get all(): readonly Exchange[] {
    return [...this.#byId.values()].toReversed();
  }

  find(id: string): Exchange | undefined {
    return this.#byId.get(id);
  }

  /** Records what passes on one connection. `begun` is told of each request. */
  recorder(origin: Origin, begun: (exchange: Exchange) => void = () => {}): ExchangeRecorder {
    return {
      begin: (head) => {
        const exchange = this.#begin(head, origin);
        begun(exchange);
        return exchange;
      },
      gaveUp: () => {
        this.#gaveUp++;
      },
    };
  }

  clear(): void {
    for (const exchange of this.#byId.values()) exchange.forget();
    this.#byId.clear();
    this.#bytes = 0;
    this.#gaveUp = 0;
  }

  #begin(head: string, origin: Origin): Exchange {
    const id = `${this.#prefix}${(++this.#count).toString(36).padStart(6, '0')}`;
    const exchange = new Exchange(id, head, origin, (bytes) => {
      this.#grew(bytes);
    });
    this.#byId.set(id, exchange);
    this.#grew(exchange.heldBytes);
    return exchange;
  }

  #grew(bytes: number): void {
    this.#bytes += bytes;
    for (const [id, oldest] of this.#byId) {
      if (this.#bytes <= this.#bounds.bytes && this.#byId.size <= this.#bounds.exchanges) return;
      this.#byId.delete(id);
      this.#bytes -= oldest.heldBytes;
      oldest.forget();
    }
  }
}
