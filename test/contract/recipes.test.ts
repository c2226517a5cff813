import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RepositoryCopy } from './support/repository-copy.ts';
import { readRootFile } from './support/source-files.ts';

const page = readRootFile('CONTRIBUTING.md');

/** Blocks of code on the page, each with the path that its first line names. */
const blocks = [...page.matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)].map(([, path = '', code = '']) => ({
  path,
  code,
}));
const files = blocks.map(({ path }) => path);
const operationSuites = ['access', 'rights', 'writes'].map((name) => `operations-${name}`);
const suites = ['openapi', 'architecture', 'migrating', ...operationSuites, 'filters', 'fuzz'];
/** SQLite is enough, and what is generated has just been. */
const leftOut = ['PostgreSQL', 'every generated file'].map((words) => `--test-skip-pattern=${words}`);
const inOneProcess = 'test/support/run-in-turn.ts';
const ofExamples = { TEST_OPERATIONS: 'Contacts,HttpsEdgeRouteServedBy' };

// It checks types and runs other tests: half a minute of processor time, and several beside other work.
test('a resource and a module that are made by the recipes pass the contract tests', { timeout: 900_000 }, async () => {
  await using copy = await RepositoryCopy.make();

  // Step 1: the files.
  assert.ok(blocks.length >= 8, `found only ${blocks.length} blocks`);
  for (const { path, code } of blocks) await copy.write(path, code);
  await copy.run('oxfmt', ['--check', ...files]);

  // Step 2: a line in each list, and its import.
  const lists = [
    ['src/resources/index.ts', "import { contactsResource } from './contacts/index.ts';", 'contactsResource'],
    ['src/modules/index.ts', "import { servedBy } from './served-by/index.ts';", 'servedBy'],
  ] as const;
  for (const [path, imported, entry] of lists) {
    await copy.insert(path, 'import ', `${imported}\n`);
    await copy.insert(path, '];\n', `  ${entry},\n`);
  }

  // Step 3: what is generated.
  const [, written = ''] = /^wrote (.*)$/m.exec(await copy.run('npm', ['run', 'generate'])) ?? [];
  assert.ok(written.split(', ').length > 5, written);
  for (const path of written.split(', ')) assert.ok(page.includes(`\`${path}\``), `the page does not name ${path}`);

  // Step 4: the rows of rights, as the test prints them.
  const rights = ['--test-name-pattern=table of rights', inOneProcess, 'test/contract/operations-rights.test.ts'];
  const { failed, output } = await copy.try('node', rights);
  const rows = new Set(output.match(/^ *(?:Contacts|HttpsEdgeRouteServedBy)\w+: '\w+',$/gm));
  assert.ok(failed && rows.size === 5 + 3, output);
  await copy.insert('test/contract/rights-table.ts', '};\n', [...rows, ''].join('\n'));

  // Step 5: the tests that see the new operations.
  const tests = files.filter((path) => path.endsWith('.test.ts'));
  // The types of these files only: those of all others are half of the work of this test, and are checked elsewhere.
  await copy.run('oxlint', ['--type-aware', '--type-check', '--deny-warnings', ...files]);
  const suiteFiles = suites.map((name) => `test/contract/${name}.test.ts`);
  await copy.run('node', [...leftOut, inOneProcess, ...suiteFiles, ...tests], ofExamples);
});
