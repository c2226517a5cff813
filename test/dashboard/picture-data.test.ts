import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DecisionPoint, DecisionSummary } from '../../client/src/index.ts';
import { intervalAt } from '../../dashboard/src/lib/plot-series.ts';
import { rangeOf, timesOf } from '../../dashboard/src/lib/picture-times.ts';
import { countedOf, pastRequests } from '../../dashboard/src/parts/past-requests.ts';
import {
  causesText,
  filterOf,
  isMarked,
  labelOf,
  missingWords,
  picturesOf,
} from '../../dashboard/src/parts/pictures/picture-data.ts';

const noRefusals = {
  rule: 0,
  policy: 0,
  rate: 0,
  certificate: 0,
  password: 0,
  token: 0,
  login: 0,
  quota: 0,
  other: 0,
};
const counts = {
  requests: 0,
  errors_4xx: 0,
  errors_5xx: 0,
  warned: 0,
  refused: 0,
  refusals: noRefusals,
  bytes_in: 0,
  bytes_out: 0,
  p50_ms: null,
  p95_ms: null,
};

function pointAt(minute: number, fields: Partial<DecisionPoint> = {}): DecisionPoint {
  return { at: `2026-11-19T10:0${minute}:00Z`, ...counts, usual: null, ...fields };
}

function summaryOf(points: readonly DecisionPoint[], fields: Partial<DecisionSummary> = {}): DecisionSummary {
  return {
    since: '2026-11-19T10:00:00Z',
    until: '2026-11-19T11:00:00Z',
    step: 60,
    counted_from: '2026-11-19T10:00:00Z',
    durations_of: 'requests',
    points: [...points],
    total: counts,
    is_complete: true,
    gateways: [{ process_id: 'proc_1', state: 'answered', dropped: 0 }],
    ...fields,
  };
}

const usual = {
  requests: 3.5,
  errors_4xx: 0,
  errors_5xx: 0.5,
  refused: 1,
  bytes_in: 0,
  bytes_out: 0,
  p50_ms: 2,
  p95_ms: 40,
};
const busy = summaryOf(
  [
    pointAt(0, { requests: 5, refused: 2, errors_4xx: 2, errors_5xx: 1, p50_ms: 3, p95_ms: 9, usual }),
    pointAt(1),
    pointAt(2, { requests: 12, refused: 4, warned: 3, usual: { ...usual, p95_ms: null } }),
    pointAt(3, { requests: 12, errors_5xx: 3 }),
  ],
  {
    total: {
      ...counts,
      requests: 1_029,
      refused: 6,
      warned: 3,
      errors_4xx: 2,
      errors_5xx: 4,
      p50_ms: 3.4,
      p95_ms: 1_009.6,
    },
  },
);

const shownOf = (summary: DecisionSummary) =>
  picturesOf(summary, 'hour').map(({ name, figure, unit, usual: words, sentence }) => [
    name,
    figure,
    unit,
    words,
    sentence,
  ]);
const seriesOf = (summary: DecisionSummary, at: number, kind?: 'against') =>
  picturesOf(summary, 'hour', kind)[at]?.series.map(({ name, look, values }) => [name, look, values]);

test('pictures say in figures and sentences what came', () => {
  const clock = labelOf('2026-11-19T10:02:00Z', 'hour');
  assert.deepEqual(shownOf(busy), [
    [
      'Requests',
      '1,029',
      '6 refused',
      'Usual: 7',
      `1,029 requests in the last hour, 6 of them refused; most at ${clock}: 12.`,
    ],
    ['Errors', '0.58 %', '4 of 5xx, 2 of 4xx', 'Usual: 1 of 5xx', '4 answers of 5xx and 2 of 4xx in the last hour.'],
    [
      'Time, 95th percentile',
      '1,010',
      'ms',
      'Usual: 40 ms',
      'Half of the requests took 3 ms or less, 95 of 100 at most 1,010 ms.',
    ],
  ]);
  const some = summaryOf([pointAt(0, { requests: 4, errors_4xx: 1 })], {
    total: { ...counts, requests: 4, errors_4xx: 1 },
    durations_of: 'connections',
  });
  const [first, second] = shownOf(some);
  assert.deepEqual([first?.[0], second?.[1]], ['Connections', '25.0 %']);
  assert.match(
    String(picturesOf(some, 'week')[0]?.sentence),
    /^4 connections in the last week, 0 of them refused; most at 19 Nov, /,
  );
  assert.equal(picturesOf(summaryOf([]), 'day')[2]?.sentence, 'No time is known in the last day.');
});

