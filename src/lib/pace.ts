import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A slice of long work, in milliseconds, is as long as everything else has taken in the turn of the event loop before it,
 * within these bounds: short beside light traffic, which then hardly waits, and half of the time beside heavy traffic. A
 * step that is longer is a slice of its own.
 */
const shortestSliceMs = 2;
const longestSliceMs = 8;

/** Work that waits for its next slice, first come first, but for work that others wait for. */
const waiting: (() => void)[] = [];
let sliceMs = shortestSliceMs;
/** Undefined in a turn of the event loop that has had no slice yet. */
let sliceBeganMs: number | undefined;
let scheduledMs = 0;
/** Set within work that others wait for. */
const urgent = new AsyncLocalStorage<true>();

const isAwaited = () => false;

/** Work has ended between two of its steps, because nobody waits for its result any more. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
}

/**
 * Cuts long work into slices: `if (pace.isDue) await pace.giveWay()` between its steps. One slice runs in each turn of the
 * event loop, whoever it belongs to, so that several long works together do not hold up traffic longer than one does. Work that is abandoned is due at once, and
 * giving way then ends it.
 */
export class Pace {
  readonly #isUrgent = urgent.getStore() ?? false;
  readonly #isAbandoned: () => boolean;

  constructor(isAbandoned: () => boolean = isAwaited) {
    this.#isAbandoned = isAbandoned;
    beginSlice();
  }

  get isDue(): boolean {
    return this.#isAbandoned() || performance.now() - beginSlice() >= sliceMs;
  }

  async giveWay(): Promise<void> {
    if (this.#isAbandoned()) throw new AbandonedError('nobody waits for it any more');
    await new Promise<void>((resolve) => {
      // Second: between two slices of it, somebody else has one.
      if (this.#isUrgent) waiting.splice(1, 0, resolve);
      else waiting.push(resolve);
      if (waiting.length === 1) scheduleNext();
    });
  }
}

/** Runs work that others wait for, such as a transaction: every other slice is its own, however many wait for theirs. */
export function runUrgently<T>(work: () => Promise<T>): Promise<T> {
  return urgent.run(true, work);
}

/** Returns when the slice of this turn began: now, if nothing has asked before. */
function beginSlice(): number {
  if (sliceBeganMs === undefined) {
    sliceBeganMs = performance.now();
    setImmediate(endSlice);
  }
  return sliceBeganMs;
}

function endSlice(): void {
  sliceBeganMs = undefined;
}

function scheduleNext(): void {
  scheduledMs = performance.now();
  setImmediate(runNext);
}

function runNext(): void {
  sliceMs = Math.min(longestSliceMs, Math.max(shortestSliceMs, performance.now() - scheduledMs));
  endSlice();
  beginSlice();
  waiting.shift()?.();
  if (waiting.length > 0) scheduleNext();
}
