import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { decision, openDecisions } from '../../test/support/decisions.ts';
import { isLong } from '../../test/support/long-form.ts';
import { isSampled } from '../../test/support/sample.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import * as gatewayErrors from '../gateway/errors.ts';
import * as sharedErrors from '../errors/shared.ts';
import { causesByCode } from '../observe/decision-causes.ts';
import type { Decision } from './decision-line.ts';
import type { Decisions } from './decisions.ts';
import { quantile } from './durations.ts';
import type { DurationCounts } from './durations.ts';
import type { SummaryPoint, SummaryQuestion, TopField } from './messages.ts';

const account = 'ac_one';
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const endMs = Math.floor(Date.now() / hourMs) * hourMs;
const beginMs = endMs - 2 * dayMs;

const numRuns = isLong ? 100 : isSampled ? 8 : 25;
const seed = isSampled ? { seed: 11 } : {};

const one = <Value>(...values: Value[]) => fc.constantFrom(...values);

/** What becomes of a visitor, with the cause by which it counts. */
const outcomes: readonly (Partial<Decision> & { readonly cause: string })[] = [
  { cause: '', status: 200 },
  { cause: '', status: 404 },
  { cause: '', status: 502 },
  { cause: '', status: 200, verdict: 'warned', would_be_refused_by: 'rate_limit' },
  { cause: 'rule', verdict: 'refused', status: 403, code: 3203, module: 'ip_restriction' },
  { cause: 'rule', verdict: 'refused', status: 403, code: 3205, rule: 'ipx_1 ipx_2' },
  { cause: 'policy', verdict: 'refused', status: 403, code: 20377 },
  { cause: 'rate', verdict: 'refused', status: 429, code: 20350, module: 'rate_limit' },
  { cause: 'certificate', verdict: 'refused', status: 403, code: 20181 },
  { cause: 'password', verdict: 'refused', status: 401, code: 20151 },
  { cause: 'token', verdict: 'refused', status: 401, code: 20324 },
  { cause: 'token', verdict: 'refused', status: 403, code: 3204 },
  { cause: 'login', verdict: 'refused', status: 401, code: 20309 },
  { cause: 'quota', status: 503, code: 20114 },
  { cause: '', status: 0, kind: 'tcp' },
  { cause: 'rule', verdict: 'refused', status: 0, kind: 'tcp', rule: 'ipx_1' },
  { cause: 'certificate', verdict: 'refused', status: 0, kind: 'tcp', module: 'mutual_tls' },
  { cause: 'other', verdict: 'refused', status: 0, kind: 'tcp', module: 'unheard-of' },
];

const made = fc.record({
  at_ms: fc.noBias(fc.integer({ min: beginMs, max: endMs - 1 })),
  outcome: fc.integer({ min: 0, max: outcomes.length - 1 }),
  edge_id: one('edghts_1', 'edghts_2', 'edgtcp_1'),
  route_id: one('', 'edghtsrt_1', 'edghtsrt_2'),
  backend_id: one('', 'bkdstc_1', 'bkdstc_2'),
  source: one('203.0.113.9', '203.0.113.10', '2001:db8::7'),
  host: one('shop.example.com', 'Shop.Example.com'),
  path: one('/', '/a', '/b'),
  person: one('', 'ada@example.com'),
  duration_us: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 100, max: 90_000_000 }), one(2 ** 53 - 1)),
  bytes_in: fc.integer({ min: 0, max: 1000 }),
  bytes_out: fc.integer({ min: 0, max: 1000 }),
});

type Row = Decision & { readonly cause: string };

async function fill(decisions: Decisions, rows: readonly Row[], parts: number): Promise<void> {
  for (const [at, { cause: _cause, ...row }] of rows.entries()) {
    decisions.add(account, row);
    decisions.add('ac_two', row);
    if (at % Math.ceil(rows.length / parts) !== 0) continue;
    await decisions.flush();
    await decisions.tend(Date.now() + hourMs);
  }
}

function sample(count: number): readonly Row[] {
  return fc
    .sample(made, { numRuns: count, ...seed })
    .map(({ outcome, ...fields }) => {
      const { cause, ...of } = outcomes[outcome] ?? assert.fail();
      return { ...decision({ ...fields, ...of }), cause };
    })
    .toSorted((a, b) => a.at_ms - b.at_ms);
}

