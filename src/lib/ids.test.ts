import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasPrefix, idBody, newId, newIdWithTime, toTimestamp } from './ids.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function decode(body: string): bigint {
  return Array.from(body).reduce((value, digit) => value * 62n + BigInt(alphabet.indexOf(digit)), 0n);
}

test('an id is its prefix and 27 base62 characters', () => {
  assert.match(newId('ak'), /^ak_[0-9A-Za-z]{27}$/);
});

test('ids of one process sort strictly in the order they were made', () => {
  const ids = Array.from({ length: 50_000 }, () => newId('x'));
  for (let at = 1; at < ids.length; at++)
    assert.ok((ids[at - 1] ?? '') < (ids[at] ?? ''), `${ids[at - 1]} < ${ids[at]}`);
});

test('the first four bytes of an id are the second of its creation since 1400000000', () => {
  const { id, createdAt } = newIdWithTime('ipp');
  const second = Number(decode(idBody(id)) >> 128n) + 1_400_000_000;
  assert.equal(new Date(second * 1000).toISOString(), createdAt.replace('Z', '.000Z'));
  assert.ok(Math.abs(second * 1000 - Date.now()) < 60_000);
});

test('a clock that was fifty years ahead and is set right dates nothing by the wrong year, and ids still sort', (t) => {
  const nowMs = Date.now();
  const yearsMs = 50 * 365 * 86_400_000;
  t.mock.timers.enable({ apis: ['Date'], now: nowMs + yearsMs });
  const ahead = newIdWithTime('ipp');
  assert.equal(ahead.createdAt, toTimestamp(nowMs + yearsMs));
  t.mock.timers.setTime(nowMs);
  const right = Array.from({ length: 3 }, () => newIdWithTime('ipp'));
  assert.deepEqual(
    right.map(({ createdAt }) => createdAt),
    right.map(() => toTimestamp(nowMs)),
  );
  const ids = [ahead, ...right].map(({ id }) => id);
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, ids.length);
});

test('only the whole prefix and a base62 body count as an id of a kind', () => {
  assert.ok(hasPrefix('ipp_8iLLoZgFuC6mYrgRf5NM', 'ipp'));
  for (const id of ['', 'ipp', 'ipp_', 'ippx_1', 'ip_1', 'ipp_a-b', 'ipp_\u0000', 'ipp_a_b']) {
    assert.equal(hasPrefix(id, 'ipp'), false, id);
  }
});
