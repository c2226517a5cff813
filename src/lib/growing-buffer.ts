/** Bytes of the first buffer, unless the first piece is larger. */
const firstCapacity = 512;

/**
 * Joins pieces as they come. Each is copied, so that a piece costs its bytes and no more, however small it is: a list of
 * pieces takes some 200 bytes for each. The buffer doubles when it is full, so that `capacity` is what it costs.
 */
export class GrowingBuffer {
  readonly #mostBytes: number;
  #buffer = Buffer.alloc(0);
  #length = 0;

  /** The buffer never gets larger than `mostBytes`, unless what was added is. */
  constructor(mostBytes: number = Number.POSITIVE_INFINITY) {
    this.#mostBytes = mostBytes;
  }

  /** Bytes that were added. */
  get length(): number {
    return this.#length;
  }

  /** Bytes of memory that it holds. */
  get capacity(): number {
    return this.#buffer.length;
  }

  /** Bytes of memory that it would hold with so many bytes more: for budgets, which are asked before they are spent. */
  capacityWith(moreBytes: number): number {
    const needed = this.#length + moreBytes;
    if (needed <= this.capacity) return this.capacity;
    return Math.max(needed, Math.min(Math.max(2 * this.capacity, firstCapacity), this.#mostBytes));
  }

  add(piece: Uint8Array): void {
    const capacity = this.capacityWith(piece.length);
    if (capacity > this.capacity) {
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#buffer.set(piece, this.#length);
    this.#length += piece.length;
  }

  /** Bytes that were added, as they lie in the buffer: good until more is added or taken. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Returns all that was added, and is empty then. */
  take(): Buffer {
    const taken = this.#buffer.subarray(0, this.#length);
    this.#buffer = Buffer.alloc(0);
    this.#length = 0;
    return taken;
  }
}
