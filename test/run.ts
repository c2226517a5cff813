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

await using postgres = await startPostgres();
const patterns = files.length > 0 ? files : ['src/**/*.test.ts', 'test/**/*.test.ts'];
const code = await run(process.execPath, ['--test', '--test-concurrency=3', ...patterns], {
  TEST_POSTGRES_URL: postgres.url,
  // Every file is a process of its own, and would compile the same code again.
  NODE_COMPILE_CACHE: join(tmpdir(), `gatehouse-compile-cache-${process.getuid?.() ?? 0}`),
});
process.exitCode = code;

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
