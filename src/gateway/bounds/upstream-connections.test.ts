import assert from 'node:assert/strict';
import { test } from 'node:test';

import { wideBounds } from '../../../test/gateway/support/bounds.ts';
import { BoundReports } from '../../lib/bound-reports.ts';
import { boundErrors } from './bound.ts';
import { UpstreamConnections } from './upstream-connections.ts';

test('a place that is closed twice is free once', (t) => {
  const log = { warn() {} };
  const reports = new BoundReports(boundErrors, () => {}, log);
  t.after(() => reports[Symbol.dispose]());
  for (const bound of ['backendConnections', 'upstreamConnections', 'accountConnections'] as const) {
    const all = new UpstreamConnections({ ...wideBounds, [bound]: 2 }, reports);
    const take = () => all.backend('b', 'a').take(1);
    const [one, other] = [take(), take()];
    assert.ok(typeof one === 'object' && typeof other === 'object');
    assert.equal(typeof take(), 'string', bound);
    for (let times = 0; times < 2; times++) one.close();
    assert.equal(typeof take(), 'object', bound);
    assert.equal(typeof take(), 'string', `${bound}: the other is still open`);
  }
});
