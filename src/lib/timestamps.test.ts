import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseTimestamp } from './timestamps.ts';

test('a time in UTC is read to the second', () => {
  assert.equal(parseTimestamp('2026-11-14T10:11:14Z'), Date.UTC(2026, 10, 14, 10, 11, 14));
  assert.equal(parseTimestamp('2026-11-14T10:11:14.999Z'), Date.UTC(2026, 10, 14, 10, 11, 14));
  assert.equal(parseTimestamp('2028-02-29T23:59:59Z'), Date.UTC(2028, 1, 29, 23, 59, 59));
});

test('anything else is no time', () => {
  for (const text of [
    '',
    'tomorrow',
    '2026-11-14',
    '2026-11-14T10:11:14',
    '2026-11-14T10:11:14+02:00',
    '2026-11-14 10:11:14Z',
    '2026-11-14T10:11Z',
    '2026-02-30T10:11:14Z',
    '2027-02-29T10:11:14Z',
    '2026-13-01T10:11:14Z',
    '2026-11-14T24:00:00Z',
    '2026-11-14T10:11:60Z',
    ' 2026-11-14T10:11:14Z',
    '2026-11-14T10:11:14Z\n',
    '2026-11-14T10:11:14.Z',
    '+002026-11-14T10:11:14Z',
    '1700000000',
  ]) {
    assert.equal(parseTimestamp(text), undefined, JSON.stringify(text));
  }
});
