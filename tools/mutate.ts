import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { startPostgres } from '../test/support/postgres.ts';

/**
 * `npm run mutate -- FOLDER-OR-FILE… [--tests PATTERN]…`: plants faults in the sources, one at a time, and lists those that no test
 * beside them sees, nor one that a pattern names.
 */
const usage =
  'Usage: npm run mutate -- FOLDER-OR-FILE… [--tests PATTERN]…\n\n' +
  'Plants faults in the sources, one at a time, and lists those that no test sees. It runs the tests beside the sources and\n' +
  'those that the patterns name. Tests that start the built program run it without the faults.\n';
const root = fileURLToPath(new URL('../', import.meta.url));
const own = join(root, 'tools/mutate');
const settings = join(root, '.stryker.json');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tests: { type: 'string', multiple: true, default: [] }, help: { type: 'boolean', default: false } },
});
const missing = positionals.find((place) => !existsSync(join(root, place)));
if (values.help) process.stdout.write(usage);
else if (positionals.length === 0 || missing !== undefined) {
  process.stderr.write(missing === undefined ? usage : `There is no ${missing}.\n`);
  process.exitCode = 2;
} else process.exitCode = await mutate(positionals);

async function mutate(places: readonly string[]): Promise<number> {
  if (!existsSync(join(own, 'node_modules'))) {
    const installed = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', own], { stdio: 'inherit' });
    if (installed.status !== 0) return installed.status ?? 1;
  }
  await using postgres = await startPostgres();
  const files = places.map((place) => (place.endsWith('.ts') ? place : `${place.replace(/\/$/, '')}/**/*.ts`));
  const beside = files.map((file) => file.replace(/(?:\.test)?\.ts$/, '.test.ts'));
  await writeFile(settings, JSON.stringify(await optionsFor(files, [...beside, ...values.tests])));
  try {
    const stryker = join(own, 'node_modules/@stryker-mutator/core/bin/stryker.js');
    const { status } = spawnSync(process.execPath, [stryker, 'run', settings], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TEST_POSTGRES_URL: postgres.url },
    });
    return status ?? 1;
  } finally {
    await rm(settings, { force: true });
  }
}

async function optionsFor(files: readonly string[], tests: readonly string[]): Promise<object> {
  const ignored = await readFile(join(root, '.gitignore'), 'utf8');
  return {
    mutate: [...files, '!**/*.test.ts', '!**/contract-examples.ts'],
    testRunner: 'tap',
    plugins: [join(own, 'node_modules/@stryker-mutator/tap-runner/dist/src/index.js')],
    tap: {
      testFiles: tests,
      // A file that measures or changes its process has one of its own in any case.
      nodeArgs: ['--test-reporter=tap', '--test-reporter-destination=stdout', '-r', '{{hookFile}}', '{{testFile}}'],
    },
    coverageAnalysis: 'perTest',
    // The compiler has no programming interface that the tool knows; sources are run as they are.
    tsconfigFile: 'none.json',
    disableTypeChecks: true,
    reporters: ['clear-text', 'progress-append-only'],
    clearTextReporter: { logTests: false, allowColor: process.stdout.isTTY },
    // A fault that makes a loop endless is seen by this; nothing else takes that long.
    timeoutMS: 60_000,
    concurrency: 2,
    ignorePatterns: [...ignored.split('\n').filter(Boolean), 'docs', 'bench'],
  };
}
