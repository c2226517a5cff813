/** Longest slice of long work, in milliseconds; a step that is longer than this is a slice of its own. */
const sliceMs = 8;

/** Those who wait for their next slice, first come first. */
const waiting: (() => void)[] = [];

/**
 * Cuts long work into slices: `if (pace.isDue) await pace.giveWay()` between its steps. One slice runs in each turn of the
 * event loop, whoever it belongs to, so that several long works together do not hold up traffic longer than one does.
 */
export class Pace {
  #sliceBeganMs = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#sliceBeganMs >= sliceMs;
  }

  async giveWay(): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(runNext);
    });
    this.#sliceBeganMs = performance.now();
  }
}

function runNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(runNext);
}
