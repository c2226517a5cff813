import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { OpenConnections } from './open-connections.ts';

interface Item {
  readonly id: number;
  index: number;
}

const idsOf = (items: Iterable<Item>) => [...items].map(({ id }) => id).toSorted((a, b) => a - b);

test('those that were added and not deleted are in it, in whatever order they went', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 20, maxLength: 60 }), (steps) => {
      const open = new OpenConnections<Item>();
      const expected: Item[] = [];
      for (const [id, step] of steps.entries()) {
        const [leaving] = step % 3 === 0 ? expected.splice(step % (expected.length + 1), 1) : [];
        if (leaving !== undefined) {
          open.delete(leaving);
          continue;
        }
        const added = { id, index: 0 };
        open.add(added);
        expected.push(added);
      }
      assert.equal(open.size, expected.length);
      assert.deepEqual(idsOf(open), idsOf(expected));
    }),
  );
});

test('all are met once, even where each is deleted when it is met', () => {
  const open = new OpenConnections<Item>();
  const ids = Array.from({ length: 10 }, (_, id) => id);
  for (const id of ids) open.add({ id, index: 0 });
  const met: Item[] = [];
  for (const each of open) {
    met.push(each);
    open.delete(each);
  }
  assert.deepEqual(idsOf(met), ids);
  assert.equal(open.size, 0);
});
