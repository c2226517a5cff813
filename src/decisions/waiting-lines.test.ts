import assert from 'node:assert/strict';
import { test } from 'node:test';

import { WaitingLines } from './waiting-lines.ts';

const line = 'x'.repeat(1024);

function fill(lines: WaitingLines, accountId: string, most: number): number {
  let added = 0;
  while (added < most && lines.hasRoom(accountId)) {
    lines.add(accountId, added, 0, line);
    added++;
  }
  return added;
}

test('lines that wait are bounded, however many accounts they are of, and one with few has room', () => {
  const limit = 1024 * 1024;
  const lines = new WaitingLines(limit);
  const greedy = fill(lines, 'ac_greedy', 10_000);
  assert.equal(greedy, 512);
  let added = greedy;
  for (let account = 0; account < 3; account++) added += fill(lines, `ac_large_${account}`, 300);
  assert.equal(fill(lines, 'ac_small', 10), 10);
  added += 10;
  for (let account = 0; account < 100; account++) added += fill(lines, `ac_${account}`, 100);
  assert.equal(added, (2 * limit) / line.length);
  assert.equal(lines.dropped('ac_greedy'), 1);
  assert.equal(lines.dropped('ac_99'), 1);

  let bytes = 0;
  for (let taken = lines.take(); taken !== undefined; taken = lines.take()) bytes += taken.bytes.length;
  assert.equal(bytes, 2 * limit);
  assert.equal(fill(lines, 'ac_after', 10_000), 512);
});
