/** Ticks of a clock, and what is due at each of them. */
export class CheckCalendar<Item extends { dueTick: number }> {
  readonly #byTick = new Map<number, Set<Item>>();

  get isEmpty(): boolean {
    return this.#byTick.size === 0;
  }

  add(item: Item, tick: number): void {
    item.dueTick = tick;
    const due = this.#byTick.get(tick);
    if (due === undefined) this.#byTick.set(tick, new Set([item]));
    else due.add(item);
  }

  delete(item: Item): void {
    const due = this.#byTick.get(item.dueTick);
    if (due?.delete(item) === true && due.size === 0) this.#byTick.delete(item.dueTick);
  }

  /** Removes all that is due at the tick. */
  take(tick: number): Iterable<Item> {
    const due = this.#byTick.get(tick) ?? [];
    this.#byTick.delete(tick);
    return due;
  }

  clear(): void {
    this.#byTick.clear();
  }
}
