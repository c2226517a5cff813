import assert from 'node:assert/strict';
import { test } from 'node:test';

import { jobsLeftBehind } from './left-behind.ts';
import type { Job } from './storage.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const dayMs = 86_400_000;
const job: Job = {
  accountId: 'ac_1',
  hostname: 'a.gatehouse-app.net',
  keyType: 'ecdsa',
  failures: 0,
  certificateId: 'cert_1',
  renewsAt: '2026-10-01T00:00:00Z',
};
const wild: Job = { ...job, hostname: '*.gatehouse-app.net' };

function isLeft(each: Job, endedDays: number, ...names: readonly string[]): boolean {
  const notAfterMs = nowMs - endedDays * dayMs;
  const certificate = { id: 'cert_1', accountId: 'ac_1', names: [each.hostname], notBeforeMs: 0, notAfterMs };
  const wanted = names.map((name) => {
    const [accountId = '', hostname = ''] = name.split(' ');
    return { accountId, hostname, keyType: 'ecdsa', isManaged: false } as const;
  });
  const input = { wanted, certificates: [certificate], jobs: [each], nowMs, keepMs: 7 * dayMs };
  return jobsLeftBehind(input).length === 1;
}

test('a certificate whose name is gone is kept until it has expired, and for the grace time after that', () => {
  assert.deepEqual(
    [-1, 1, 6.9, 7].map((days) => isLeft(job, days)),
    [false, false, false, true],
  );
});

test('one whose name somebody has is kept, also by a name below a wildcard; names of other accounts do not count', () => {
  assert.equal(isLeft(job, 100, 'ac_1 a.gatehouse-app.net'), false);
  assert.equal(isLeft(wild, 100, 'ac_1 b.gatehouse-app.net'), false);
  assert.equal(isLeft(wild, 100, 'ac_1 *.gatehouse-app.net'), false);
  assert.equal(isLeft(wild, 100, 'ac_1 b.c.gatehouse-app.net'), true);
  assert.equal(isLeft(job, 100, 'ac_2 a.gatehouse-app.net', 'ac_1 b.gatehouse-app.net'), true);
});

test('a name that failed lately keeps its failures, so that it cannot start over by going and coming', () => {
  const { certificateId: _id, renewsAt: _at, ...failed } = job;
  assert.equal(isLeft({ ...failed, failures: 4, retriesAt: '2026-11-15T13:00:00Z' }, 100), false);
  assert.equal(isLeft({ ...failed, failures: 4, startedAt: '2026-11-10T13:00:00Z' }, 100), false);
  assert.equal(isLeft({ ...failed, failures: 4, retriesAt: '2026-11-01T13:00:00Z' }, 100), true);
});

test('the work grows with the jobs and the names, not with both at once', () => {
  const count = 500;
  let looks = 0;
  const jobs = Array.from({ length: count }, (_, at) => ({ ...job, hostname: `n${at}.gatehouse-app.net` }));
  const wanted = jobs.map(({ hostname }) => ({
    keyType: 'ecdsa' as const,
    isManaged: false,
    hostname,
    get accountId() {
      looks += 1;
      return 'ac_2';
    },
  }));
  assert.equal(jobsLeftBehind({ wanted, certificates: [], jobs, nowMs, keepMs: 7 * dayMs }).length, count);
  assert.ok(looks <= 4 * count, `looked at names ${looks} times`);
});
