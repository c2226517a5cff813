/** Sets of things by key. A key of which there is nothing takes no memory. */
export class KeySets<Key, Value> {
  readonly #sets = new Map<Key, Set<Value>>();

  get isEmpty(): boolean {
    return this.#sets.size === 0;
  }

  of(key: Key): ReadonlySet<Value> | undefined {
    return this.#sets.get(key);
  }

  add(key: Key, value: Value): void {
    const set = this.#sets.get(key);
    if (set === undefined) this.#sets.set(key, new Set([value]));
    else set.add(value);
  }

  /** False: it was not there. */
  delete(key: Key, value: Value): boolean {
    const set = this.#sets.get(key);
    if (set?.delete(value) !== true) return false;
    if (set.size === 0) this.#sets.delete(key);
    return true;
  }

  /** Removes and returns all of a key. */
  take(key: Key): ReadonlySet<Value> | undefined {
    const set = this.#sets.get(key);
    this.#sets.delete(key);
    return set;
  }

  clear(): void {
    this.#sets.clear();
  }

  entries(): MapIterator<[Key, ReadonlySet<Value>]> {
    return this.#sets.entries();
  }
}
