/** Something that ends if nothing happens on it for `limitMs`. */
export interface IdleTimeout {
  /** Value of `IdleWatch.now` at the last activity. */
  lastActivity: number;
  readonly limitMs: number;
  onIdle(): void;
}

/**
 * Checks all idle timeouts on one timer. A timer for each request would cost more than the rest of its bookkeeping; the
 * price is that a timeout fires up to two ticks late.
 */
export class IdleWatch implements Disposable {
  /** Time in milliseconds, updated once a tick. */
  now = performance.now();
  readonly #timeouts = new Set<IdleTimeout>();
  readonly #timer: NodeJS.Timeout;

  constructor(tickMs: number) {
    this.#timer = setInterval(() => {
      this.#check();
    }, tickMs).unref();
  }

  add(timeout: IdleTimeout): void {
    timeout.lastActivity = this.now;
    this.#timeouts.add(timeout);
  }

  delete(timeout: IdleTimeout): void {
    this.#timeouts.delete(timeout);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const previous = this.now;
    this.now = performance.now();
    for (const timeout of this.#timeouts) {
      // `lastActivity` has the resolution of a tick: comparing with the previous tick never fires early.
      if (previous - timeout.lastActivity < timeout.limitMs) continue;
      this.#timeouts.delete(timeout);
      timeout.onIdle();
    }
  }
}
