import assert from 'node:assert/strict';
import { test } from 'node:test';

import { PathTable } from './path-table.ts';

test('one prefix covers its own segments and nothing else', () => {
  const table = new PathTable<string>();
  assert.equal(table.choose('/docs'), undefined);
  table.add('path_prefix', '/docs', 'docs');
  const chosen = ['/docs', '/docs/', '/docs/a', '/docsearch', '/', '/other'].map((path) => table.choose(path));
  assert.deepEqual(chosen, ['docs', 'docs', 'docs', undefined, undefined, undefined]);
});

test('of several prefixes the longest goes first, and an exact path before all; the last of one path counts', () => {
  const table = new PathTable<string>();
  table.add('path_prefix', '/', 'earlier');
  table.add('path_prefix', '/', 'all');
  assert.deepEqual([...table.values()], ['all']);
  table.add('path_prefix', '/docs', 'old docs');
  table.add('path_prefix', '/docs', 'docs');
  table.add('exact_path', '/docs/a', 'a');
  const chosen = ['/', '/other', '/docs/b', '/docs/a', '/docs/a/b'].map((path) => table.choose(path));
  assert.deepEqual(chosen, ['all', 'all', 'docs', 'a', 'docs']);
  assert.deepEqual([...table.values()], ['all', 'docs', 'a']);
});
