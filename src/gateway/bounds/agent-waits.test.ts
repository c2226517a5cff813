import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';

import { wideBounds } from '../../../test/gateway/support/bounds.ts';
import { BoundReports } from '../../lib/bound-reports.ts';
import { AgentWaits } from './agent-waits.ts';
import { boundErrors } from './bound.ts';

test('one that leaves while others are woken is not called', async (t) => {
  const log = { warn() {} };
  const reports = new BoundReports(boundErrors, () => {}, log);
  t.after(() => reports[Symbol.dispose]());
  const waits = new AgentWaits({ ...wideBounds, agentWaitMs: 60_000, agentWaiting: 100 }, reports);
  const called: string[] = [];
  const enter = (name: string, retry = () => {}) => {
    const waiter = {
      accountId: 'a',
      untilMs: performance.now() + 60_000,
      giveUp: () => called.push(`${name} gave up`),
    };
    const entered = waits.enter('b', { ...waiter, retry: () => (called.push(name), retry()) });
    return typeof entered === 'object' ? entered : assert.fail(entered);
  };
  enter('first', () => second.leave());
  const second = enter('second');
  enter('third');
  waits.wake('b');
  await nextTurn();
  assert.deepEqual(called, ['first', 'third']);
});
