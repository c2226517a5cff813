import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for something that must come true, however slow the machine is. A check that throws is not asked again. */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string | (() => string),
  limitMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await check())) {
    if (performance.now() > endMs) {
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(10);
  }
}
