import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startPostgres } from './support/postgres.ts';
import { runTestFiles } from './support/run-test-files.ts';

/**
 * `npm test`: runs the checks, then all tests with one PostgreSQL server for all files. With arguments, it runs only
 * the files that they name, without the checks.
 */
const files = process.argv.slice(2);
const checks = [
  ['tsc', '--noEmit'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['oxfmt', '--check', '.'],
  ['knip'],
] as const;

/** Tests that run one at a time: they kill whole installations and have time limits, which need an idle machine. */
const alone = ['test/e2e/many-processes/*.test.ts', 'test/e2e/neighbours/*.test.ts'];
const others = [
  'src/**/*.test.ts',
  'test/*.test.ts',
  'test/{clients,contract,gateway}/**/*.test.ts',
  'test/e2e/*.test.ts',
  'test/e2e/gateway/*.test.ts',
];

/** The limit of one test is beyond the needs of the busiest machine, and a night for the long form. */
const isLong = process.env['TEST_LONG'] === '1';
const usualLimit = isLong ? 43_200 : 300;
const aloneLimit = isLong ? 43_200 : 900;

if (files.length === 0) {
  for (const [program, ...args] of checks) await runOrExit(program, args);
}

// A server that already runs, such as that of an outer run, is used instead.
await using ownPostgres = process.env['TEST_POSTGRES_URL'] === undefined ? await startPostgres() : undefined;
if (files.length > 0) {
  process.exitCode = await runTests(3, aloneLimit, files);
} else {
  const codes = [await runTests(3, usualLimit, others), await runTests(1, aloneLimit, alone)];
  process.exitCode = Math.max(...codes);
}

function runTests(concurrency: number, limitSeconds: number, patterns: readonly string[]): Promise<number> {
  return runTestFiles({
    files: patterns,
    concurrency,
    limitMs: Number(process.env['TEST_TIMEOUT_SECONDS'] ?? limitSeconds) * 1000,
    environment: {
      ...(ownPostgres === undefined ? {} : { TEST_POSTGRES_URL: ownPostgres.url }),
      // Every file runs in a process of its own, which would compile the same code again.
      NODE_COMPILE_CACHE: join(tmpdir(), `gatehouse-compile-cache-${process.getuid?.() ?? 0}`),
    },
  });
}

async function runOrExit(program: string, args: readonly string[]): Promise<void> {
  process.stdout.write(`> ${[program, ...args].join(' ')}\n`);
  const child = spawn(program, args, { stdio: 'inherit' });
  const [exitCode] = await once(child, 'exit');
  if (exitCode !== 0) process.exit(typeof exitCode === 'number' ? exitCode : 1);
}
