import type { Change } from '../store/write/change-log.ts';
import type { ChangeBatch } from './compiler.ts';

/** The changes of one account that are put in force beside those of all others, since loading what they affect takes long. */
export class AccountLine {
  /** Changes that are being loaded. */
  #loading: readonly Change[];
  #waiting: Change[] = [];
  #version: number;
  /** For those who wait for the changes that are being loaded, and for those that wait. */
  #underWay = newOutcome();
  #next = newOutcome();
  #isFailing = false;
  isCancelled = false;

  constructor({ changes, version }: ChangeBatch) {
    this.#loading = changes;
    this.#version = version;
  }

  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  /** The last try has failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Resolves when all changes so far are in force; rejects where a try to load them has failed. */
  get settled(): Promise<void> {
    return (this.hasMore ? this.#next : this.#underWay).promise;
  }

  add({ changes, version }: ChangeBatch): void {
    this.#version = version;
    for (const change of changes) this.#waiting.push(change);
  }

  /** Returns what is to be loaded next: what waits, behind what could not be loaded. */
  take(): ChangeBatch {
    this.#loading = [...this.#loading, ...this.#waiting];
    this.#waiting = [];
    this.#underWay = this.#next;
    this.#next = newOutcome();
    return { changes: this.#loading, version: this.#version };
  }

  done(): void {
    this.#isFailing = false;
    this.#loading = [];
    this.#underWay.resolve();
  }

  failed(error: unknown): void {
    this.#isFailing = true;
    this.#underWay.reject(error);
  }

  /** Ends it for whoever waits; `error`: not everything is in force. */
  end(error?: unknown): void {
    for (const { resolve, reject } of [this.#underWay, this.#next]) {
      if (error === undefined) resolve();
      else reject(error);
    }
  }
}

function newOutcome(): PromiseWithResolvers<void> {
  const outcome = Promise.withResolvers<void>();
  // Nobody may be waiting for it.
  outcome.promise.catch(() => {});
  return outcome;
}
