import { keyOf } from './contract.ts';
import type { BackendEntry, EntryKey, SetAside, SnapshotUpdate } from './contract.ts';

/** An entry that cannot be loaded, with the reason, or one that can be again or is gone (undefined). */
export interface EntryFault extends EntryKey {
  readonly cause: Error | undefined;
}

/** The faults that the followers found while they prepared one update. */
export interface FaultsOfUpdate {
  readonly setAside: SetAside;
  /** Reports them; to be called when the update is in force. */
  commit(): void;
}

/** Keeps track of the entries that followers have set aside, and reports each that comes and goes. */
export class SetAsideEntries {
  readonly #report: (event: EntryFault) => void;
  readonly #known = new Map<string, EntryKey>();

  constructor(report: (event: EntryFault) => void) {
    this.#report = report;
  }

  begin(update: SnapshotUpdate): FaultsOfUpdate {
    const found = new Map<string, EntryFault>();
    return {
      setAside: ({ kind, id }, reason) => {
        const cause = reason instanceof Error ? reason : new Error(String(reason));
        found.set(keyOf({ kind, id }), { kind, id, cause });
      },
      commit: () => {
        this.#commit(update, found);
      },
    };
  }

  #commit({ full, set, removed }: SnapshotUpdate, found: ReadonlyMap<string, EntryFault>): void {
    if (this.#known.size > 0) {
      const touched = full ? [...this.#known.keys()] : [...set, ...removed].map(keyOf);
      for (const key of touched) if (!found.has(key)) this.#forget(key);
    }
    for (const [key, fault] of found) {
      this.#known.set(key, fault);
      this.#report(fault);
    }
  }

  #forget(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    this.#report({ kind: known.kind, id: known.id, cause: undefined });
  }
}

/** The backends that an update sets. One that could not be compiled is gone: nothing is sent to where it led before. */
export function backendsOf(
  update: SnapshotUpdate,
  setAside: SetAside,
): { readonly set: readonly BackendEntry[]; readonly removed: readonly string[] } {
  const set: BackendEntry[] = [];
  const removed = update.removed.flatMap(({ kind, id }) => (kind === 'backend' ? [id] : []));
  for (const entry of update.set) {
    if (entry.kind !== 'backend') continue;
    if (entry.fault === undefined) {
      set.push(entry);
      continue;
    }
    setAside(entry, new Error(entry.fault));
    removed.push(entry.id);
  }
  return { set, removed };
}
