import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { decision, openDecisions, Seen } from '../../test/support/decisions.ts';
import { isLong } from '../../test/support/long-form.ts';
import { isSampled } from '../../test/support/sample.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import { parseCidr } from '../lib/ip/cidr.ts';
import type { DecisionRow } from './columns.ts';
import type { Decision } from './decision-line.ts';
import { DecisionsUnreadable } from './decision-reader.ts';
import type { Decisions } from './decisions.ts';
import type { DecisionFilter, DecisionPage } from './messages.ts';
import { sourceRange } from './source-range.ts';

const account = 'ac_one';
const hourMs = 3_600_000;
const beginMs = Date.now();

/** Pages that no reading of these tests comes near. */
const mostPages = 500;

/** All rows, page by page as a client follows them. */
async function readAll(decisions: Decisions, filter: Partial<DecisionFilter>, limit: number) {
  const rows: DecisionRow[] = [];
  let [pages, before]: [number, number | undefined] = [0, undefined];
  do {
    const page: DecisionPage = await decisions.ask('list', { accountId: account, ...filter, limit, before });
    rows.push(...page.rows);
    before = page.rows.length === limit ? Number(page.rows.at(-1)?.number) : page.cutAt;
    pages += 1;
    assert.ok(pages <= mostPages, 'the pages do not end');
  } while (before !== undefined);
  return { rows, pages };
}

/** The usual form tries the same filters in every run. */
const numRuns = isLong ? 100 : isSampled ? 5 : 15;
const seed = isSampled ? { seed: 7 } : {};

const one = <Value>(...values: Value[]) => fc.constantFrom(...values);

const made = fc.record({
  at_ms: fc.integer({ min: 0, max: 20 }).map((each) => beginMs + each * 500),
  edge_id: one('edghts_1', 'edghts_2', 'ep_1'),
  route_id: one('', 'edghtsrt_1', 'edghtsrt_2'),
  source: one('', '203.0.113.9', '203.0.113.200', '198.51.100.7', '2001:db8::7', '2001:db8:1::7', '::1', '0.0.0.0'),
  verdict: one('allowed', 'warned', 'refused'),
  module: one('', 'ip_restriction', 'oauth'),
  would_be_refused_by: one('', 'ip_restriction', 'rate_limit'),
  rule: one('', 'ipx_1', 'ipx_2', 'ipx_1 ipx_2', 'ipx_11'),
  person: one('', 'ada@example.com', "o'brien@example.com"),
  host: one('shop.example.com', 'Shop.Example.com', 'example.com'),
  status: one(0, 200, 403),
  request_id: one('', 'op_1'),
});

const networks = ['0.0.0.0/0', '203.0.113.0/25', '203.0.113.9/32', '::/0', '2001:db8::/32', '2001:db8::/48', '::1/128'];
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 1 });
const asked = fc.record({
  fromMs: optional(fc.integer({ min: -1, max: 21 }).map((each) => beginMs + each * 500)),
  toMs: optional(fc.integer({ min: -1, max: 21 }).map((each) => beginMs + each * 500)),
  edgeId: optional(one('edghts_1', 'ep_1', 'none')),
  routeId: optional(one('edghtsrt_1')),
  network: optional(one(...networks)),
  verdict: optional(one('warned', 'refused')),
  module: optional(one('ip_restriction', 'rate_limit')),
  rule: optional(one('ipx_1', 'ipx_2')),
  person: optional(one("o'brien@example.com")),
  host: optional(one('SHOP.example.com')),
  status: optional(one(200, 403)),
  requestId: optional(one('op_1')),
});

function networkOf(text: string) {
  const parsed = parseCidr(text);
  assert.ok(parsed.ok);
  return sourceRange(parsed.cidr);
}

/** The addresses of `made`, by hand. */
const within: Readonly<Record<string, (source: string) => boolean>> = {
  '0.0.0.0/0': (source) => source.includes('.'),
  '203.0.113.0/25': (source) => source === '203.0.113.9',
  '203.0.113.9/32': (source) => source === '203.0.113.9',
  '::/0': (source) => source !== '',
  '2001:db8::/32': (source) => source.startsWith('2001:db8:'),
  '2001:db8::/48': (source) => source === '2001:db8::7',
  '::1/128': (source) => source === '::1',
};

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

function passes(filter: Asked, row: Decision): boolean {
  const { fromMs = -Infinity, toMs = Infinity, network } = filter;
  const equal = (wanted: string | number | undefined, ...values: (string | number)[]) =>
    wanted === undefined || values.includes(wanted);
  return (
    row.at_ms >= fromMs &&
    row.at_ms < toMs &&
    equal(filter.edgeId, row.edge_id) &&
    equal(filter.routeId, row.route_id) &&
    (network === undefined || within[network]?.(row.source) === true) &&
    equal(filter.verdict, row.verdict) &&
    equal(filter.module, row.module, row.would_be_refused_by) &&
    equal(filter.rule, ...row.rule.split(' ')) &&
    equal(filter.person, row.person) &&
    equal(filter.host?.toLowerCase(), row.host.toLowerCase()) &&
    equal(filter.status, row.status) &&
    equal(filter.requestId, row.request_id)
  );
}

