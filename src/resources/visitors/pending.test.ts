import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Pending } from './pending.ts';

test('each account has so many places, which are free again when its events are taken', () => {
  const pending = new Pending(2);
  const event = (id: string, accountId = 'ac_1') => ({ id, accountId });
  for (let round = 0; round < 3; round++) {
    const added = ['a', 'b', 'c', 'a'].map((id) => pending.add(event(id)));
    assert.deepEqual(added, [true, true, false, true], 'a newer event takes the place of the older one');
    assert.equal(pending.add(event('d', 'ac_2')), true, 'another account has its own');
    assert.deepEqual(pending.take(1), [event('a')]);
    assert.equal(pending.add(event('c')), true);
    assert.equal(pending.add(event('e')), false);
    assert.deepEqual(
      pending.take(9).map(({ id }) => id),
      ['b', 'd', 'c'],
    );
    assert.equal(pending.size, 0);
  }
});
