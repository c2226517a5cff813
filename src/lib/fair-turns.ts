import { FairQueue } from './fair-queue.ts';

interface Limits {
  /** Work that runs at once, of all owners. */
  readonly atOnce: number;
  /** Work of one owner that runs at once. */
  readonly ofOwner: number;
  /** Work of one owner that waits; more is refused. */
  readonly waiting: number;
}

interface Owned {
  /** Work that runs or is next. */
  begun: number;
  readonly waiting: (() => void)[];
}

/** Work for which no place is left, because too much of its owner waits. */
export class TooMuchWaits extends Error {
  override readonly name = 'TooMuchWaits';
}

/** Runs work of several owners, so much of it at once, by turns between the owners. */
export class FairTurns {
  readonly #limits: Limits;
  readonly #byOwner = new Map<string, Owned>();
  readonly #next = new FairQueue<() => void>();
  #running = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Throws `TooMuchWaits` in place of waiting. */
  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    const owned = this.#owned(owner);
    if (owned.begun >= this.#limits.ofOwner && owned.waiting.length >= this.#limits.waiting)
      throw new TooMuchWaits('too much of this owner waits');
    await new Promise<void>((begin) => {
      owned.waiting.push(begin);
      this.#begin(owner, owned);
    });
    try {
      return await work();
    } finally {
      this.#running -= 1;
      owned.begun -= 1;
      this.#begin(owner, owned);
      if (owned.begun === 0) this.#byOwner.delete(owner);
    }
  }

  #owned(owner: string): Owned {
    const known = this.#byOwner.get(owner);
    if (known !== undefined) return known;
    const owned = { begun: 0, waiting: [] };
    this.#byOwner.set(owner, owned);
    return owned;
  }

  #begin(owner: string, owned: Owned): void {
    while (owned.begun < this.#limits.ofOwner) {
      const begin = owned.waiting.shift();
      if (begin === undefined) break;
      owned.begun += 1;
      this.#next.push(owner, begin);
    }
    while (this.#running < this.#limits.atOnce) {
      const begin = this.#next.take();
      if (begin === undefined) return;
      this.#running += 1;
      begin();
    }
  }
}
