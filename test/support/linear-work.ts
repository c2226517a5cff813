import assert from 'node:assert/strict';

const shortLength = 2_048;
const timesLonger = 32;

/**
 * Fails where long texts cost more processor time than as many characters of short ones. Quadratic work costs 32 times as
 * much; a busy machine, whose other programs do not count, a little more.
 */
export function assertLinear(name: string, make: (length: number) => string, run: (text: string) => unknown): void {
  const short = make(shortLength);
  const long = make(shortLength * timesLonger);
  const ratios: number[] = [];
  for (let round = 0; round < 5; round++) {
    const ofShort = costOf(() => {
      for (let left = timesLonger; left > 0; left--) run(short);
    });
    ratios.push(costOf(() => run(long)) / ofShort);
    if (Math.min(...ratios) < 8) return;
  }
  assert.fail(`${name}: long texts cost ${Math.min(...ratios).toFixed(1)} times what short ones do`);
}

/** Microseconds of this thread, one at least. */
function costOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(1, user + system);
}
