import { renameSync, writeFileSync } from 'node:fs';

/**
 * Loaded before a program, in its process: measures the processor time of the main thread between two ticks of a timer, which
 * is that of the longest turn of the event loop. Other programs on the machine do not count. SIGUSR2 writes it, in
 * milliseconds, into the file that TURN_FILE names, and begins anew.
 */
const everyMs = 5;
const file = process.env['TURN_FILE'] ?? '';
let before = process.threadCpuUsage();
let longestMs = 0;

setInterval(() => {
  const now = process.threadCpuUsage();
  longestMs = Math.max(longestMs, (now.user + now.system - before.user - before.system) / 1000);
  before = now;
}, everyMs).unref();

process.on('SIGUSR2', () => {
  writeFileSync(`${file}.new`, String(longestMs));
  renameSync(`${file}.new`, file);
  longestMs = 0;
});
