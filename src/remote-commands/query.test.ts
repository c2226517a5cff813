import assert from 'node:assert/strict';
import { test } from 'node:test';

import { CommandFault } from './exit.ts';
import { explainMiss, query } from './query.ts';

const value = { id: 'a', list: [{ id: 'b', at: { deep: 1 } }, { id: 'c' }], 'x-y': [] };

test('a path finds names, entries, each entry, and some fields', () => {
  assert.equal(query(value, 'id'), 'a');
  assert.equal(query(value, 'list[0].at.deep'), 1);
  assert.equal(query(value, 'list[-1].id'), 'c');
  assert.deepEqual(query(value, 'list[*].id'), ['b', 'c']);
  assert.deepEqual(query(value.list, '[*].{id,at.deep}'), [
    { id: 'b', 'at.deep': 1 },
    { id: 'c', 'at.deep': null },
  ]);
  assert.deepEqual(query(value, 'x-y'), []);
});

test('what is not there is null, also what every object inherits', () => {
  for (const path of ['none', 'id.none', 'list.id', 'list[9]', 'id[*]', 'constructor', '__proto__.x', 'list.length'])
    assert.equal(query(value, path), null, path);
});

test('what is not a path is refused', () => {
  for (const path of ['id.', '.', 'a b', '[x]', 'list[*', '{id', 'id()', '{id}.x', 'a..b'])
    assert.throws(() => query(value, path), CommandFault, path);
});

test('a path that leads to nothing is told why', () => {
  const told = (path: string, of: unknown = value) => explainMiss(of, path);
  assert.equal(told('nope'), 'there is no "nope"; there are id, list, x-y');
  assert.equal(told('id', value.list), 'it is a list: write [*].id, or [0].id for the first');
  assert.equal(told('[*].nope', value.list), 'there is no "nope"; there are id, at');
  assert.equal(told('list[9].id'), 'there is no [9]: the list has 2 entries');
  assert.equal(told('id[*]'), 'it is no list, so that there is no [*]');
  assert.equal(told('id.deep'), 'there is no "deep"; it is no object');
  for (const path of ['id', 'list[*].id', 'list[*].at.deep', 'x-y[*].id', 'x-y', '{id,none}', 'list[*].{none}'])
    assert.equal(told(path), undefined, path);
  assert.equal(told('[*].id', []), undefined);
  assert.equal(told('a', { a: null }), undefined);
});
