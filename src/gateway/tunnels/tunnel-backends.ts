import type { SnapshotFollower, SnapshotUpdate, TunnelBackendEntry } from '../../snapshot/contract.ts';
import type { AgentWaiter, AgentWaits, Waiting } from '../bounds/agent-waits.ts';
import type { TunnelDialer } from './dialer.ts';
import { TunnelBackend } from './tunnel-backend.ts';

/** Pause before an agent that is connected, but could not be reached, is tried again: nobody tells when it can be. */
const retryMs = 250;

/** The backends that are reached through agents. Shared by the fronts of an engine, and must swap before they do. */
export class TunnelBackends implements SnapshotFollower {
  readonly #dialer: TunnelDialer;
  readonly #waits: AgentWaits;
  readonly #connectMs: number;
  #backends = new Map<string, TunnelBackend>();

  constructor(dialer: TunnelDialer, waits: AgentWaits, connectMs: number) {
    this.#dialer = dialer;
    this.#waits = waits;
    this.#connectMs = connectMs;
  }

  /** Time that a visitor may wait for an agent. */
  get waitMs(): number {
    return this.#waits.limitMs;
  }

  /** Another object than before once connections that were kept must not be used any more. */
  find(id: string | undefined): TunnelBackend | undefined {
    return id === undefined ? undefined : this.#backends.get(id);
  }

  /** Lets a visitor wait who found no way through the backend, if an agent is expected. */
  wait(backend: TunnelBackend, waiter: AgentWaiter): Waiting {
    const isReplaced = this.find(backend.id) !== backend;
    if (!isReplaced && !backend.isExpected) return 'late';
    const waiting = this.#waits.enter(backend.id, waiter, backend.hasTunnels ? retryMs : Infinity);
    // The backend was replaced before the visitor came here, and that does not happen again by itself.
    if (isReplaced) this.#waits.wake(backend.id);
    return waiting;
  }

  prepare(update: SnapshotUpdate): () => void {
    const set = update.set.filter((entry) => entry.kind === 'tunnel_backend');
    const removed = update.removed.filter(({ kind }) => kind === 'tunnel_backend');
    return () => {
      const known = this.#backends;
      if (update.full) this.#backends = new Map();
      for (const { id } of removed) this.#backends.delete(id);
      for (const entry of set) this.#set(entry, known.get(entry.id));
      if (update.full) this.#waits.wakeAll();
      else for (const { id } of [...removed, ...set]) this.#waits.wake(id);
    };
  }

  #set(entry: TunnelBackendEntry, known: TunnelBackend | undefined): void {
    const stays = known?.follow(entry) === true;
    this.#backends.set(entry.id, stays ? known : new TunnelBackend(entry, this.#dialer, this.#connectMs));
  }
}
