/**
 * A map that forgets what was not used longest. A value read from elsewhere while an entry was being dropped may be
 * older than the drop: take a `ticket` before reading and hand it to `fill`.
 */
export class BoundedCache<Key, Value> {
  readonly #limit: number;
  readonly #entries = new Map<Key, Value>();
  #drops = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    // Only a cache that is near its limit needs an order of use.
    if (value !== undefined && this.#entries.size * 2 > this.#limit) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  ticket(): number {
    return this.#drops;
  }

  /** Keeps the value unless something was dropped since the ticket was taken. */
  fill(ticket: number, key: Key, value: Value): void {
    if (ticket === this.#drops) this.#set(key, value);
  }

  drop(key: Key): void {
    this.#drops += 1;
    this.#entries.delete(key);
  }

  clear(): void {
    this.#drops += 1;
    this.#entries.clear();
  }

  #set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
