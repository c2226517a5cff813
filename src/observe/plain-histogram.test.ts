import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Histogram, Registry } from 'prom-client';

import { PlainHistogram } from './plain-histogram.ts';

test('what it shows is what a histogram of prom-client shows of the same values', async () => {
  const options = { name: 'a_seconds', help: 'Some.', buckets: [0.1, 0.5, 2] };
  const plain = new PlainHistogram(options);
  const usual = new Histogram({ ...options, registers: [] });
  const shown = async (metric: Histogram): Promise<string> => {
    const registry = new Registry();
    registry.registerMetric(metric);
    return registry.metrics();
  };
  assert.equal(await shown(plain), await shown(usual));
  for (const value of [0, 0.05, 0.1, 0.10001, 0.5, 1, 2, 2.5, 1000]) {
    plain.add(value);
    usual.observe(value);
  }
  assert.equal(await shown(plain), await shown(usual));
  assert.match(await shown(plain), /a_seconds_bucket\{le="\+Inf"\} 9\n/);
});
