import { keyOf } from './contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from './contract.ts';

/** The entries in force that come of observations, as far as they are such. A restart makes them stale, so that no file keeps them. */
export class Observations {
  readonly #entries = new Map<string, SnapshotEntry>();

  follow({ full, set, removed }: SnapshotUpdate): void {
    if (full) this.#entries.clear();
    for (const entry of set)
      if (isObserved(entry) || hasTunnels(entry)) this.#entries.set(keyOf(entry), entry);
      else if (this.#entries.size > 0) this.#entries.delete(keyOf(entry));
    if (this.#entries.size > 0) for (const key of removed) this.#entries.delete(keyOf(key));
  }

  /** The update, with these entries as they are. */
  addTo(update: SnapshotUpdate): SnapshotUpdate {
    const entries = this.#entries;
    if (entries.size === 0) return update;
    const isOther = (key: EntryKey) => !entries.has(keyOf(key));
    const set = [...update.set.filter(isOther), ...entries.values()];
    return { ...update, set, removed: update.removed.filter(isOther) };
  }
}

/** What of an update lasts. Tunnels are gone after a restart; a backend that was configured stays, and has none until agents are back. */
export function lastingPart(update: SnapshotUpdate): SnapshotUpdate {
  if (!update.set.some((entry) => hasTunnels(entry) || isObserved(entry))) return update;
  const set = update.set
    .filter((entry) => !isObserved(entry))
    .map((entry) => (hasTunnels(entry) ? { ...entry, tunnels: [] } : entry));
  // One that lasted may have become one that does not.
  return { ...update, set, removed: [...update.removed, ...update.set.filter(isObserved)] };
}

function isObserved(entry: SnapshotEntry): boolean {
  return 'observed' in entry && entry.observed;
}

function hasTunnels(entry: SnapshotEntry): boolean {
  return entry.kind === 'tunnel_backend' && entry.tunnels.length > 0;
}
