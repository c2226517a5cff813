/**
 * Loaded before the program, in its process: measures the processor time of the main thread between two ticks of a timer,
 * which is that of the longest piece of work without a turn for others. Time that the machine gives to other processes does
 * not count. Each message resets it and is answered with it, in milliseconds.
 */
const everyMs = 5;

let before = process.threadCpuUsage();
let longestMs = 0;

setInterval(() => {
  const now = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000);
  before = now;
}, everyMs).unref();

process.on('message', () => {
  process.send?.(longestMs);
  longestMs = 0;
});
process.channel?.unref();
