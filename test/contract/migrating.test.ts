import assert from 'node:assert/strict';
import { test } from 'node:test';

import { migratedPaths, ownPaths, withMigratingTable } from '../../tools/migrating-table.ts';
import { openApi } from './support/operations.ts';
import { readRootFile } from './support/source-files.ts';

// Where only a deletion is possible, there is nothing to delete: it is there so that clients which tidy up do not fail.
const served = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).some((method) => method !== 'delete') ? [path] : [],
);
const isServed = (path: string) => served.some((each) => each === path || each.startsWith(`${path}/`));

test('what the guide says is here is in openapi.json, and what it says is not is not', () => {
  for (const { paths, here } of migratedPaths) {
    if (here === 'no') assert.deepEqual(paths.filter(isServed), [], 'it is here');
    else assert.ok(isServed(paths[0] ?? ''), `${paths[0]} is not here`);
  }
});

test('every path of openapi.json stands in the guide, once', () => {
  const known = [...migratedPaths.flatMap(({ here, paths }) => (here === 'no' ? [] : paths)), ...ownPaths];
  const isKnown = (path: string) => known.some((each) => path === each || path.startsWith(`${each}/`));
  assert.deepEqual(
    served.filter((path) => !isKnown(path)),
    [],
  );
  assert.deepEqual(
    ownPaths.filter((path) => !isServed(path)),
    [],
  );
  const all = migratedPaths.flatMap(({ paths }) => paths);
  assert.equal(new Set(all).size, all.length);
});

test('the table in docs/migrating.md is the one that is held here, and each resource that is not here has a remedy', () => {
  const page = readRootFile('docs/migrating.md');
  assert.equal(page, withMigratingTable(page), 'npm run generate renews docs/migrating.md');
  assert.ok(page.includes('`/ip_policies`'));
  for (const { here, note, paths } of migratedPaths) assert.ok(here === 'yes' || note.length > 20, paths.join(', '));
});
