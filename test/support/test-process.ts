import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { killGroup, spawnGroup } from './process-groups.ts';
import type { Result } from './reporter.ts';

export interface TestProcess {
  /** Files that run one after another in one process. */
  readonly files: readonly string[];
  /** Flags of Node's test runner. */
  readonly flags: readonly string[];
  /** Limit for one test or one hook. */
  readonly limitMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Path of a file that gets the results. */
  readonly results: string;
  readonly print: (text: string) => void;
}

/** Limit for a file beside its tests: to load, and to end after them. */
const marginMs = 60_000;
/** Less work for the collector of garbage, and no look at each folder above a module for links. */
const nodeFlags = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  // Threads that share its work cost more in all, where other tests have a use for each processor.
  '--single-threaded-gc',
  '--preserve-symlinks',
];

/** Runs test files and returns their results. Node fails a test at the limit, but waits for ever for a process that does not end after its tests. */
export async function runTestProcess(options: TestProcess): Promise<readonly Result[]> {
  const { files, flags, limitMs, environment, results, print } = options;
  const runner = fileURLToPath(new URL('run-in-turn.ts', import.meta.url));
  const reporter = fileURLToPath(new URL('reporter.ts', import.meta.url));
  const ours = [`--test-timeout=${limitMs}`, `--test-reporter=${reporter}`, '--test-reporter-destination=stdout'];
  const colors = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawnGroup(process.execPath, [...nodeFlags, ...ours, ...flags, runner, ...files], {
    stdio: ['inherit', 'pipe', 'pipe'],
    env: { ...process.env, ...colors, ...environment, TEST_RESULTS: results },
  });
  const silenceMs = limitMs + Math.min(limitMs, marginMs);
  let isStuck = false;
  const silence = setTimeout(() => {
    isStuck = true;
    killGroup(child, 'SIGKILL');
  }, silenceMs);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      silence.refresh();
      print(String(chunk));
    });
  }
  const [exitCode, signal] = await once(child, 'close');
  clearTimeout(silence);
  const told = readResults(results);
  if (exitCode === 0 || (exitCode === 1 && told.some(({ is }) => is === 'failure'))) return told;
  const reason = isStuck
    ? `Nothing has ended for ${silenceMs / 1000} s`
    : `The process of these files ended with ${String(exitCode ?? signal)}`;
  return [...told, { is: 'failure', text: `✖ ${reason}: ${files.join(', ')}\n${unfinished(told)}` }];
}

function readResults(path: string): readonly Result[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  // The reporter writes nothing else.
  return lines.map((line) => JSON.parse(line) as Result);
}

function unfinished(results: readonly Result[]): string {
  const ended = new Set(results.flatMap((each) => (each.is === 'passed' || each.is === 'failed' ? [each.test] : [])));
  const open = results.flatMap((each) => (each.is === 'begun' && !ended.has(each.test) ? [each.test] : []));
  return open.length === 0 ? 'It has not said which test was running.' : `These tests were running: ${open.join(', ')}`;
}