describe('decisions are read', () => {
  test('as a search through all of them finds them, by any filters and in pages of any size', async () => {
    await using decisions = await openDecisions(scratchFolder(), { queries: { rows: 150 } });
    const all = fc.sample(made, { numRuns: 400, ...seed }).map((fields, at) => decision({ ...fields, path: `/${at}` }));
    for (const [at, each] of all.entries()) {
      decisions.add(account, each);
      decisions.add('ac_two', { ...each, path: '/of-another' });
      if (at % 100 !== 60) continue;
      await decisions.flush();
      await decisions.tend(Date.now() + hourMs);
    }
    const check = async ({ network, ...given }: Asked, limit: number) => {
      const filter = { ...given, ...(network === undefined ? {} : { source: networkOf(network) }) };
      const { rows } = await readAll(decisions, filter, limit);
      const expected = all.filter((each) => passes({ ...given, network }, each)).map(({ path }) => path);
      assert.deepEqual(
        rows.map(({ path }) => path),
        expected.toReversed(),
      );
    };
    await fc.assert(fc.asyncProperty(asked, fc.integer({ min: 20, max: 120 }), check), { numRuns, ...seed });
    // Each alone: together they seldom leave a row.
    for (const network of networks) await check({ ...none, network }, 120);
    for (const [name, value] of Object.entries(singly)) await check({ ...none, [name]: value }, 120);
  });

  test('in bounded pieces, each of which says where to go on', async () => {
    for (const queries of [{ rows: 1 }, { beginMs: 0 }]) {
      const folder = scratchFolder();
      {
        await using decisions = await openDecisions(folder);
        for (let part = 0; part < 4; part++) {
          // Those of one moment have numbers without gaps, also from one file to the next.
          for (let at = 0; at < 3; at++) decisions.add(account, decision({ at_ms: beginMs, path: `/${part}${at}` }));
          await decisions.flush();
          await decisions.tend(Date.now() + hourMs);
        }
      }
      // Rows of files that were found at the start are counted when they are read.
      await using decisions = await openDecisions(folder, { queries });
      const { rows, pages } = await readAll(decisions, {}, 100);
      const paths = rows.map(({ path }) => path);
      assert.deepEqual(
        paths,
        '32 31 30 22 21 20 12 11 10 02 01 00'.split(' ').map((each) => `/${each}`),
      );
      assert.equal(pages, 4);
      const sparse = await decisions.ask('list', { accountId: account, limit: 5, requestId: 'op_none' });
      assert.deepEqual(sparse.rows, []);
      assert.ok(sparse.cutAt !== undefined);
    }
  });

  test('within a time, and a query that takes longer is ended', async () => {
    const seen = new Seen();
    await using decisions = await openDecisions(scratchFolder(), { queries: { endMs: 1 } }, seen);
    for (let at = 0; at < 20_000; at++) decisions.add(account, decision({ path: `/${at}` }));
    await assert.rejects(decisions.ask('list', { accountId: account, limit: 100 }), DecisionsUnreadable);
    assert.match(seen.lines.join(), /cannot be read for now/);
    assert.equal(seen.dropped, 0);
  });

  test('as values, whatever a filter holds', async () => {
    await using decisions = await openDecisions(scratchFolder());
    const hostile = ["' OR true --", "'; DROP TABLE x; --", '$before', '\\', '"', '%', '\u0000', 'ü'.repeat(100_000)];
    for (const each of ['kept', ...hostile]) decisions.add(account, decision({ person: each, path: '/' }));
    for (const text of hostile) {
      for (const name of ['edgeId', 'routeId', 'verdict', 'module', 'rule', 'host', 'requestId'])
        assert.deepEqual(
          (await decisions.ask('list', { accountId: account, limit: 100, [name]: text })).rows,
          [],
          name,
        );
      const { rows } = await decisions.ask('list', { accountId: account, limit: 100, person: text });
      const isKeptAsItIs = text.length < 250 && text !== '\u0000';
      assert.deepEqual(
        rows.map(({ person }) => person),
        isKeptAsItIs ? [text] : [],
      );
    }
    const { rows } = await decisions.ask('list', { accountId: account, limit: 100 });
    assert.equal(rows.length, hostile.length + 1);
  });

  test('not at all while their process hangs, and again when it goes on', async () => {
    const seen = new Seen();
    await using decisions = await openDecisions(scratchFolder(), {}, seen, 1_500);
    decisions.add(account, decision({ path: '/before' }));
    await decisions.flush();
    const pid = decisions.keeperPid ?? assert.fail();
    process.kill(pid, 'SIGSTOP');
    try {
      await assert.rejects(decisions.ask('list', { accountId: account, limit: 1 }), DecisionsUnreadable);
      decisions.add(account, decision({ path: '/meanwhile' }));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await decisions.flush();
    const { rows } = await decisions.ask('list', { accountId: account, limit: 10 });
    assert.deepEqual(
      rows.map(({ path }) => path),
      ['/meanwhile', '/before'],
    );
    assert.equal(seen.dropped, 0);
  });

  test('not by a process that dies meanwhile', async () => {
    await using decisions = await openDecisions(scratchFolder());
    const pid = decisions.keeperPid ?? assert.fail();
    process.kill(pid, 'SIGSTOP');
    const read = decisions.ask('list', { accountId: account, limit: 1 });
    process.kill(pid, 'SIGKILL');
    await assert.rejects(read, DecisionsUnreadable);
    decisions.add(account, decision());
  });
});

const none: Asked = {
  fromMs: undefined,
  toMs: undefined,
  edgeId: undefined,
  routeId: undefined,
  network: undefined,
  verdict: undefined,
  module: undefined,
  rule: undefined,
  person: undefined,
  host: undefined,
  status: undefined,
  requestId: undefined,
};

const singly = {
  fromMs: beginMs + 5_000,
  toMs: beginMs + 5_000,
  edgeId: 'ep_1',
  routeId: 'edghtsrt_2',
  verdict: 'warned',
  module: 'ip_restriction',
  rule: 'ipx_1',
  person: "o'brien@example.com",
  host: 'Shop.example.com',
  status: 403,
  requestId: 'op_1',
};
