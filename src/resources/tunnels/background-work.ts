/** Runs what nobody waits for. A fault is logged; comparing sessions cures what it left behind. */
export class BackgroundWork implements AsyncDisposable {
  readonly #log: { error(fields: object, message: string): void };
  readonly #running = new Set<Promise<void>>();

  constructor(log: { error(fields: object, message: string): void }) {
    this.#log = log;
  }

  /** `what` follows "failed to" and precedes "of an agent". */
  run(what: string, work: () => Promise<void>): void {
    const running = work()
      .catch((error: unknown) => {
        this.#log.error({ err: error }, `failed to ${what} of an agent; trying again`);
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when all that runs has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running);
  }
}
