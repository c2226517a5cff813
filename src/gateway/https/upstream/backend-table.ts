import type { BackendEntry, EntryKey, SetAside, SnapshotUpdate } from '../../../snapshot/contract.ts';
import { backendsOf } from '../../../snapshot/set-aside.ts';
import type { TunnelBackends } from '../../tunnels/tunnel-backends.ts';
import type { ConnectUpstream } from '../../upstream/connect.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamPool } from './pool.ts';
import type { PoolOptions } from './pool.ts';
import { SocketSource } from './socket-source.ts';
import { TunnelSource } from './tunnel-source.ts';
import type { UpstreamSource } from './upstream-source.ts';

export interface BackendTableOptions extends PoolOptions {
  readonly connectMs: number;
  readonly connect: ConnectUpstream;
  /** Must swap before the table does. */
  readonly tunnels: TunnelBackends;
}

/** The backends by id, each with a pool of connections once it is used. */
export class BackendTable {
  readonly #options: BackendTableOptions;
  readonly #watch: IdleWatch;
  #entries = new Map<string, BackendEntry>();
  readonly #pools = new Map<string, UpstreamPool>();

  constructor(options: BackendTableOptions, watch: IdleWatch) {
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
      this.#followTunnels(update);
    };
  }

  /** `accountId` owns the backend. */
  pool(id: string, accountId: string): UpstreamPool | undefined {
    const known = this.#pools.get(id);
    if (known !== undefined) return known;
    const source = this.#source(id);
    if (source === undefined) return undefined;
    const pool = new UpstreamPool(source, accountId, this.#options, this.#watch);
    this.#pools.set(id, pool);
    return pool;
  }

  /** Keeps no connection for another request. */
  retire(): void {
    for (const pool of this.#pools.values()) pool.retire();
  }

  #source(id: string): UpstreamSource | undefined {
    const { connect, connectMs, tunnels } = this.#options;
    const entry = this.#entries.get(id);
    if (entry !== undefined) return new SocketSource(entry, connect, connectMs);
    const backend = tunnels.find(id);
    return backend && new TunnelSource(backend, connectMs);
  }

  /** Drops the pools of agents that have changed so that kept connections may lead to another place. */
  #followTunnels({ full, set, removed }: SnapshotUpdate): void {
    const ids = full ? [...this.#pools.keys()] : [...set, ...removed].flatMap(tunnelBackendId);
    for (const id of ids) {
      const source = this.#pools.get(id)?.source;
      if (source instanceof TunnelSource && source.backend !== this.#options.tunnels.find(id)) this.#remove(id);
    }
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

function tunnelBackendId({ kind, id }: EntryKey): readonly string[] {
  return kind === 'tunnel_backend' ? [id] : [];
}
