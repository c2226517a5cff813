import { keyOf } from './contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from './contract.ts';

/**
 * Updates that wait for one another: the first as it came, which may name everything, and all others as one. Another one
 * costs as much as what it changes.
 */
export class WaitingUpdates {
  #first: SnapshotUpdate | undefined;
  #others = new Map<string, Change>();
  #last: Pick<SnapshotUpdate, 'version' | 'mark'> | undefined;

  /** Takes an update that comes after all others. */
  add(update: SnapshotUpdate): void {
    if (update.full) this.#clear();
    if (update.full || (this.#first === undefined && this.#last === undefined)) this.#first = update;
    else this.#addOther(update);
  }

  /** Puts an update back that was taken before the others came. */
  putBack(update: SnapshotUpdate): void {
    const came = this.#first;
    if (came?.full === true) return;
    this.#first = update;
    if (came === undefined) return;
    const [newer, last] = [this.#others, this.#last];
    this.#others = new Map();
    this.#addOther(came);
    for (const [key, change] of newer) this.#others.set(key, change);
    this.#last = last ?? this.#last;
  }

  /** Takes the first, or all that there are besides. */
  take(): SnapshotUpdate | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) return first;
    if (this.#last === undefined) return undefined;
    const set: SnapshotEntry[] = [];
    const removed: EntryKey[] = [];
    for (const change of this.#others.values())
      if ('entry' in change) set.push(change.entry);
      else removed.push(change.removed);
    const update = { ...this.#last, full: false, set, removed };
    this.#clear();
    return update;
  }

  #addOther({ version, mark, set, removed }: SnapshotUpdate): void {
    for (const entry of set) this.#others.set(keyOf(entry), { entry });
    for (const key of removed) this.#others.set(keyOf(key), { removed: key });
    this.#last = { version, ...(mark !== undefined && { mark }) };
  }

  #clear(): void {
    this.#first = undefined;
    this.#others = new Map();
    this.#last = undefined;
  }
}

type Change = { readonly entry: SnapshotEntry } | { readonly removed: EntryKey };
