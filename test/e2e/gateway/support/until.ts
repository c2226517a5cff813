import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the check is true, with a limit for slow machines. A check that throws fails at once. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string | (() => string),
  limitMs = 120_000,
): Promise<void> {
  const startMs = performance.now();
  while (!(await check())) {
    const waitedMs = performance.now() - startMs;
    if (waitedMs > limitMs) throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`);
    // A check may be a call: asked all the time, it would take a processor of its own.
    await sleep(Math.min(Math.max(waitedMs / 20, 10), 250));
  }
}
