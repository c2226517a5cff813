import type { Lane } from './call-lanes.ts';
import type { CallQueue, Refusal } from './call-queue.ts';

/** One call, from the time when it could begin until nothing is done for it any more. */
export class QueuedCall {
  readonly begin: (refusal?: Refusal) => void;
  sinceMs = 0;
  /** The lane in which it is in progress. */
  lane: Lane | undefined;
  /** Its client went away before its turn came: it is not carried out. */
  isAbandoned = false;
  hasWaited = false;
  #isWorking = false;
  readonly #queue: CallQueue;

  constructor(queue: CallQueue, begin: QueuedCall['begin']) {
    this.begin = begin;
    this.#queue = queue;
  }

  /** Keeps the place of the call until the work has ended, even if its client goes away before, and frees it then. */
  holdFor(work: Promise<unknown>): void {
    this.#isWorking = true;
    const end = () => {
      this.#isWorking = false;
      this.release();
    };
    work.then(end, end);
  }

  /** Frees the place of a call that was answered, or whose client went away. */
  release(): void {
    this.isAbandoned = true;
    if (!this.#isWorking) this.#queue.leave(this);
  }
}
