import type { BackendEntry, EntryKey, SetAside, SnapshotUpdate } from '../../../snapshot/contract.ts';
import { backendsOf } from '../../../snapshot/set-aside.ts';
import type { ChoiceFacts } from '../../health/backend-addresses.ts';
import type { HealthTable } from '../../health/health-table.ts';
import type { Target } from '../../health/target.ts';
import { TunnelBackend } from '../../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../../tunnels/tunnel-backends.ts';
import { BackendGroups } from '../../upstream/backend-groups.ts';
import type { ConnectUpstream } from '../../upstream/connect.ts';
import { FixedAnswer } from '../../upstream/fixed-answer.ts';
import { SocketSource } from '../../upstream/socket-source.ts';
import type { UpstreamSource } from '../../upstream/upstream-source.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { AddressAttempt } from './address-attempt.ts';
import { UpstreamPool } from './pool.ts';
import type { PoolOptions } from './pool.ts';

export interface BackendTableOptions extends PoolOptions {
  readonly connectMs: number;
  readonly connect: ConnectUpstream;
  /** Must swap before the table does. */
  readonly tunnels: TunnelBackends;
  /** Must swap before the table does. */
  readonly health: HealthTable;
}

/** Where a request goes. */
export interface ChosenPool {
  readonly pool: UpstreamPool;
  /** Undefined where the backend has one address that nobody watches. */
  readonly attempt: AddressAttempt | undefined;
}

/** The backends by id, each with a pool of connections once it is used. */
export class BackendTable {
  readonly #options: BackendTableOptions;
  readonly #watch: IdleWatch;
  readonly groups: BackendGroups;
  #entries = new Map<string, BackendEntry>();
  readonly #pools = new Map<string, UpstreamPool>();
  /** Pools of backends with several addresses, by backend and address. */
  readonly #targets = new Map<string, Map<Target, UpstreamPool>>();

  constructor(options: BackendTableOptions, watch: IdleWatch) {
    this.#options = options;
    this.#watch = watch;
    this.groups = new BackendGroups((id) => options.health.isDown(id));
    options.upstreams.onFull(() => this.#closeOneIdle());
  }

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const { set, removed } = backendsOf(update, setAside);
    const swapGroups = this.groups.prepare(update);
    return () => {
      swapGroups();
      this.#followAnswers();
      if (update.full) this.#keepOnly(new Set(set.map(({ id }) => id)));
      for (const id of removed) this.#remove(id);
      for (const entry of set) this.#set(entry);
      this.#followTunnels(update);
      this.#followAddresses();
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

  /** As `pool`, also for backends with several addresses. `facts` is asked for these only. */
  choose(id: string, accountId: string, facts: ChoiceFacts): ChosenPool | undefined {
    const pool = this.pool(id, accountId);
    if (pool !== undefined) return { pool, attempt: undefined };
    const { health } = this.#options;
    const addresses = health.find(id);
    if (addresses === undefined) return undefined;
    const poolOf = (target: Target): UpstreamPool => this.#targetPool(target, accountId);
    const attempt = new AddressAttempt({ addresses, facts, health, poolOf });
    const first = attempt.next();
    return first && { pool: first, attempt };
  }

  /** True: it has several addresses, or is watched. */
  hasAddresses(id: string): boolean {
    return this.#options.health.find(id) !== undefined;
  }

  /** A pool of the first of these that has one, and those behind it. */
  chooseFirst(
    ids: readonly string[],
    accountId: string,
    facts: ChoiceFacts,
  ): (ChosenPool & { readonly others: readonly string[] }) | undefined {
    for (const [at, id] of ids.entries()) {
      const chosen = this.choose(id, accountId, facts);
      if (chosen !== undefined) return { ...chosen, others: ids.slice(at + 1) };
    }
    return undefined;
  }

  /** Keeps no connection for another request. */
  retire(): void {
    for (const pool of this.#allPools()) pool.retire();
  }

  #source(id: string): UpstreamSource | undefined {
    const { connect, connectMs, tunnels } = this.#options;
    const entry = this.#entries.get(id);
    if (entry !== undefined)
      return entry.balance === undefined ? new SocketSource(entry, connect, connectMs) : undefined;
    return this.groups.answer(id) ?? tunnels.find(id);
  }

  /** Drops the pools of agents that have changed so that kept connections may lead to another place. */
  #followTunnels({ full, set, removed }: SnapshotUpdate): void {
    const ids = full ? [...this.#pools.keys()] : [...set, ...removed].flatMap(tunnelBackendId);
    for (const id of ids) {
      const source = this.#pools.get(id)?.source;
      if (source instanceof TunnelBackend && source !== this.#options.tunnels.find(id)) this.#remove(id);
    }
  }

  /** Drops the pools of answers, of which any may be another one now; they keep no connections. */
  #followAnswers(): void {
    for (const [id, pool] of this.#pools) if (pool.source instanceof FixedAnswer) this.#pools.delete(id);
  }

  #closeOneIdle(): boolean {
    for (const pool of this.#allPools()) if (pool.closeOneIdle()) return true;
    return false;
  }

  *#allPools(): Generator<UpstreamPool> {
    yield* this.#pools.values();
    for (const pools of this.#targets.values()) yield* pools.values();
  }

  #targetPool(target: Target, accountId: string): UpstreamPool {
    let pools = this.#targets.get(target.id);
    if (pools === undefined) this.#targets.set(target.id, (pools = new Map()));
    const known = pools.get(target);
    if (known !== undefined) return known;
    const { connect, connectMs } = this.#options;
    const pool = new UpstreamPool(new SocketSource(target, connect, connectMs), accountId, this.#options, this.#watch);
    pools.set(target, pool);
    return pool;
  }

  /** Drops the pools of addresses that are gone. */
  #followAddresses(): void {
    for (const [id, pools] of this.#targets) {
      const addresses = this.#options.health.find(id)?.all ?? [];
      for (const [target, pool] of pools) {
        if (addresses.includes(target)) continue;
        pool.retire();
        pools.delete(target);
      }
      if (pools.size === 0) this.#targets.delete(id);
    }
  }

  #set(entry: BackendEntry): void {
    const old = this.#entries.get(entry.id);
    const same = old?.host === entry.host && old.port === entry.port && old.tls === entry.tls;
    if (!same || entry.balance !== undefined) this.#remove(entry.id);
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
