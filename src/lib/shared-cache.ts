interface Kept<Value> {
  readonly value: Value;
  readonly weight: number;
}

interface Owned<Value> {
  /** In the order in which they were set. */
  readonly values: Map<string, Kept<Value>>;
  weight: number;
}

/** The part of the limit that is made free at once where another owner loses values, so that this is seldom looked for. */
const freedPart = 1 / 32;

/**
 * A map with a limit that several owners share. When it is full, an owner with more than an equal share loses what was set
 * longest ago: nobody can push out the values of an owner that keeps to its share.
 */
export class SharedCache<Value> {
  readonly #limit: number;
  readonly #byOwner = new Map<string, Owned<Value>>();
  #weight = 0;

  /** `limit`: the weight of all values together. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(owner: string, key: string): Value | undefined {
    return this.#byOwner.get(owner)?.values.get(key)?.value;
  }

  set(owner: string, key: string, value: Value, weight = 1): void {
    this.delete(owner, key);
    let owned = this.#byOwner.get(owner);
    if (owned === undefined) this.#byOwner.set(owner, (owned = { values: new Map(), weight: 0 }));
    owned.values.set(key, { value, weight });
    owned.weight += weight;
    this.#weight += weight;
    while (this.#weight > this.#limit) this.#makeRoom(owner, owned);
  }

  delete(owner: string, key: string): void {
    const owned = this.#byOwner.get(owner);
    const kept = owned?.values.get(key);
    if (owned === undefined || kept === undefined) return;
    owned.values.delete(key);
    owned.weight -= kept.weight;
    this.#weight -= kept.weight;
    if (owned.values.size === 0) this.#byOwner.delete(owner);
  }

  *keys(): IterableIterator<readonly [owner: string, key: string]> {
    for (const [owner, { values }] of this.#byOwner) for (const key of values.keys()) yield [owner, key];
  }

  #makeRoom(owner: string, owned: Owned<Value>): void {
    const share = this.#limit / this.#byOwner.size;
    const isOwn = owned.weight > share;
    const [loser, { values }] = isOwn ? [owner, owned] : this.#largest(owner, owned);
    const goal = isOwn ? this.#limit : this.#limit * (1 - freedPart);
    for (const key of values.keys()) {
      this.delete(loser, key);
      if (this.#weight <= goal || (this.#byOwner.get(loser)?.weight ?? 0) <= share) return;
    }
  }

  #largest(owner: string, owned: Owned<Value>): readonly [string, Owned<Value>] {
    let found: readonly [string, Owned<Value>] = [owner, owned];
    for (const each of this.#byOwner) if (each[1].weight > found[1].weight) found = each;
    return found;
  }
}
