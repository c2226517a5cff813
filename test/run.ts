import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { installChromium } from './dashboard/support/find-chromium.ts';
import { installPrograms } from './support/install-programs.ts';
import { startPostgres } from './support/postgres.ts';
import { runTestFiles } from './support/run-test-files.ts';

/**
 * `npm test`: runs the checks, then all tests with one PostgreSQL server for all files. With arguments, it runs only
 * the files that they name, without the checks.
 */
const files = process.argv.slice(2);
const checks = [
  ['tsc', '--noEmit'],
  ['tsc', '--noEmit', '-p', 'dashboard'],
  ['oxlint', '--type-aware', '--deny-warnings'],
  ['oxfmt', '--check', '.'],
  ['knip'],
] as const;

/** Tests that run one at a time: they measure how long others wait, which needs an idle machine. */
const alone = ['test/e2e/neighbours/*.test.ts'];
/** Tests that kill and freeze whole installations, or wait for another server. They mostly wait, and their time limits need a machine with little else to do. */
const outages = ['test/e2e/{acme,agent-failures,many-processes}/*.test.ts'];
/** Tests in a real browser; each file has a server and a browser of its own. */
const inBrowser = ['test/dashboard/*.test.ts'];
const others = [
  'src/**/*.test.ts',
  'client/src/*.test.ts',
  'test/*.test.ts',
  'test/{agents,clients,contract,gateway}/**/*.test.ts',
  'test/e2e/*.test.ts',
  'test/e2e/{agents,gateway,soak}/*.test.ts',
];

/** The limit of one test is beyond the needs of the busiest machine, and a night for the long form. */
const isLong = process.env['TEST_LONG'] === '1';
const usualLimit = isLong ? 43_200 : 300;
const longLimit = isLong ? 43_200 : 900;

if (files.length === 0) {
  for (const [program, ...args] of checks) await runOrExit(program, args);
}

if (files.length === 0 || files.some((file) => file.includes('dashboard'))) {
  // What is tested in the browser is what would be served.
  await runOrExit('vite', ['build', 'dashboard']);
  installChromium(process.env);
}

// Once, before files that run side by side would each do it.
if (files.length === 0) installPrograms(['caddy', 'zsh', 'fish']);
else if (files.some((file) => file.includes('acme'))) installPrograms(['caddy']);

const results = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
/** Shared by all files, so that no two of them get the same port. */
const claimedPorts = join(results, 'ports');
const failures: string[] = [];
// A server that already runs, such as that of an outer run, is used instead.
await using ownPostgres = process.env['TEST_POSTGRES_URL'] === undefined ? await startPostgres() : undefined;
if (files.length > 0) {
  process.exitCode = await runTests(3, longLimit, files);
} else {
  const codes = [
    await runTests(3, usualLimit, others),
    await runTests(2, usualLimit, inBrowser),
    await runTests(3, longLimit, outages),
    await runTests(1, longLimit, alone),
  ];
  process.exitCode = Math.max(...codes);
}
// Once more at the end, where whoever reads the end of a long log finds it.
const failed = failures.map((file) => (existsSync(file) ? readFileSync(file, 'utf8') : '')).join('');
if (failed !== '') process.stdout.write(`\nAll failed tests of this run:\n${failed}`);
else if (process.exitCode !== 0)
  process.stdout.write('\nNo test failed, but a group of them did not end as it should.\n');
await rm(results, { recursive: true, force: true });

function runTests(concurrency: number, limitSeconds: number, patterns: readonly string[]): Promise<number> {
  const reasons = join(results, `failures-${failures.length}`);
  failures.push(reasons);
  return runTestFiles({
    files: patterns,
    concurrency,
    failures: reasons,
    limitMs: Number(process.env['TEST_TIMEOUT_SECONDS'] ?? limitSeconds) * 1000,
    environment: {
      ...(ownPostgres === undefined ? {} : { TEST_POSTGRES_URL: ownPostgres.url }),
      TEST_CLAIMED_PORTS: claimedPorts,
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
