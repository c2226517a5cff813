import { BackendSources } from './backend-sources.ts';
import { limitOf } from './bound.ts';
import type { GatewayBoundReports, GatewayBounds, UpstreamBound } from './bound.ts';
import { formatSourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';

interface AccountUse {
  inUse: number;
}

/** Counts the connections to backends, and refuses those beyond the bounds. Shared by TCP and HTTPS edges. */
export class UpstreamConnections {
  readonly bounds: GatewayBounds;
  readonly #reports: GatewayBoundReports;
  readonly #backends = new Map<string, BackendConnections>();
  readonly #accounts = new Map<string, AccountUse>();
  #open = 0;
  #closeOneIdle: () => boolean = () => false;

  constructor(bounds: GatewayBounds, reports: GatewayBoundReports) {
    this.bounds = bounds;
    this.#reports = reports;
    reports.watch('upstream_connections', limitOf(bounds, 'upstreamConnections'), () => this.#open);
    reports.watch('account_connections', limitOf(bounds, 'accountConnections'), () => mostInUse(this.#accounts));
    reports.watch('backend_connections', limitOf(bounds, 'backendConnections'), () => this.#sweep());
    reports.watch('backend_source_connections', limitOf(bounds, 'backendSourceConnections'), () =>
      this.#most(({ sources }) => sources.mostInUse()),
    );
    reports.watch('backend_queue', limitOf(bounds, 'backendQueue'), () => this.#most(({ sources }) => sources.waiting));
    reports.watch('backend_source_queue', limitOf(bounds, 'backendSourceQueue'), () =>
      this.#most(({ sources }) => sources.mostWaiting()),
    );
    reports.watch('backend_queue_seconds', bounds.backendQueueMs / 1000);
  }

  /** `closeOne` closes the idle connection of some backend, and returns false if there is none. */
  onFull(closeOne: () => boolean): void {
    this.#closeOneIdle = closeOne;
  }

  /** Must be asked for each connection: a backend without connections is forgotten. */
  backend(id: string, accountId: string): BackendConnections {
    const known = this.#backends.get(id);
    if (known !== undefined) return known;
    const account = this.#accounts.get(accountId) ?? { inUse: 0 };
    this.#accounts.set(accountId, account);
    const backend = new BackendConnections(id, account, this);
    this.#backends.set(id, backend);
    return backend;
  }

  refused(bound: UpstreamBound, backendId: string, source: SourceKey): void {
    const ofSource = bound === 'backend_source_connections' || bound === 'backend_source_queue';
    this.#reports.refused(bound, { backendId, ...(ofSource && { source: formatSourceKey(source) }) });
  }

  /** Counts a connection that is about to be opened. False if there are too many. */
  opened(): boolean {
    if (this.#open >= this.bounds.upstreamConnections && !this.#closeOneIdle()) return false;
    this.#open += 1;
    return true;
  }

  closed(): void {
    this.#open -= 1;
  }

  /** Forgets backends without connections. Returns the largest number in use of those that are left. */
  #sweep(): number {
    for (const [id, backend] of this.#backends) if (backend.isUnused) this.#backends.delete(id);
    return mostInUse(this.#backends);
  }

  #most(read: (backend: BackendConnections) => number): number {
    let most = 0;
    for (const backend of this.#backends.values()) most = Math.max(most, read(backend));
    return most;
  }
}

/** The connections to one backend, and the requests that wait for one. */
export class BackendConnections {
  inUse = 0;
  readonly sources: BackendSources;
  readonly #id: string;
  readonly #account: AccountUse;
  readonly #all: UpstreamConnections;
  #open = 0;

  constructor(id: string, account: AccountUse, all: UpstreamConnections) {
    this.#id = id;
    this.#account = account;
    this.#all = all;
    this.sources = new BackendSources(all.bounds);
  }

  get isUnused(): boolean {
    return this.#open === 0 && this.sources.waiting === 0;
  }

  /** The bound that forbids the source another connection in use, if one does. */
  refusal(source: SourceKey): UpstreamBound | undefined {
    return this.sources.mayUse(source) ? this.#refusalToAll : 'backend_source_connections';
  }

  get #refusalToAll(): UpstreamBound | undefined {
    const { backendConnections, accountConnections } = this.#all.bounds;
    if (this.inUse >= backendConnections) return 'backend_connections';
    return this.#account.inUse >= accountConnections ? 'account_connections' : undefined;
  }

  /** Takes a place for a connection that is about to be opened, or returns the bound that forbids it. */
  take(source: SourceKey): UpstreamSlot | UpstreamBound {
    const bound = this.refusal(source) ?? (this.#all.opened() ? undefined : 'upstream_connections');
    if (bound === undefined) {
      this.#open += 1;
      this.#use(source, 1);
      return new UpstreamSlot(this, source);
    }
    this.refused(bound, source);
    return bound;
  }

  refused(bound: UpstreamBound, source: SourceKey): void {
    this.#all.refused(bound, this.#id, source);
  }

  /** Calls those that wait, as long as there are free places. */
  serveQueue(): void {
    while (this.sources.hasTurn && this.#refusalToAll === undefined) this.sources.callNext();
  }

  used(source: SourceKey): void {
    this.#use(source, 1);
  }

  freed(source: SourceKey): void {
    this.#use(source, -1);
    this.serveQueue();
  }

  /** `user` is the source that used it, if one did. */
  closed(user: SourceKey | undefined): void {
    this.#open -= 1;
    this.#all.closed();
    if (user !== undefined) this.freed(user);
  }

  #use(source: SourceKey, change: 1 | -1): void {
    this.inUse += change;
    this.#account.inUse += change;
    this.sources.count(source, change);
  }
}

/** The place of one connection, from before it is opened until it is closed. */
export class UpstreamSlot {
  readonly #backend: BackendConnections;
  /** The source of the request that the connection carries, or carried last. */
  #source: SourceKey;
  #state: 'used' | 'idle' | 'closed' = 'used';

  constructor(backend: BackendConnections, source: SourceKey) {
    this.#backend = backend;
    this.#source = source;
  }

  /** The connection carries another request, of this source. */
  use(source: SourceKey): void {
    this.#state = 'used';
    this.#source = source;
    this.#backend.used(source);
  }

  /** The connection is kept without a request. Those that wait may take it before this returns. */
  free(): void {
    this.#state = 'idle';
    this.#backend.freed(this.#source);
  }

  /** May be called more than once. */
  close(): void {
    if (this.#state === 'closed') return;
    const user = this.#state === 'used' ? this.#source : undefined;
    this.#state = 'closed';
    this.#backend.closed(user);
  }
}

function mostInUse(all: ReadonlyMap<string, { readonly inUse: number }>): number {
  let most = 0;
  for (const { inUse } of all.values()) most = Math.max(most, inUse);
  return most;
}