type Filter = Pick<
  SummaryQuestion,
  'edgeId' | 'routeId' | 'backendId' | 'rule' | 'module' | 'person' | 'status' | 'anyOf'
>;

const filters: readonly (Filter & { readonly passes: (row: Row) => boolean })[] = [
  { passes: () => true },
  { edgeId: 'edghts_1', passes: (row) => row.edge_id === 'edghts_1' },
  { edgeId: 'edghts_none', passes: () => false },
  { routeId: 'edghtsrt_2', passes: (row) => row.route_id === 'edghtsrt_2' },
  { backendId: 'bkdstc_2', passes: (row) => row.backend_id === 'bkdstc_2' },
  { rule: 'ipx_1', passes: (row) => row.rule.split(' ').includes('ipx_1') },
  { module: 'rate_limit', passes: (row) => [row.module, row.would_be_refused_by].includes('rate_limit') },
  {
    edgeId: 'edghts_1',
    routeId: 'edghtsrt_1',
    passes: (row) => row.edge_id === 'edghts_1' && row.route_id === 'edghtsrt_1',
  },
  { person: 'ada@example.com', passes: (row) => row.person !== '' },
  { status: 502, passes: (row) => row.status === 502 },
  {
    anyOf: [
      { dimension: 'edge', key: 'edghts_1' },
      { dimension: 'edge', key: 'edgtcp_1' },
    ],
    passes: (row) => row.edge_id !== 'edghts_2',
  },
  {
    anyOf: [
      { dimension: 'route', key: 'edghtsrt_1' },
      { dimension: 'restriction', key: 'ipx_1' },
    ],
    passes: (row) => row.route_id === 'edghtsrt_1' || row.rule.includes('ipx_1'),
  },
  {
    anyOf: [
      { dimension: 'restriction', key: 'ipx_1' },
      { dimension: 'restriction', key: 'ipx_2' },
    ],
    passes: (row) => row.rule !== '',
  },
  { anyOf: [], passes: () => false },
];

/** Counts by hand what a summary counts. */
function countByHand(rows: readonly Row[]) {
  const sum = (value: (row: Row) => number): number => rows.reduce((all, row) => all + value(row), 0);
  const number = (isIn: (row: Row) => boolean): number => sum((row) => (isIn(row) ? 1 : 0));
  const counts: Record<string, number> = {
    requests: rows.length,
    refused: number(({ cause }) => cause !== ''),
    warned: number(({ verdict }) => verdict === 'warned'),
    errors4xx: number(({ cause, status }) => cause === '' && status >= 400 && status < 500),
    errors5xx: number(({ cause, status }) => cause === '' && status >= 500),
    bytesIn: sum((row) => row.bytes_in),
    bytesOut: sum((row) => row.bytes_out),
  };
  for (const { cause } of rows) if (cause !== '') counts[cause] = number((row) => row.cause === cause);
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== 0));
}

function checkDurations(counts: DurationCounts, rows: readonly Row[], kind: string): void {
  const durations = rows.filter((row) => row.cause === '' && row.kind === kind).map((row) => row.duration_us);
  durations.sort((a, b) => a - b);
  assert.equal(
    Object.values(counts).reduce((all, count) => all + count, 0),
    durations.length,
  );
  for (const share of [0.01, 0.5, 0.95, 1]) {
    const exact = durations[Math.max(1, Math.ceil(durations.length * share)) - 1];
    const told = quantile(counts, share);
    if (exact === undefined || told === undefined) assert.equal(told, exact);
    else assert.ok(Math.abs(told - exact) <= exact * 0.05, `${share}: ${told} for ${exact}`);
  }
}

function checkPoints(points: readonly SummaryPoint[], rows: readonly Row[], stepMs: number): void {
  const expected = Map.groupBy(rows, ({ at_ms: atMs }) => atMs - (atMs % stepMs));
  assert.deepEqual(
    points.map(({ atMs, counts }) => [atMs, counts]),
    [...expected].map(([atMs, some]) => [atMs, countByHand(some)]),
  );
  for (const { atMs, durations } of points)
    for (const kind of ['https', 'tcp'] as const) checkDurations(durations[kind], expected.get(atMs) ?? [], kind);
}

