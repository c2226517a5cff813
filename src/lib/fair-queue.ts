interface Line<Item> {
  readonly items: Set<Item>;
  /** Stays at its place: a new iterator would walk over all that was taken before. */
  readonly next: Iterator<Item, undefined>;
}

/** Hands out items by turns between their owners, and those of one owner in the order in which they came; each is in it once. */
export class FairQueue<Item, Owner = string> {
  /** The owner whose turn is next comes first. */
  readonly #byOwner = new Map<Owner, Line<Item>>();

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  /** Number of owners that wait. */
  get owners(): number {
    return this.#byOwner.size;
  }

  push(owner: Owner, item: Item): void {
    const line = this.#byOwner.get(owner);
    if (line !== undefined) {
      line.items.add(item);
      return;
    }
    const items = new Set([item]);
    this.#byOwner.set(owner, { items, next: items.values() });
  }

  /** Returns undefined where nothing waits, or only owners that may not take one now. */
  take(mayTake: (owner: Owner) => boolean = always): Item | undefined {
    for (const [owner, line] of this.#byOwner) {
      if (!mayTake(owner)) continue;
      const { value } = line.next.next();
      this.#byOwner.delete(owner);
      // A line in the map has an item.
      line.items.delete(value as Item);
      if (line.items.size > 0) this.#byOwner.set(owner, line);
      return value;
    }
    return undefined;
  }

  delete(owner: Owner, item: Item): void {
    const items = this.#byOwner.get(owner)?.items;
    if (items?.delete(item) === true && items.size === 0) this.#byOwner.delete(owner);
  }

  clear(): void {
    this.#byOwner.clear();
  }
}

function always(): boolean {
  return true;
}
