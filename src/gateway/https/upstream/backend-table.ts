import type { BackendEntry, SetAside, SnapshotUpdate } from '../../../snapshot/contract.ts';
import { backendsOf } from '../../../snapshot/set-aside.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamPool } from './pool.ts';
import type { PoolOptions } from './pool.ts';

/** The backends by id, each with a pool of connections once it is used. */
export class BackendTable {
  readonly #options: PoolOptions;
  readonly #watch: IdleWatch;
  #entries = new Map<string, BackendEntry>();
  readonly #pools = new Map<string, UpstreamPool>();

  constructor(options: PoolOptions, watch: IdleWatch) {
    this.#options = options;
    this.#watch = watch;
    options.upstreams.onFull(() => this.#closeOneIdle());
  }

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const { set, removed } = backendsOf(update, setAside);
    return () => {
      if (update.full) this.#keepOnly(new Set(set.map(({ id }) => id)));
      for (const id of removed) this.#remove(id);
      for (const entry of set) this.#set(entry);
    };
  }

  /** `accountId` owns the backend. */
  pool(id: string, accountId: string): UpstreamPool | undefined {
    const known = this.#pools.get(id);
    if (known !== undefined) return known;
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    const pool = new UpstreamPool(entry, accountId, this.#options, this.#watch);
    this.#pools.set(id, pool);
    return pool;
  }

  /** Keeps no connection for another request. */
  retire(): void {
    for (const pool of this.#pools.values()) pool.retire();
  }

  #closeOneIdle(): boolean {
    for (const pool of this.#pools.values()) if (pool.closeOneIdle()) return true;
    return false;
  }

  #set(entry: BackendEntry): void {
    const old = this.#entries.get(entry.id);
    const same = old?.host === entry.host && old.port === entry.port && old.tls === entry.tls;
    if (!same) this.#remove(entry.id);
    this.#entries.set(entry.id, entry);
  }

  #keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#entries.keys()) if (!ids.has(id)) this.#remove(id);
  }

  #remove(id: string): void {
    this.#entries.delete(id);
    this.#pools.get(id)?.retire();
    this.#pools.delete(id);
  }
}
