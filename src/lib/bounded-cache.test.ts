import assert from 'node:assert/strict';
import { test } from 'node:test';

import { BoundedCache } from './bounded-cache.ts';

function filled(limit: number, count: number): BoundedCache<number, string> {
  const cache = new BoundedCache<number, string>(limit);
  for (let at = 0; at < count; at++) cache.set(at, `${at}`);
  return cache;
}

test('never more than the limit is kept, and what came last is', () => {
  for (const limit of [1, 2, 3, 10, 100]) {
    const cache = filled(limit, 1000);
    const left = Array.from({ length: 1000 }, (_, at) => at).filter((at) => cache.get(at) !== undefined);
    assert.ok(left.length <= limit, `${left.length} of ${limit}`);
    const newest = Array.from({ length: Math.ceil(limit / 2) - 1 }, (_, at) => 999 - at);
    for (const at of newest) assert.ok(left.includes(at), `${at} of ${limit}`);
  }
});

test('what is used stays while what is not used goes', () => {
  const cache = filled(10, 1);
  for (let at = 1; at < 1000; at++) {
    cache.set(at, `${at}`);
    assert.equal(cache.get(0), '0');
  }
  assert.equal(cache.get(1), undefined);
});

test('what is dropped or cleared is gone, also when it is older than the last half', () => {
  const cache = filled(10, 7);
  for (const at of [0, 6]) {
    assert.equal(cache.get(at), `${at}`);
    cache.drop(at);
    assert.equal(cache.get(at), undefined);
  }
  cache.clear();
  for (let at = 0; at < 7; at++) assert.equal(cache.get(at), undefined);
});

test('a value that was read before a drop is not kept', () => {
  const cache = filled(10, 3);
  const ticket = cache.ticket();
  cache.drop(1);
  cache.fill(ticket, 1, 'stale');
  assert.equal(cache.get(1), undefined);
  cache.set(1, 'fresh');
  assert.equal(cache.get(1), 'fresh');
});

test('a newer value takes the place of an older one in either half', () => {
  const cache = filled(10, 6);
  cache.set(0, 'newer');
  cache.set(5, 'newer');
  assert.equal(cache.get(0), 'newer');
  assert.equal(cache.get(5), 'newer');
});
