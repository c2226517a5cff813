import { setTimeout as sleep } from 'node:timers/promises';

export function randomBetween(low: number, high: number): number {
  return low + Math.floor(Math.random() * (high - low + 1));
}

export function pick<T>(choices: readonly T[]): T {
  const choice = choices[randomBetween(0, choices.length - 1)];
  if (choice === undefined) throw new Error('there is nothing to choose from');
  return choice;
}

/** Repeats the check until its result is defined and not false. The limit is far beyond the needs of a busy machine. */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  { withinMs = 300_000, everyMs = 20 } = {},
): Promise<Exclude<T, undefined | false>> {
  const startMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(Math.min(Math.max(waitedMs / 20, everyMs), 250));
  }
}

export function stripUndefined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]])),
  );
}
