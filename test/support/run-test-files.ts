import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface TestRun {
  /** Paths and patterns of files, or flags of `node --test`. */
  readonly files: readonly string[];
  /** Number of files that run at once. */
  readonly concurrency: number;
  /** Limit for one test or one hook. */
  readonly limitMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Path of a file that gets the failed tests with their reasons. */
  readonly failures?: string;
}

/** Limit for a file beside its tests: to load, and to end after them. */
const marginMs = 60_000;

/** Characters of what Node says of tests that were stopped. */
const maxNamed = 3_000;

/** Time that Node gets after the signal to stop, to name the tests that were running. */
const stopMs = 10_000;

/**
 * Runs test files and returns the exit code. Node fails a test at the limit, but waits for ever for a file whose
 * process does not end. Such a file prints nothing, because Node prints one file at a time and each test as it ends.
 */
export async function runTestFiles({ files, concurrency, limitMs, environment, failures }: TestRun): Promise<number> {
  const limits = [`--test-concurrency=${concurrency}`, `--test-timeout=${limitMs}`];
  const args = ['--test', ...limits, ...(failures === undefined ? [] : reportersTo(failures)), ...files];
  const colors = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  const child = spawn(process.execPath, args, {
    stdio: ['inherit', 'pipe', 'inherit'],
    env: { ...process.env, ...colors, ...environment },
  });
  const silenceMs = limitMs + Math.min(limitMs, marginMs);
  let isStuck = false;
  let named = '';
  const silence = setTimeout(() => {
    isStuck = true;
    named = `\nNothing has ended for ${silenceMs / 1000} s. Stopping the tests, which names what runs:\n`;
    process.stdout.write(named);
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), stopMs).unref();
  }, silenceMs);
  child.stdout.on('data', (chunk) => {
    if (isStuck) named += String(chunk);
    else silence.refresh();
    process.stdout.write(chunk);
  });
  const [exitCode] = await once(child, 'close');
  clearTimeout(silence);
  // Much may follow of files that ended long ago, whose turn to be printed has come now.
  if (isStuck && failures !== undefined) appendFileSync(failures, named.slice(0, maxNamed));
  return isStuck || typeof exitCode !== 'number' ? 1 : exitCode;
}

/** The usual output, and the failed tests alone in a file. */
function reportersTo(failures: string): readonly string[] {
  const ours = fileURLToPath(new URL('failure-reporter.ts', import.meta.url));
  const reporters = [
    ['spec', 'stdout'],
    [ours, failures],
  ];
  return reporters.flatMap(([name, to]) => [`--test-reporter=${name}`, `--test-reporter-destination=${to}`]);
}
