import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the check is true, with a limit for slow machines. A check that throws fails at once. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string | (() => string),
  limitMs = 120_000,
): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await check())) {
    if (performance.now() > endMs) {
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(10);
  }
}