const filesOf = (folder: string, end: string): number =>
  readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith(end)).length;

describe('a summary', () => {
  test('equals counting every decision by hand, of any selection, range and interval', async () => {
    const folder = scratchFolder();
    const rows = sample(2_000);
    const options = { summaries: { leastRows: 60, least: 3, most: 4 } };
    {
      await using first = await openDecisions(folder, options);
      await fill(first, rows.slice(0, 1_000), 11);
    }
    // Some was summed up before the last start, some since, and some not at all.
    await using decisions = await openDecisions(folder, options);
    await fill(decisions, rows.slice(1_000), 9);
    assert.ok(filesOf(folder, '.minutes.parquet') >= 10);
    assert.ok(filesOf(folder, '.hours.parquet') >= 4);
    const question = fc.record({
      filter: one(...filters),
      stepMs: one(minuteMs, 7 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, dayMs),
      from: fc.integer({ min: -2, max: 60 }),
      length: fc.integer({ min: 1, max: 60 }),
    });
    const check = async ({
      filter,
      stepMs,
      from,
      length,
    }: typeof question extends fc.Arbitrary<infer Value> ? Value : never) => {
      const { passes, ...selection } = filter;
      const fromMs = Math.floor((beginMs + from * hourMs) / stepMs) * stepMs;
      const toMs = fromMs + Math.max(1, Math.floor((length * hourMs) / stepMs)) * stepMs;
      const asked = { accountId: account, ...selection, fromMs, toMs, stepMs, hoursFromMs: beginMs };
      const { points, hours, cutAtMs, hoursCutAtMs } = await decisions.ask('summary', asked);
      assert.deepEqual([cutAtMs, hoursCutAtMs], [undefined, undefined]);
      const mine = rows.filter(passes);
      checkPoints(
        points,
        mine.filter((row) => row.at_ms >= fromMs && row.at_ms < toMs),
        stepMs,
      );
      const isCountedByHour = hours.length > 0;
      if (isCountedByHour)
        checkPoints(
          hours,
          mine.filter((row) => row.at_ms < toMs - (toMs % hourMs)),
          hourMs,
        );
    };
    await fc.assert(fc.asyncProperty(question, check), { numRuns, ...seed });
    for (const filter of filters)
      for (const stepMs of [15 * minuteMs, hourMs]) await check({ filter, stepMs, from: -1, length: 60 });
    const whole = { fromMs: beginMs, toMs: endMs, stepMs: dayMs, hoursFromMs: beginMs };
    assert.ok((await decisions.ask('summary', { accountId: account, edgeId: 'edghts_1', ...whole })).hours.length > 40);
    assert.deepEqual((await decisions.ask('summary', { accountId: 'ac_none', ...whole })).points, []);
  });

  test('tells from when on it has counted, when it is cut off, and when decisions were removed', async () => {
    const folder = scratchFolder();
    const rows = sample(200);
    await using decisions = await openDecisions(folder, { queries: { beginMs: 0 } });
    await fill(decisions, rows, 12);
    const asked = { accountId: account, fromMs: beginMs, toMs: endMs, stepMs: hourMs };
    const { points, cutAtMs } = await decisions.ask('summary', asked);
    assert.ok(cutAtMs !== undefined && cutAtMs > beginMs && cutAtMs < endMs);
    const known = points.filter(({ atMs }) => atMs >= cutAtMs);
    checkPoints(
      known,
      rows.filter((row) => row.at_ms >= (known[0]?.atMs ?? 0)),
      hourMs,
    );
    assert.ok(known.length > 0);
  });

  test('has nothing of what was removed, also after a start', async () => {
    const folder = scratchFolder();
    const asked = { accountId: account, fromMs: beginMs, toMs: endMs + hourMs, stepMs: hourMs };
    const options = { summaries: { leastRows: 1, least: 2 }, maxBytes: 60_000 };
    const keptFroms: number[] = [];
    for (let start = 0; start < 2; start++) {
      await using decisions = await openDecisions(folder, options);
      if (start === 0) await fill(decisions, sample(400), 20);
      const { keptFromMs, points } = await decisions.ask('summary', asked);
      const { rows } = await decisions.ask('list', { accountId: account, limit: 1_000 });
      assert.ok(rows.length > 0 && rows.length < 400);
      const oldestMs = Number(rows.at(-1)?.at_ms);
      assert.ok(keptFromMs > beginMs && keptFromMs <= oldestMs + dayMs);
      const counted = points
        .filter(({ atMs }) => atMs >= oldestMs)
        .reduce((sum, { counts }) => sum + (counts['requests'] ?? 0), 0);
      assert.ok(counted <= rows.length);
      keptFroms.push(keptFromMs);
    }
    assert.equal(keptFroms[0], keptFroms[1]);
  });
});