test('pictures of nobody claim nothing', () => {
  assert.deepEqual(shownOf(summaryOf([pointAt(0), pointAt(1)])), [
    ['Requests', '0', '0 refused', 'What is usual is not known', 'Nobody came in the last hour.'],
    ['Errors', '–', '0 of 5xx, 0 of 4xx', 'What is usual is not known', 'No answer was an error in the last hour.'],
    ['Time, 95th percentile', '–', undefined, 'What is usual is not known', 'No time is known in the last hour.'],
  ]);
});

test('bars of what was refused stand on those of what was let in, and lines have gaps where nothing is known', () => {
  assert.deepEqual(seriesOf(busy, 0), [
    ['Refused', 'deny', [5, 0, 12, 12]],
    ['Let in', 'pass', [3, 0, 8, 12]],
    ['Usual', 'usual', [3.5, null, 3.5, null]],
  ]);
  assert.deepEqual(seriesOf(busy, 1), [
    ['4xx', 'warn', [3, 0, 0, 3]],
    ['5xx', 'deny', [1, 0, 0, 3]],
    ['Usual', 'usual', [0.5, null, 0.5, null]],
  ]);
  assert.deepEqual(seriesOf(busy, 2), [
    ['95th percentile', 'line', [9, null, null, null]],
    ['Median', 'second', [3, null, null, null]],
    ['Usual', 'usual', [40, null, null, null]],
  ]);
});

test('a restriction has one picture: whom it refused, and whom it warned of', () => {
  assert.equal(picturesOf(busy, 'hour', 'against').length, 1);
  assert.deepEqual(seriesOf(busy, 0, 'against'), [
    ['Refused', 'deny', [2, 0, 7, 0]],
    ['Let in, warned', 'warn', [0, 0, 3, 0]],
    ['Usual', 'usual', [3.5, null, 3.5, null]],
  ]);
  const [shown] = picturesOf(busy, 'hour', 'against');
  const clock = labelOf('2026-11-19T10:02:00Z', 'hour');
  assert.deepEqual(
    [shown?.name, shown?.figure, shown?.unit, shown?.usual, shown?.sentence],
    [
      'Requests refused',
      '6',
      '3 let in with a warning',
      'Usual: 7 of both',
      `6 requests refused and 3 let in with a warning in the last hour; most at ${clock}: 7.`,
    ],
  );
  const quiet = picturesOf(summaryOf([pointAt(0)]), 'day', 'against')[0]?.sentence;
  assert.equal(quiet, 'Nobody was refused or warned of in the last day.');
});

test('a point leads to the requests of its interval alone', () => {
  const filter = filterOf(pointAt(9), 900, { edge: 'edghts_1', verdict: undefined });
  // The page takes its last second as a part of the time.
  assert.deepEqual(filter, {
    edge: 'edghts_1',
    verdict: undefined,
    since: '2026-11-19T10:09:00Z',
    until: '2026-11-19T10:23:59Z',
  });
  assert.equal(
    pastRequests(filter),
    '/requests?edge=edghts_1&since=2026-11-19T10%3A09%3A00Z&until=2026-11-19T10%3A23%3A59Z',
  );
  assert.equal(pastRequests(), '/requests');
});

