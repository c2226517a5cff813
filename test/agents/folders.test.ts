import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sourceFiles } from '../contract/support/source-files.ts';

/** Folders of `src/agents/`, and those that each may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  mux: ['wire'],
  server: ['mux', 'wire'],
};

test('the folders of the agents’ part import each other in one direction only, and `wire` no sockets', () => {
  const folderOf = (path: string): string | undefined => /^src\/agents\/([a-z-]+)\//.exec(path)?.[1];
  const files = sourceFiles().filter(({ path }) => folderOf(path) !== undefined);
  assert.deepEqual(new Set(files.map(({ path }) => folderOf(path))), new Set(Object.keys(mayImport)));
  const against = files.flatMap(({ path, imports }) =>
    imports.flatMap(({ target }) => {
      const [from = '', to] = [folderOf(path), folderOf(target)];
      return to === undefined || to === from || mayImport[from]?.includes(to) === true ? [] : `${path} → ${target}`;
    }),
  );
  assert.deepEqual(against, []);
  const withNode = files.filter(({ path, code }) => folderOf(path) === 'wire' && /from 'node:/.test(code));
  assert.deepEqual(
    withNode.map(({ path }) => path),
    [],
  );
});