describe('the top', () => {
  test('is what counting by hand finds, by any field and both orders', async () => {
    const rows = sample(1_000);
    await using decisions = await openDecisions(scratchFolder());
    await fill(decisions, rows, 20);
    const keysOf: Readonly<Record<TopField, (row: Row) => readonly string[]>> = {
      source: (row) => [row.source],
      person: (row) => [row.person],
      host: (row) => [row.host.toLowerCase()],
      path: (row) => [row.path],
      module: (row) => [row.module],
      edge: (row) => [row.edge_id],
      route: (row) => [row.route_id],
      restriction: (row) => row.rule.split(' '),
      backend: (row) => [row.backend_id],
    };
    // Object.entries does not tell the names.
    for (const [by, keys] of Object.entries(keysOf) as [TopField, (row: Row) => readonly string[]][])
      for (const order of ['requests', 'refused'] as const)
        for (const limit of [1, 100]) {
          const range = { fromMs: beginMs + hourMs, toMs: endMs - hourMs };
          const answer = await decisions.ask('top', {
            accountId: account,
            ...range,
            by,
            order,
            limit,
            edgeId: 'edghts_1',
          });
          const sums = new Map<string, { requests: number; refused: number }>();
          for (const row of rows)
            for (const key of keys(row)) {
              if (key === '' || row.at_ms < range.fromMs || row.at_ms >= range.toMs || row.edge_id !== 'edghts_1')
                continue;
              const sum = sums.get(key) ?? { requests: 0, refused: 0 };
              sums.set(key, { requests: sum.requests + 1, refused: sum.refused + (row.cause === '' ? 0 : 1) });
            }
          const sorted = [...sums]
            .map(([key, sum]) => ({ key, ...sum }))
            .filter((entry) => entry[order] > 0)
            .toSorted((a, b) => b[order] - a[order] || (a.key < b.key ? -1 : 1));
          assert.deepEqual(answer.entries, sorted.slice(0, limit), `${by} ${order}`);
          assert.equal(answer.missedAtMost, 0);
          assert.equal(answer.leastListed, sorted.length > limit ? sorted[limit - 1]?.[order] : 0);
        }
  });
});

test('each error for want of a place counts as quota, and each refusal as what it is of', () => {
  const {
    backendConnectionsInUse,
    backendSourceConnectionsInUse,
    backendSourceQueueFull,
    backendQueueFull,
    backendQueueOverdue,
    accountConnectionsInUse,
    upstreamConnectionsInUse,
    tooManyClientConnections,
    tooManySourceConnections,
    tooManyStreamResets,
    tooManyWaitForAgents,
  } = gatewayErrors;
  const { agentStreamsInUse, heldBodiesInUse, tooManyTokenChecks, tooManyRequests } = sharedErrors;
  const all = [
    backendConnectionsInUse,
    backendSourceConnectionsInUse,
    backendSourceQueueFull,
    backendQueueFull,
    backendQueueOverdue,
    accountConnectionsInUse,
    upstreamConnectionsInUse,
    tooManyClientConnections,
    tooManySourceConnections,
    tooManyStreamResets,
    tooManyWaitForAgents,
    agentStreamsInUse,
    heldBodiesInUse,
    tooManyTokenChecks,
    tooManyRequests,
  ];
  const quota = [...causesByCode].filter(([, cause]) => cause === 'quota').map(([code]) => code);
  assert.deepEqual(new Set(quota), new Set(all.map(({ code }) => code)));
  assert.ok(![...causesByCode.values()].includes('other'));
});
