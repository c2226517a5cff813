/**
 * A map with a limit that drops the entries used least recently; the ones used last, up to half of the limit, are always
 * kept. A value that is read from elsewhere while an entry is being dropped may be older than the drop: take a `ticket`
 * before reading and pass it to `fill`.
 */
export class BoundedCache<Key, Value> {
  readonly #half: number;
  // Two generations. In one map in order of use, the search for the oldest entry would pass all the gaps that deletions
  // leave.
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #drops = 0;

  constructor(limit: number) {
    this.#half = Math.ceil(limit / 2);
  }

  get(key: Key): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined || this.#old.size === 0) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  ticket(): number {
    return this.#drops;
  }

  /** Keeps the value unless something was dropped since the ticket was taken. */
  fill(ticket: number, key: Key, value: Value): void {
    if (ticket === this.#drops) this.set(key, value);
  }

  /** Keeps a value that no drop makes old. */
  set(key: Key, value: Value): void {
    this.#old.delete(key);
    this.#young.set(key, value);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  drop(key: Key): void {
    this.#drops += 1;
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#drops += 1;
    this.#young.clear();
    this.#old.clear();
  }
}
