/**
 * Counts the slices of long work while something is done. The clock moves so far that each step of it is a slice, and back at
 * the end of each: by a clock that is far ahead, connections would be idle for too long.
 */
export async function countSlices(work: () => Promise<unknown>): Promise<number> {
  const { setImmediate: later } = globalThis;
  const now = performance.now.bind(performance);
  let [slices, movedMs] = [0, 0];
  globalThis.setImmediate = Object.assign((callback: (...values: unknown[]) => void, ...values: unknown[]) => {
    if (callback.name === 'runNext') [slices, movedMs] = [slices + 1, 0];
    return later(callback, ...values);
  }, later);
  performance.now = () => now() + (movedMs += 8);
  try {
    await work();
  } finally {
    globalThis.setImmediate = later;
    performance.now = now;
  }
  return slices;
}
