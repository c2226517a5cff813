/** Runs steps one after another, in the order in which they came. A step that fails does not stop the next. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step);
    this.#last = done.catch(() => {});
    return done;
  }

  /** Resolves when every step that came before this call has ended, well or not. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
