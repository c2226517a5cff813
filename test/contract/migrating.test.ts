import assert from 'node:assert/strict';
import { test } from 'node:test';

import { migratedPaths } from '../../tools/migrating-table.ts';
import { openApi } from './support/operations.ts';

// Where only a deletion is possible, there is nothing to delete: it is there so that clients which tidy up do not fail.
const served = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).some((method) => method !== 'delete') ? [path] : [],
);
const isServed = (path: string) => served.some((each) => each === path || each.startsWith(`${path}/`));

test('what the guide says is here is in openapi.json, and what it says is not is not', () => {
  for (const { paths, here } of migratedPaths) {
    if (here === 'no') assert.deepEqual(paths.filter(isServed), [], 'it is here: say so in tools/migrating-table.ts');
    else assert.ok(isServed(paths[0] ?? ''), `${paths[0]} is not here`);
  }
  const all = migratedPaths.flatMap(({ paths }) => paths);
  assert.equal(new Set(all).size, all.length, 'a path stands in the guide twice');
});

test('each resource that is not here has a remedy', () => {
  for (const { here, note, paths } of migratedPaths) assert.ok(here === 'yes' || note.length > 20, paths.join(', '));
});
