import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sourceFiles } from '../contract/support/source-files.ts';

/** Folders of `src/gateway/https/`, and those that each may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  headers: [],
  framing: [],
  routing: ['headers'],
  client: ['headers', 'framing', 'routing'],
  upstream: ['headers', 'framing', 'routing'],
};

test('the folders of the HTTPS front import each other in one direction only', () => {
  const folderOf = (path: string) => /^src\/gateway\/https\/([a-z-]+)\//.exec(path)?.[1];
  const files = sourceFiles().filter(({ path }) => folderOf(path) !== undefined);
  assert.deepEqual(new Set(files.map(({ path }) => folderOf(path))), new Set(Object.keys(mayImport)));
  const against = files.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) => {
      const [from = '', to] = [folderOf(path), folderOf(target)];
      return to === undefined || to === from || mayImport[from]?.includes(to) === true ? [] : `${path} → ${target}`;
    }),
  );
  assert.deepEqual(against, []);
});
