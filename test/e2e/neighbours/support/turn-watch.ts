/**
 * Loaded before the program, in its process: measures the processor time of the main thread between two ticks of a timer,
 * which is that of the longest piece of work without a turn for others. Time that the machine gives to other processes does
 * not count. "read" resets it and is answered with it; "used" is answered with all processor time of that thread, in milliseconds too,
 * and "held" with the bytes that are in use after a collection.
 */
const everyMs = 5;

let before = process.threadCpuUsage();
let longestMs = 0;

setInterval(() => {
  const now = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000);
  before = now;
}, everyMs).unref();

process.on('message', (word) => {
  if (word === 'used') {
    const { user, system } = process.threadCpuUsage();
    process.send?.((user + system) / 1000);
  } else if (word === 'held') {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.(heapUsed + external);
  } else {
    process.send?.(longestMs);
    longestMs = 0;
  }
});
process.channel?.unref();
