import type { GatewayBounds, UpstreamBound } from './bound.ts';
import { proxiesKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import { KeyCounts } from '../../lib/key-counts.ts';
import { KeySets } from '../../lib/key-sets.ts';

/**
 * The connections to one backend that are in use, and the requests that wait for one, by source. Sources have their turns
 * one after another; requests of one source are served in the order they came.
 */
export class BackendSources {
  readonly #bounds: GatewayBounds;
  /** Only sources with a connection in use. */
  readonly #inUse = new KeyCounts<SourceKey>();
  /** Only sources with a request that waits. */
  readonly #queues = new KeySets<SourceKey, () => void>();
  /** Sources that wait and are below their bound, in the order of their turns. */
  readonly #ready = new Set<SourceKey>();
  #waiting = 0;

  constructor(bounds: GatewayBounds) {
    this.#bounds = bounds;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** True if a request waits whose source may have another connection. */
  get hasTurn(): boolean {
    return this.#ready.size > 0;
  }

  mayUse(source: SourceKey): boolean {
    return source === proxiesKey || this.#inUse.of(source) < this.#bounds.backendSourceConnections;
  }

  count(source: SourceKey, change: 1 | -1): void {
    this.#inUse.add(source, change);
    if (this.#waiting > 0) this.#lineUp(source);
  }

  /** Returns the bound that forbids it, if too many wait already. `turn` is called once, unless it leaves before. */
  enqueue(source: SourceKey, turn: () => void): UpstreamBound | undefined {
    const { backendQueue, backendSourceQueue } = this.#bounds;
    if (this.#waiting >= backendQueue) return 'backend_queue';
    const waiting = this.#queues.of(source)?.size ?? 0;
    if (source !== proxiesKey && waiting >= backendSourceQueue) return 'backend_source_queue';
    this.#queues.add(source, turn);
    this.#waiting += 1;
    this.#lineUp(source);
    return undefined;
  }

  leaveQueue(source: SourceKey, turn: () => void): void {
    if (!this.#queues.delete(source, turn)) return;
    this.#waiting -= 1;
    this.#lineUp(source);
  }

  /** Calls the first request of the source whose turn it is. */
  callNext(): void {
    const [source] = this.#ready;
    if (source === undefined) return;
    const [turn] = this.#queues.of(source) ?? [];
    // Behind the others, if more of its requests wait.
    this.#ready.delete(source);
    if (turn === undefined) return;
    this.leaveQueue(source, turn);
    turn();
  }

  /** The largest number of connections in use by one source. */
  mostInUse(): number {
    return this.#inUse.most(proxiesKey);
  }

  /** The largest number of requests of one source that wait. */
  mostWaiting(): number {
    let most = 0;
    for (const [source, { size }] of this.#queues.entries()) if (source !== proxiesKey) most = Math.max(most, size);
    return most;
  }

  /** Must follow every change of a source. One that is in line already keeps its place. */
  #lineUp(source: SourceKey): void {
    if (this.#queues.of(source) !== undefined && this.mayUse(source)) this.#ready.add(source);
    else this.#ready.delete(source);
  }
}
