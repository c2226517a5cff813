import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { installChromium } from './dashboard/support/find-chromium.ts';
import { runChecks, runProgram } from './support/checks.ts';
import { compileCache, deleteUnusedCode } from './support/compile-cache.ts';
import { installCommand, installPackages, packagesFor } from './support/install-programs.ts';
import { isLong } from './support/long-form.ts';
import { initializePostgres, startPostgres } from './support/postgres.ts';
import { endGroups } from './support/process-groups.ts';
import type { Result } from './support/reporter.ts';
import { secondTries, steadied } from './support/second-try.ts';
import { summarize } from './support/summary.ts';
import { planTests } from './support/test-plan.ts';
import { runTestProcess } from './support/test-process.ts';

/**
 * `npm test`: runs the checks and all tests side by side, with one PostgreSQL server for all files. With arguments, it
 * runs only the files that they name, without the checks.
 */
const startedMs = performance.now();
const named = process.argv.slice(2);
const files = named.filter((argument) => !argument.startsWith('-'));
const flags = named.filter((argument) => argument.startsWith('-'));
const isWhole = files.length === 0;

/** The limit of one test is beyond the needs of the busiest machine, and a night for the long form. */
const usualLimit = isLong ? 43_200 : 600;
const limitMs = Number(process.env['TEST_TIMEOUT_SECONDS'] ?? usualLimit) * 1000;

/** A whole run gives what has failed a second try, and tells so: the busiest machine decides nothing. */
const tries = Number(process.env['TEST_TRIES'] ?? (isWhole && !isLong ? 2 : 1));

const plan = planTests(files);
// Once, before files that run side by side would each do it.
const missing = installPackages(packagesFor(Object.values(plan).flat(2), isLong));
const needsBrowser = isWhole || files.some((file) => file.includes('test/dashboard'));
if (needsBrowser) installChromium(process.env);

if (isWhole) deleteUnusedCode(compileCache);
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
const results: Result[] = [];
const outcomes = new Map<readonly string[], readonly Result[]>();
// Tests of them fail, or are left out: another verdict than elsewhere.
if (missing.length > 0) {
  const text = `✖ Programs that the tests start are missing. As root, run: ${installCommand(missing)}`;
  process.stdout.write(`${text}\n`);
  results.push({ is: 'failure', text });
}
const running = new Set<readonly string[]>();
let stopping: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping !== undefined) return;
    process.stdout.write(`\nStopped while these ran: ${[...running].flat().join(', ')}\n`);
    stopping = endGroups();
  });
}
const outerFiles = process.env['TEST_POSTGRES_FILES'];
const postgresFiles = outerFiles ?? (await initializePostgres());
process.env['TEST_POSTGRES_FILES'] = postgresFiles;
try {
  // A server that already runs, such as that of an outer run, is used instead.
  await using ownPostgres = process.env['TEST_POSTGRES_URL'] === undefined ? await startPostgres() : undefined;
  const environment = {
    ...(ownPostgres === undefined ? {} : { TEST_POSTGRES_URL: ownPostgres.url }),
    TEST_PROGRAM: fileURLToPath(new URL('../dist/main.js', import.meta.url)),
    /** Holds what its files have claimed, such as ports. */
    TEST_RUN: String(process.pid),
    /** A database with all tables, which is copied for new ones. */
    TEST_SQLITE_MODEL: join(folder, 'model.db'),
    /** A whole run leaves out a part of what is only thoroughness: see `sample.ts`. */
    TEST_SAMPLED: isWhole ? '1' : '0',
    // Every process would compile the same code again.
    NODE_COMPILE_CACHE: compileCache,
  };
  // Programs that tests start, and pages that they open, are those that operators run. An outer run has built them.
  const needsPages = needsBrowser || files.some((file) => file.includes('packed'));
  const isBuilt = process.env['TEST_PROGRAM'] !== undefined;
  if (!isBuilt) results.push(...(await runProgram('npm', ['run', needsPages ? 'build' : 'build:program', '--silent'])));
  const checked = isWhole ? runChecks() : Promise.resolve([]);

  const waiting = [...plan.waiting];
  const busy = [...plan.busy];
  const isOne = waiting.length + busy.length === 1;
  const cores = Math.min(availableParallelism(), 8);
  await Promise.all([
    takeAll([waiting, busy]),
    checked.then((faults) => results.push(...faults)).then(() => takeAll([busy, waiting])),
    // With two for each processor, a fifth of their time was idle: files wait for others most of theirs.
    ...Array.from({ length: 3 * cores }, () => takeAll([busy, waiting])),
  ]);
  for (const { group, first, files: again } of tries > 1 ? secondTries(outcomes) : []) {
    if (stopping !== undefined) break;
    process.stdout.write(`\nOnce more, alone: ${again.join(', ')}\n`);
    const better = steadied(first, await run(again));
    if (better !== undefined) outcomes.set(group, better);
  }
  results.push(...[...outcomes.values()].flat());

  /** Runs what is left of these lists, the first of them first. */
  async function takeAll(lists: readonly (readonly string[])[][]): Promise<void> {
    for (;;) {
      const next = lists.find(({ length }) => length > 0)?.shift();
      if (next === undefined) return;
      outcomes.set(next, await run(next));
    }
  }

  async function run(group: readonly string[]): Promise<readonly Result[]> {
    const output: string[] = [];
    running.add(group);
    const own = await runTestProcess({
      files: group,
      flags,
      limitMs,
      environment,
      results: join(folder, `results-${randomUUID()}`),
      // Of files that run side by side, each is printed whole.
      print: (text) => (isOne ? process.stdout.write(text) : output.push(text)),
    });
    running.delete(group);
    process.stdout.write(output.join(''));
    return own;
  }
} catch (error) {
  // Nothing can begin any more.
  if (stopping === undefined) throw error;
}

await stopping;
await rm(folder, { recursive: true, force: true });
if (outerFiles === undefined) await rm(postgresFiles, { recursive: true, force: true });
if (stopping !== undefined) process.exit(1);
process.exitCode = summarize(results, performance.now() - startedMs);
