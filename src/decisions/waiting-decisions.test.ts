import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decision } from '../../test/support/decisions.ts';
import { packedRowBytes } from './packed-decisions.ts';
import { WaitingDecisions } from './waiting-decisions.ts';

const rowBytes = 1024;
const row = decision({ host: '', method: '', path: 'x'.repeat(rowBytes - packedRowBytes) });

function fill(waiting: WaitingDecisions, accountId: string, most: number): number {
  let added = 0;
  while (added < most && waiting.add(accountId, row)) added++;
  return added;
}

test('decisions that wait are bounded, however many accounts they are of, and one with few has room', () => {
  const limit = 1024 * 1024;
  const waiting = new WaitingDecisions(limit);
  const greedy = fill(waiting, 'ac_greedy', 10_000);
  assert.equal(greedy, 512);
  let added = greedy;
  for (let account = 0; account < 3; account++) added += fill(waiting, `ac_large_${account}`, 300);
  assert.equal(fill(waiting, 'ac_small', 10), 10);
  added += 10;
  for (let account = 0; account < 100; account++) added += fill(waiting, `ac_${account}`, 100);
  assert.equal(added, (2 * limit) / rowBytes);
  assert.equal(waiting.dropped('ac_greedy'), 1);
  assert.equal(waiting.dropped('ac_99'), 1);

  let taken = 0;
  const rows = new Map<string, number>();
  for (let batch = waiting.take(); batch !== undefined; batch = waiting.take())
    for (const [accountId, share] of batch.shares) {
      taken += share.bytes;
      rows.set(accountId, (rows.get(accountId) ?? 0) + share.rows);
    }
  assert.equal(taken, 2 * limit);
  assert.deepEqual([rows.get('ac_greedy'), rows.get('ac_small')], [512, 10]);
  assert.equal(fill(waiting, 'ac_after', 10_000), 512);
});

test('texts that visitors make long count whole, whatever of them is kept', () => {
  const limit = 1024 * 1024;
  for (const name of ['host', 'method', 'path', 'reason', 'person'] as const) {
    const waiting = new WaitingDecisions(limit);
    const long = decision({ [name]: 'x'.repeat(limit / 2) });
    assert.deepEqual([waiting.add('ac_1', long), waiting.add('ac_1', long)], [true, false], name);
  }
});
