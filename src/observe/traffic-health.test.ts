import assert from 'node:assert/strict';
import { test } from 'node:test';

import { joinReports, p95Of, stateOf, tallyOf, TrafficHealth } from './traffic-health.ts';
import type { Ending } from './traffic-health.ts';

const startMs = 1_800_000_000_000;
const minuteMs = 60_000;
const answered: Ending = { kind: 'answered', durationMs: 20 };

function failed(atMs: number, message = 'refused'): Ending {
  return { kind: 'failed', error: { atMs, message } };
}

/** The state of "edge" after these endings, which came at these minutes. */
function stateAfter(endings: readonly (readonly [minute: number, ending: Ending, count?: number])[], atMinute: number) {
  const health = new TrafficHealth();
  for (const [minute, ending, count = 1] of endings) {
    for (let each = 0; each < count; each++) health.add(startMs + minute * minuteMs, 'account', ending, ['edge']);
  }
  const [report] = health.report(startMs + atMinute * minuteMs);
  return report && stateOf(report);
}

test('the state is that of the last ten minutes, or of the hour without requests in them', () => {
  assert.equal(stateAfter([[0, answered]], 0), 'answers');
  assert.equal(stateAfter([[0, failed(0)]], 0), 'does_not_answer');
  assert.equal(
    stateAfter(
      [
        [0, failed(0), 1],
        [0, answered, 99],
      ],
      0,
    ),
    'answers_in_part',
  );
  assert.equal(
    stateAfter(
      [
        [0, failed(0), 1],
        [0, answered, 100],
      ],
      0,
    ),
    'answers',
  );
  assert.equal(
    stateAfter(
      [
        [0, failed(0), 5],
        [30, answered],
      ],
      30,
    ),
    'answers',
    'it is over',
  );
  assert.equal(stateAfter([[0, failed(0), 5]], 30), 'does_not_answer', 'nobody has tried since');
  assert.equal(stateAfter([[0, failed(0), 5]], 60), undefined, 'an hour is over');
  assert.equal(stateAfter([[0, { kind: 'turned_away' }, 5]], 0), 'no_requests');
});

test('what answers late is slow, and so is what its clients wait for in vain', () => {
  const late: Ending = { kind: 'answered', durationMs: 4_000 };
  assert.equal(
    stateAfter(
      [
        [0, answered, 90],
        [0, late, 10],
      ],
      0,
    ),
    'slow',
  );
  assert.equal(
    stateAfter(
      [
        [0, answered, 99],
        [0, late, 1],
      ],
      0,
    ),
    'answers',
  );
  assert.equal(stateAfter([[0, { kind: 'left', durationMs: 9_000 }]], 0), 'slow');
  assert.equal(stateAfter([[0, { kind: 'left', durationMs: 9 }]], 0), 'no_requests', 'it was not given the time');
  assert.equal(
    stateAfter(
      [
        [0, { kind: 'left', durationMs: 9 }],
        [0, failed(0)],
      ],
      0,
    ),
    'does_not_answer',
  );
});

test('a connection that finds no backend is counted when it opens and fails when it closes', () => {
  const health = new TrafficHealth();
  health.add(startMs, 'account', { kind: 'answered' }, ['edge']);
  health.failed('edge', { atMs: startMs + minuteMs, message: 'nobody there' });
  const [report] = health.report(startMs + minuteMs);
  assert.ok(report);
  assert.deepEqual([report.hour.requests, report.hour.errors, stateOf(report)], [1, 1, 'does_not_answer']);
  assert.equal(report.lastError?.message, 'nobody there');
});

test('reports of several processes are added up, and the newest error counts', () => {
  const [one, other] = [new TrafficHealth(), new TrafficHealth()];
  for (let each = 0; each < 95; each++) one.add(startMs, 'account', { kind: 'answered', durationMs: 10 }, ['edge']);
  for (let each = 0; each < 6; each++) other.add(startMs, 'account', { kind: 'answered', durationMs: 800 }, ['edge']);
  one.add(startMs, 'account', failed(startMs, 'older'), ['edge']);
  other.add(startMs, 'account', failed(startMs + 1, 'newer'), ['edge']);
  // As it is stored.
  const stored = JSON.parse(JSON.stringify(other.report(startMs)));
  const [both] = joinReports([...one.report(startMs), ...stored]);
  assert.ok(both);
  assert.deepEqual([both.hour.requests, both.hour.errors, both.lastError?.message], [103, 2, 'newer']);
  const p95 = p95Of(both.hour);
  assert.ok(p95 !== undefined && Math.abs(p95 - 800) < 160, `${p95}`);
});

