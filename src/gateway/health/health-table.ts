import type { SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import { BackendAddresses } from './backend-addresses.ts';
import type { AddressState, HealthNote } from './health-board.ts';
import type { Target } from './target.ts';

/** The backends with several addresses or checks, as the traffic of this process sees them. */
export class HealthTable implements SnapshotFollower {
  readonly #report: (note: HealthNote) => void;
  readonly #now: () => number;
  readonly #backends = new Map<string, BackendAddresses>();

  constructor(report: (note: HealthNote) => void, now: () => number = () => performance.now()) {
    this.#report = report;
    this.#now = now;
  }

  find(id: string): BackendAddresses | undefined {
    return this.#backends.get(id);
  }

  /** True: it is known that no address of the backend answers. */
  isDown(id: string): boolean {
    return this.#backends.get(id)?.isDown === true;
  }

  *all(): Generator<BackendAddresses> {
    yield* this.#backends.values();
  }

  set(states: readonly AddressState[]): void {
    for (const state of states) this.#backends.get(state.backendId)?.set(state);
  }

  failed(target: Target, cause: string): void {
    target.isFailing = true;
    this.#report({ from: 'traffic', backendId: target.id, address: target.address, ok: false, cause });
  }

  answered(target: Target): void {
    if (!target.isFailing) return;
    target.isFailing = false;
    this.#report({ from: 'traffic', backendId: target.id, address: target.address, ok: true });
  }

  prepare(update: SnapshotUpdate): () => void {
    return () => {
      if (update.full) {
        const coming = new Set(update.set.flatMap((entry) => (entry.kind === 'backend' ? [entry.id] : [])));
        for (const id of this.#backends.keys()) if (!coming.has(id)) this.#backends.delete(id);
      }
      for (const { kind, id } of update.removed) if (kind === 'backend') this.#backends.delete(id);
      for (const entry of update.set) {
        if (entry.kind !== 'backend') continue;
        const { balance } = entry;
        if (balance === undefined || entry.fault !== undefined) this.#backends.delete(entry.id);
        else
          this.#backends.set(entry.id, new BackendAddresses(entry, balance, this.#backends.get(entry.id), this.#now));
      }
    };
  }
}
