import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startPostgres } from './support/postgres.ts';

/**
 * `npm test`: the checks, then all tests with one PostgreSQL server for all files. Arguments name files to run in
 * place of all, without the checks.
 */
const files = process.argv.slice(2);
const checks = [
  ['tsc', '--noEmit'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['oxfmt', '--check', '.'],
  ['knip'],
] as const;

if (files.length === 0) {
  for (const [program, ...args] of checks) await runOrExit(program, args);
}

/** Whole installations that are killed and cut off: one at a time, or they would only measure how busy the machine is. */
const alone = 'test/e2e/many-processes/*.test.ts';

await using postgres = await startPostgres();
const environment = {
  TEST_POSTGRES_URL: postgres.url,
  // Every file is a process of its own, and would compile the same code again.
  NODE_COMPILE_CACHE: join(tmpdir(), `gatehouse-compile-cache-${process.getuid?.() ?? 0}`),
};
if (files.length > 0) {
  process.exitCode = await runTests(3, files);
} else {
  const others = [
    'src/**/*.test.ts',
    'test/{clients,contract,gateway}/**/*.test.ts',
    'test/e2e/*.test.ts',
    'test/e2e/gateway/*.test.ts',
  ];
  const codes = [await runTests(3, others), await runTests(1, [alone])];
  process.exitCode = Math.max(...codes);
}

function runTests(concurrency: number, patterns: readonly string[]): Promise<number> {
  return run(process.execPath, ['--test', `--test-concurrency=${concurrency}`, ...patterns], environment);
}

async function runOrExit(program: string, args: readonly string[]): Promise<void> {
  process.stdout.write(`> ${[program, ...args].join(' ')}\n`);
  const failure = await run(program, args);
  if (failure !== 0) process.exit(failure);
}

async function run(program: string, args: readonly string[], extra: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, ...extra } });
  const [exitCode] = await once(child, 'exit');
  return typeof exitCode === 'number' ? exitCode : 1;
}
