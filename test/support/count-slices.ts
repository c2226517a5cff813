/**
 * Counts the slices of long work while something is done. The clock moves so far that each step of it is a slice, and back at
 * the end of each turn of the event loop: by a clock that is far ahead, connections would be idle for too long, and what has
 * noted a time of it would wait for hours.
 */
export async function countSlices(work: () => Promise<unknown>): Promise<number> {
  const { setImmediate: later } = globalThis;
  const now = performance.now.bind(performance);
  let [slices, movedMs] = [0, 0];
  globalThis.setImmediate = Object.assign((callback: (...values: unknown[]) => void, ...values: unknown[]) => {
    if (callback.name === 'runNext') slices += 1;
    return later(callback, ...values);
  }, later);
  performance.now = () => {
    if (movedMs === 0) later(() => (movedMs = 0));
    return now() + (movedMs += 8);
  };
  try {
    await work();
  } finally {
    globalThis.setImmediate = later;
    performance.now = now;
  }
  return slices;
}