test('what is counted is what the list of requests is filtered by', () => {
  assert.deepEqual(countedOf({}), {});
  const all = { edge: 'a', route: 'b', backend: 'c', policy: 'd', agent: 'e', restriction: 'f', person: 'g' };
  assert.deepEqual(countedOf(all), {
    edge_id: 'a',
    route_id: 'b',
    backend_id: 'c',
    policy_id: 'd',
    tunnel_session_id: 'e',
    restriction_id: 'f',
    person: 'g',
  });
});

test('refusals are told by cause, most first', () => {
  assert.equal(causesText(busy), undefined);
  const refusals = { ...noRefusals, login: 3, rule: 1_200, quota: 1 };
  const summary = summaryOf([], { total: { ...counts, refusals } });
  assert.equal(causesText(summary), '1,200 by rules, 3 by want of a login, 1 by quotas');
});

test('what is missing is said, and nothing else', () => {
  type Gateways = DecisionSummary['gateways'];
  const of = (gateways: Gateways, fields: Partial<DecisionSummary> = {}) =>
    missingWords(summaryOf([], { gateways, is_complete: false, ...fields }));
  const answered = { process_id: 'proc_1', state: 'answered', dropped: 0 } as const;
  assert.deepEqual(missingWords(summaryOf([])), []);
  assert.deepEqual(of([answered]), ['Some may be missing: these are the least that there were.']);
  assert.deepEqual(of([answered, { process_id: 'proc_2', state: 'no_answer' }]), [
    '1 gateway has not told: these are the least that there were.',
  ]);
  assert.deepEqual(
    of([
      { ...answered, dropped: 3 },
      { ...answered, dropped: 4 },
    ]),
    ['7 decisions were not kept since the gateways were started.'],
  );
  assert.match(of([answered], { counted_from: '2026-11-19T10:00:01Z' }).join(), /^Counted from 19 Nov, .* on: /);
});

test('changes are marked that decide about visitors', () => {
  const marked = (kind: string) => isMarked({ kind });
  for (const kind of [
    'https_edge',
    'https_route',
    'ip_policy_rules',
    'ip_restriction',
    'static_backend',
    'cloud_endpoint',
    'tls_certificate',
  ])
    assert.equal(marked(kind), true, kind);
  for (const kind of [
    'account',
    'api_key',
    'bot_user',
    'user',
    'invitation',
    'event_destination',
    'event_subscription',
  ])
    assert.equal(marked(kind), false, kind);
});

test('a range is of whole intervals and ends with the one that goes on', () => {
  const nowMs = Date.parse('2026-11-19T10:07:30.250Z');
  assert.deepEqual(timesOf('hour', nowMs), {
    since: '2026-11-19T09:08:00Z',
    until: '2026-11-19T10:07:59Z',
    step: '60',
  });
  assert.deepEqual(timesOf('day', nowMs), {
    since: '2026-11-18T10:15:00Z',
    until: '2026-11-19T10:14:59Z',
    step: '900',
  });
  assert.deepEqual(timesOf('week', nowMs), {
    since: '2026-11-12T11:00:00Z',
    until: '2026-11-19T10:59:59Z',
    step: '3600',
  });
  assert.equal(timesOf('hour', Date.parse('2026-11-19T10:07:00Z')).until, '2026-11-19T10:07:59Z');
  for (const range of ['hour', 'day', 'week'] as const)
    assert.equal(rangeOf({ step: Number(timesOf(range, nowMs).step) }), range);
});

test('a place in a picture is of the interval that it lies in, and of none beside them', () => {
  const at = (time: number) => intervalAt([100, 160, 220], 60, time);
  assert.deepEqual([100, 159, 160, 279].map(at), [0, 0, 1, 2]);
  assert.deepEqual([99, 280].map(at), [undefined, undefined]);
  assert.equal(intervalAt([100, 220], 60, 170), undefined);
  assert.equal(intervalAt([], 60, 1), undefined);
});
