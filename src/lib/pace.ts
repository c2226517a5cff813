/**
 * A slice of long work, in milliseconds, is as long as everything else has taken in the turn of the event loop before it,
 * within these bounds: short beside light traffic, which then hardly waits, and half of the time beside heavy traffic. A
 * step that is longer is a slice of its own.
 */
const shortestSliceMs = 2;
const longestSliceMs = 8;

/** Those who wait for their next slice, first come first. */
const waiting: (() => void)[] = [];
let sliceMs = shortestSliceMs;
/** Undefined in a turn of the event loop that has had no slice yet. */
let sliceBeganMs: number | undefined;
let scheduledMs = 0;

/**
 * Cuts long work into slices: `if (pace.isDue) await pace.giveWay()` between its steps. One slice runs in each turn of the
 * event loop, whoever it belongs to, so that several long works together do not hold up traffic longer than one does.
 */
export class Pace {
  constructor() {
    beginSlice();
  }

  get isDue(): boolean {
    return performance.now() - beginSlice() >= sliceMs;
  }

  async giveWay(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) scheduleNext();
    });
  }
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
