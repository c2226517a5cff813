/** Hands out items by turns between their owners, and those of one owner in the order in which they came. */
export class FairQueue<Item> {
  /** The owner whose turn is next comes first. */
  readonly #byOwner = new Map<string, Item[]>();

  get isEmpty(): boolean {
    return this.#byOwner.size === 0;
  }

  push(owner: string, item: Item): void {
    const items = this.#byOwner.get(owner);
    if (items === undefined) this.#byOwner.set(owner, [item]);
    else items.push(item);
  }

  take(): Item | undefined {
    for (const [owner, items] of this.#byOwner) {
      const item = items.shift();
      this.#byOwner.delete(owner);
      if (items.length > 0) this.#byOwner.set(owner, items);
      return item;
    }
    return undefined;
  }
}
