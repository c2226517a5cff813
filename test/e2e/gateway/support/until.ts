import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until the check is true, with a limit for slow machines. A connection that is refused, broken off or ended by an
 * alert is "not yet": the other process may not know the edge. Whatever else a check throws fails at once.
 */
export async function until(
  check: () => boolean | Promise<boolean>,
  what: string | (() => string),
  limitMs = 120_000,
): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    let cause: unknown;
    try {
      if (await check()) return;
    } catch (error) {
      if (!isOfConnection(error)) throw error;
      cause = error;
    }
    const waitedMs = performance.now() - startMs;
    if (waitedMs > limitMs) {
      throw new Error(`not within ${limitMs} ms: ${typeof what === 'string' ? what : what()}`, { cause });
    }
    // A check may be a call: asked all the time, it would take a processor of its own.
    await sleep(Math.min(Math.max(waitedMs / 20, 10), 250));
  }
}

/** A system call or a handshake failed. */
function isOfConnection(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(E[A-Z]+|ERR_SSL_\w+)$/.test(String(error.code));
}
