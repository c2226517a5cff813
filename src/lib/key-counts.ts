/** Counts of things by key. A key of which there is nothing takes no memory. */
export class KeyCounts<Key> {
  readonly #counts = new Map<Key, number>();

  /** Keys of which there is something. */
  get size(): number {
    return this.#counts.size;
  }

  of(key: Key): number {
    return this.#counts.get(key) ?? 0;
  }

  add(key: Key, by: number): void {
    const count = this.of(key) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }

  /** The largest count, but that of one key. */
  most(except?: Key): number {
    let most = 0;
    for (const [key, count] of this.#counts) if (key !== except) most = Math.max(most, count);
    return most;
  }

  entries(): Iterable<readonly [Key, number]> {
    return this.#counts;
  }
}
