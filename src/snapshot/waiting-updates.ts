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
    const update = { ...this.#last, full: false, ...asLists(this.#others) };
    this.#clear();
    return update;
  }

  /** All of them together, as one, which follows `before`. */
  all(before: SnapshotUpdate | undefined): SnapshotUpdate | undefined {
    const last = this.#last ?? this.#first ?? before;
    if (last === undefined) return undefined;
    let full = false;
    const changes = new Map<string, Change>();
    for (const update of [before, this.#first]) {
      if (update === undefined) continue;
      if (update.full) {
        changes.clear();
        full = true;
      }
      follow(changes, update);
    }
    for (const [key, change] of this.#others) changes.set(key, change);
    const { version, mark } = last;
    return { version, ...(mark !== undefined && { mark }), full, ...asLists(changes) };
  }

  #addOther({ version, mark, set, removed }: SnapshotUpdate): void {
    follow(this.#others, { set, removed });
    this.#last = { version, ...(mark !== undefined && { mark }) };
  }

  #clear(): void {
    this.#first = undefined;
    this.#others = new Map();
    this.#last = undefined;
  }
}

function follow(changes: Map<string, Change>, { set, removed }: Pick<SnapshotUpdate, 'set' | 'removed'>): void {
  for (const entry of set) changes.set(keyOf(entry), { entry });
  for (const key of removed) changes.set(keyOf(key), { removed: key });
}

function asLists(changes: ReadonlyMap<string, Change>): Pick<SnapshotUpdate, 'set' | 'removed'> {
  const set: SnapshotEntry[] = [];
  const removed: EntryKey[] = [];
  for (const change of changes.values())
    if ('entry' in change) set.push(change.entry);
    else removed.push(change.removed);
  return { set, removed };
}

type Change = { readonly entry: SnapshotEntry } | { readonly removed: EntryKey };
