import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSend } from '../targets.ts';

test('of what a collector says about a record it rejects, the start is kept', async () => {
  const answer = { partialSuccess: { rejectedLogRecords: 1, errorMessage: `no\n${'😀'.repeat(20_000)}` } };
  const send = createSend({
    fetchFor: () => async () => Response.json(answer),
    syslog: { connect: () => assert.fail(), resolve: () => assert.fail() },
    folder: undefined,
    mailServer: undefined,
  });
  const event = {
    id: 'ev_1',
    type: 'test.v0',
    at: '2026-01-01T00:00:00Z',
    accountId: 'ac_1',
    body: '{}',
    shortBody: '{}',
    title: 'Test',
  };
  const target = { kind: 'otlp' as const, url: 'https://a.test', headers: {} };
  const outcome = await send('ac_1', target, [event], new AbortController().signal);
  if (outcome.kind !== 'refused') assert.fail(outcome.kind);
  assert.match(outcome.reason, /^it rejected the log record: no /);
  assert.deepEqual([outcome.reason.length, outcome.reason.isWellFormed()], [200, true]);
});
