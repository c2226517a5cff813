import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit } from '../../../test/support/step-visit.ts';
import type { RateLimit } from '../../modules/step.ts';
import { RateCounts } from './rate-counts.ts';
import { takeRates } from './take-rate.ts';

const once: Omit<RateLimit, 'by'> = {
  scope: 'own',
  limit: 1,
  windowMs: 60_000,
  header: 'x-key',
  enforced: true,
};

test('values that are long and begin alike are counted apart, and so are their keys in policies', (t) => {
  const counts = new RateCounts({ ratesCounted: () => {} }, { now: () => 0 });
  t.after(() => counts[Symbol.dispose]());
  const rates = takeRates(counts);
  const long = 'k'.repeat(500);
  const isRefused = (by: 'header' | 'key', value: string) =>
    rates.take(requestVisit({ headers: ['X-Key', value] }), { ...once, by, key: value }) !== undefined;
  for (const by of ['header', 'key'] as const)
    assert.deepEqual(
      [isRefused(by, `${long}1`), isRefused(by, `${long}2`), isRefused(by, `${long}1`), isRefused(by, long)],
      [false, false, true, false],
      by,
    );
});
