import { once } from 'node:events';

import { spawnGroup } from './process-groups.ts';
import type { Result } from './reporter.ts';

/** Less work in all for programs in Go, beside tests that have a use for each processor. */
const goSettings = { GOMAXPROCS: '1', GOGC: '400' };

const checks = [
  // Several checkers do much of the work several times.
  ['tsc', '--noEmit', '--checkers', '1'],
  ['tsc', '--noEmit', '--checkers', '1', '-p', 'dashboard'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['oxfmt', '--check', '.'],
  ['knip'],
] as const;

/** Runs the checks of the text, one after another, and returns the failures. */
export async function runChecks(): Promise<readonly Result[]> {
  const failures: Result[] = [];
  for (const [program, ...args] of checks) failures.push(...(await runProgram(program, args)));
  return failures;
}

/** Runs a program and prints what it says as a whole; returns a failure if it does not end with 0. */
export async function runProgram(program: string, args: readonly string[]): Promise<readonly Result[]> {
  const child = spawnGroup(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...goSettings },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const [exitCode] = await once(child, 'close');
  const name = [program, ...args].join(' ');
  process.stdout.write(`> ${name}\n${output}`);
  return exitCode === 0 ? [] : [{ is: 'failure', text: `✖ ${name}\n${output}` }];
}
