import type { GatewayBounds, UpstreamBound } from './bound.ts';
import type { BoundReports } from './bound-reports.ts';

interface AccountUse {
  inUse: number;
}

/** Counts the connections to backends, and refuses those beyond the bounds. Shared by TCP and HTTPS edges. */
export class UpstreamConnections {
  readonly bounds: GatewayBounds;
  readonly #reports: BoundReports;
  readonly #backends = new Map<string, BackendConnections>();
  readonly #accounts = new Map<string, AccountUse>();
  #open = 0;
  #closeOneIdle: () => boolean = () => false;

  constructor(bounds: GatewayBounds, reports: BoundReports) {
    this.bounds = bounds;
    this.#reports = reports;
    reports.watch('upstream_connections', bounds.upstreamConnections, () => this.#open);
    reports.watch('account_connections', bounds.accountConnections, () => mostInUse(this.#accounts));
    reports.watch('backend_connections', bounds.backendConnections, () => this.#sweep());
    reports.watch('backend_queue', bounds.backendQueue, () => this.#longestQueue());
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

  refused(bound: UpstreamBound, backendId: string): void {
    this.#reports.refused(bound, { backendId });
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

  #longestQueue(): number {
    let longest = 0;
    for (const { waiting } of this.#backends.values()) longest = Math.max(longest, waiting);
    return longest;
  }
}

/** The connections to one backend, and the requests that wait for one, first come, first served. */
export class BackendConnections {
  inUse = 0;
  readonly #id: string;
  readonly #account: AccountUse;
  readonly #all: UpstreamConnections;
  readonly #queue = new Set<() => void>();
  #open = 0;

  constructor(id: string, account: AccountUse, all: UpstreamConnections) {
    this.#id = id;
    this.#account = account;
    this.#all = all;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  get isUnused(): boolean {
    return this.#open === 0 && this.#queue.size === 0;
  }

  /** The bound that forbids another connection in use, if one does. */
  get refusal(): UpstreamBound | undefined {
    const { backendConnections, accountConnections } = this.#all.bounds;
    if (this.inUse >= backendConnections) return 'backend_connections';
    return this.#account.inUse >= accountConnections ? 'account_connections' : undefined;
  }

  /** Takes a place for a connection that is about to be opened, or returns the bound that forbids it. */
  take(): UpstreamSlot | UpstreamBound {
    const bound = this.refusal ?? (this.#all.opened() ? undefined : 'upstream_connections');
    if (bound === undefined) {
      this.#open += 1;
      this.#use(1);
      return new UpstreamSlot(this);
    }
    this.refused(bound);
    return bound;
  }

  refused(bound: UpstreamBound): void {
    this.#all.refused(bound, this.#id);
  }

  /** Returns false if too many wait already. `turn` is called once, when a place is free. */
  enqueue(turn: () => void): boolean {
    if (this.#queue.size >= this.#all.bounds.backendQueue) return false;
    this.#queue.add(turn);
    return true;
  }

  leaveQueue(turn: () => void): void {
    this.#queue.delete(turn);
  }

  /** Calls those that wait, as long as there are free places. */
  serveQueue(): void {
    for (const turn of this.#queue) {
      if (this.refusal !== undefined) return;
      this.#queue.delete(turn);
      turn();
    }
  }

  used(): void {
    this.#use(1);
  }

  freed(): void {
    this.#use(-1);
    this.serveQueue();
  }

  closed(wasInUse: boolean): void {
    this.#open -= 1;
    this.#all.closed();
    if (wasInUse) this.freed();
  }

  #use(change: 1 | -1): void {
    this.inUse += change;
    this.#account.inUse += change;
  }
}

/** The place of one connection, from before it is opened until it is closed. */
export class UpstreamSlot {
  readonly #backend: BackendConnections;
  #state: 'used' | 'idle' | 'closed' = 'used';

  constructor(backend: BackendConnections) {
    this.#backend = backend;
  }

  /** The connection carries another request. */
  use(): void {
    this.#state = 'used';
    this.#backend.used();
  }

  /** The connection is kept without a request. Those that wait may take it before this returns. */
  free(): void {
    this.#state = 'idle';
    this.#backend.freed();
  }

  /** May be called more than once. */
  close(): void {
    if (this.#state === 'closed') return;
    const wasInUse = this.#state === 'used';
    this.#state = 'closed';
    this.#backend.closed(wasInUse);
  }
}

function mostInUse(all: ReadonlyMap<string, { readonly inUse: number }>): number {
  let most = 0;
  for (const { inUse } of all.values()) most = Math.max(most, inUse);
  return most;
}
