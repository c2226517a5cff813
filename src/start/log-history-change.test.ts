import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LostChange } from '../store/write/history.ts';
import { logHistoryChange } from './log-history-change.ts';

test('each lost change is logged once, a hundred in a line', () => {
  for (const [count, lines] of [
    [0, [0]],
    [1, [1]],
    [100, [100]],
    [101, [100, 1]],
    [250, [100, 100, 50]],
  ] as const) {
    const all = Array.from({ length: count }, (_, version): LostChange => ({
      version,
      accountId: 'ac_1',
      kind: 'api_key',
      id: `ak_${version}`,
      action: 'deleted',
    }));
    const logged: Readonly<Record<string, unknown>>[] = [];
    const log = { error: (fields: Readonly<Record<string, unknown>>) => void logged.push(fields), warn: () => {} };
    logHistoryChange(log).changed({ atMs: 1, seenVersion: 300, version: 5, lost: all });
    const told = logged.map(({ lost }) => lost as readonly LostChange[]);
    assert.deepEqual(
      told.map(({ length }) => length),
      lines,
    );
    assert.deepEqual(told.flat(), all);
    assert.equal(logged[0]?.['lostChanges'], count);
  }
});