test('logins from which nobody comes back are no answers, and no chance after a while', () => {
  const begun: Ending = { kind: 'own', login: 'begun' };
  const back: Ending = { kind: 'own', login: 'back' };
  assert.equal(stateAfter([[0, begun, 2]], 0), 'no_requests', 'they may be typing their passwords');
  assert.equal(stateAfter([[0, begun, 3]], 0), 'no_login_returns');
  assert.equal(stateAfter([[0, begun]], 30), 'no_login_returns', 'half an hour ago');
  assert.equal(
    stateAfter(
      [
        [0, begun, 9],
        [1, back],
      ],
      30,
    ),
    'no_requests',
  );
  assert.equal(
    stateAfter(
      [
        [0, begun, 9],
        [1, answered],
      ],
      1,
    ),
    'answers',
    'who has a session gets in',
  );
});

test('what was turned away is counted by its cause, and the last one is kept', () => {
  const [one, other] = [new TrafficHealth(), new TrafficHealth()];
  const refused = (cause: 'rule' | 'rate', atMs: number): Ending => ({
    kind: 'turned_away',
    refusal: { atMs, cause, message: `by ${cause}`, source: '192.0.2.1' },
  });
  for (let each = 0; each < 3; each++) one.add(startMs, 'account', refused('rule', startMs), ['edge']);
  other.add(startMs + 1, 'account', refused('rate', startMs + 1), ['edge']);
  const [both] = joinReports([...one.report(startMs), ...other.report(startMs)]);
  assert.ok(both);
  assert.deepEqual([tallyOf(both.hour, 'rule'), tallyOf(both.hour, 'rate'), tallyOf(both.hour, 'login')], [3, 1, 0]);
  assert.deepEqual([both.hour.turnedAway, both.lastRefusal?.message], [4, 'by rate']);
  const { tallies: _of, ...older } = both.hour;
  assert.equal(tallyOf(older, 'rule'), 0, 'a process of an older release counts none');
});

test('more than can be told apart are left out, and that is said until an hour is over; old ones make room', () => {
  const health = new TrafficHealth();
  for (let each = 0; each < 1_600; each++) health.add(startMs, 'account', answered, [`edge ${each}`]);
  assert.equal(health.report(startMs).length, 1_500);
  assert.equal(health.hasLeftOut(startMs), true);
  const laterMs = startMs + 61 * minuteMs;
  health.add(laterMs, 'account', answered, ['edge new']);
  assert.deepEqual([health.report(laterMs).length, health.hasLeftOut(laterMs)], [1, false]);
});

test('after a clock that was ahead, its minutes count for nothing', () => {
  const health = new TrafficHealth();
  const aheadMs = startMs + 30 * minuteMs;
  const late: Ending = { kind: 'answered', durationMs: 9_000 };
  for (const ending of [failed(aheadMs), late]) health.add(aheadMs, 'account', ending, ['edge']);
  health.add(startMs, 'account', { kind: 'answered', durationMs: 20 }, ['edge']);
  const [report] = health.report(startMs);
  assert.ok(report);
  for (const counts of [report.hour, report.recent]) assert.deepEqual([counts.requests, counts.errors], [1, 0]);
  assert.equal(stateOf(report), 'answers');
});

test('what was slow an hour ago is not slow now', () => {
  const late: Ending = { kind: 'answered', durationMs: 9_000 };
  const health = new TrafficHealth();
  for (let each = 0; each < 100; each++) health.add(startMs, 'account', late, ['edge']);
  const nowMs = startMs + 45 * minuteMs;
  health.add(nowMs, 'account', answered, ['edge']);
  const [report] = health.report(nowMs);
  assert.ok(report);
  assert.deepEqual([report.hour.requests, report.recent.requests], [101, 1]);
  const [hour = 0, recent = 0] = [p95Of(report.hour), p95Of(report.recent)];
  assert.ok(hour > 5_000 && recent < 100, `${hour} ${recent}`);
  assert.equal(stateOf(report), 'answers');
});

test('places of hours ago are not counted in their next turn', () => {
  const health = new TrafficHealth();
  health.add(startMs, 'account', { kind: 'answered', durationMs: 9_000 }, ['edge']);
  const nowMs = startMs + 420 * minuteMs;
  health.add(nowMs, 'account', answered, ['edge']);
  const [report] = health.report(nowMs);
  assert.ok(report);
  assert.equal(report.hour.requests, 1);
  assert.ok((p95Of(report.hour) ?? Infinity) < 100);
});
