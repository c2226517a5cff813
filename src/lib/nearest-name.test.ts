import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Random } from '../../test/e2e/gateway/support/random.ts';
import { editsBetween, mostEdits, nearestName } from './nearest-name.ts';

const kinds = ['ip_policies', 'static_backends', 'https_edges', 'tls_edges'];

test('a word with a few wrong letters is the name that was meant, and so are its words in another order', () => {
  assert.equal(nearestName('ip_policys', kinds), 'ip_policies');
  assert.equal(nearestName('htpts_edges', kinds), 'https_edges');
  for (const other of ['edges_https', 'edges/https', 'Edges.HTTPS'])
    assert.equal(nearestName(other, kinds), 'https_edges');
});

test('another word is no name', () => {
  for (const other of ['edges', 'https', 'widgets', 'policies_of_ip', ''])
    assert.equal(nearestName(other, kinds), undefined);
});

test('the nearest of several names is found, the first of those that are as near', () => {
  assert.equal(nearestName('abcdef', ['abcxyf', 'abcdxf', 'abcdex']), 'abcdxf');
  assert.equal(nearestName('abcdef', ['abcdefghi', 'abcd']), 'abcd');
});

test('names that are much longer or shorter, and words that nobody writes, are not compared', () => {
  assert.equal(nearestName('abcdef', ['abcdefghij', 'ab']), undefined);
  const long = 'x'.repeat(40);
  assert.equal(nearestName(`${long.slice(1)}y`, [long]), long);
  assert.equal(nearestName(`${long}y`, [long]), undefined);
});

test('edits are those of a table that is filled in whole, as far as they are few', () => {
  const random = new Random(7);
  const word = () => Array.from({ length: random.below(9) }, () => random.pick(['a', 'b', 'c'])).join('');
  for (let round = 0; round < 5_000; round++) {
    const [from, to] = [word(), word()];
    const most = Math.min(mostEdits, Math.floor(from.length / 2));
    const expected = countInTable(from, to);
    assert.equal(editsBetween(from, to), expected > most ? Infinity : expected, `${from} ${to}`);
  }
});

/** Letters added, left out, changed or swapped with the next one. */
function countInTable(from: string, to: string): number {
  const table = Array.from({ length: from.length + 1 }, (_, row) =>
    Array.from({ length: to.length + 1 }, (_cell, column) => (row === 0 ? column : row)),
  );
  const at = (row: number, column: number) => table[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    for (let column = 1; column <= to.length; column++) {
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      table[row]?.splice(
        column,
        1,
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1),
          isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return at(from.length, to.length);
}
