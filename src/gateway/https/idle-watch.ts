/** Something that may stand still for `limitMs` at most. */
export interface Watched {
  /** Value of `IdleWatch.now` when something last moved. */
  lastMove: number;
  readonly limitMs: number;
  onIdle(): void;
}

/**
 * Looks at everything that can stall, on one timer. A timer of its own for each request would cost more than the rest
 * of its bookkeeping; the price is that a limit is kept to within one tick.
 */
export class IdleWatch implements Disposable {
  /** Milliseconds on a coarse clock that moves once a tick. */
  now = performance.now();
  readonly #watched = new Set<Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(tickMs: number) {
    this.#timer = setInterval(() => {
      this.#look();
    }, tickMs).unref();
  }

  add(watched: Watched): void {
    watched.lastMove = this.now;
    this.#watched.add(watched);
  }

  delete(watched: Watched): void {
    this.#watched.delete(watched);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const previous = this.now;
    this.now = performance.now();
    for (const watched of this.#watched) {
      // Against the previous tick: what moved since then carries its number and may be younger than it looks.
      if (previous - watched.lastMove < watched.limitMs) continue;
      this.#watched.delete(watched);
      watched.onIdle();
    }
  }
}
