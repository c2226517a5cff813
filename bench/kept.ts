import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { decisionLine } from '../src/decisions/decision-line.ts';
import type { Decision } from '../src/decisions/decision-line.ts';
import { parseCidr } from '../src/lib/ip/cidr.ts';
import { sourceRange } from '../src/decisions/source-range.ts';
import { DecisionStore } from '../src/decisions/store.ts';
import type { Benchmark } from './support/benchmark.ts';
import { makeDecisions } from './support/made-decisions.ts';
import { atMost, showNumber, showSummary, table } from './support/report.ts';
import { scratchFolder } from './support/scratch.ts';
import { summarize } from './support/statistics.ts';

/** Decisions of one account within a week, and those of a short run. BENCH_DECISIONS gives another number. */
const usual = { whole: 3_000_000, quick: 200_000 };
/** So many do not go through the store: the engine makes their files. BENCH_DECISIONS_FOLDER keeps them for another run. */
const madeFrom = 10_000_000;
const weekMs = 7 * 24 * 3_600_000;
const hourMs = 3_600_000;
const accountId = 'ac_bench';
const rowsAtOnce = 4_096;
const edges = 50;
/** The same in every run, so that files of one can be read by another. */
const madeEndMs = Date.UTC(2026, 0, 5);

export const kept: Benchmark = {
  name: 'kept',
  summary: 'a week of decisions about visitors of one account: their size, and how long questions about them take',
  async run({ quick, rounds }) {
    const rows = Number(process.env['BENCH_DECISIONS'] ?? (quick ? usual.quick : usual.whole));
    const folder = process.env['BENCH_DECISIONS_FOLDER'] ?? join(await scratchFolder(), 'kept');
    const isMade = rows >= madeFrom;
    const endMs = isMade ? madeEndMs : Math.floor(Date.now() / hourMs) * hourMs;
    const began = { ms: performance.now(), cpuUs: cpuUs() };
    if (isMade && !existsSync(join(folder, 'gateway')))
      await makeDecisions({ folder, accountId, rows, beginMs: endMs - weekMs, endMs });
    const store = await DecisionStore.open({ folder, days: 8, maxBytes: 2 ** 40, archive: undefined });
    if (!isMade) await fill(store, rows, endMs - weekMs);
    for (let hasMore = true; hasMore;) hasMore = await store.closeDue(endMs + hourMs);
    for (let hasMore = true; hasMore;) hasMore = await store.rollUpDue(endMs + hourMs);
    const perRow = { us: ((performance.now() - began.ms) * 1000) / rows, cpuUs: (cpuUs() - began.cpuUs) / rows };
    const range = { accountId, toMs: endMs };
    const parsed = parseCidr('198.51.100.7/32');
    if (!parsed.ok) throw new Error(parsed.reason);
    const source = sourceRange(parsed.cidr);
    const questions: Readonly<Record<string, () => Promise<unknown>>> = {
      'the newest 50 of one source': () => store.ask('list', { accountId, limit: 50, source }),
      'an edge, an hour by the minute': () =>
        store.ask('summary', { ...range, fromMs: endMs - hourMs, stepMs: 60_000, edgeId: 'edghts_7' }),
      'an edge, a week by the hour, with what is usual': () =>
        store.ask('summary', {
          ...range,
          fromMs: endMs - weekMs,
          stepMs: hourMs,
          edgeId: 'edghts_7',
          hoursFromMs: endMs - weekMs,
        }),
      'everything, a week by the hour, with what is usual': () =>
        store.ask('summary', { ...range, fromMs: endMs - weekMs, stepMs: hourMs, hoursFromMs: endMs - weekMs }),
      'the sources with most refusals of an hour': () =>
        store.ask('top', { ...range, fromMs: endMs - hourMs, by: 'source', order: 'refused', limit: 20 }),
      'the sources with most requests of a week': () =>
        store.ask('top', { ...range, fromMs: endMs - weekMs, by: 'source', order: 'requests', limit: 20 }),
    };
    const taken: { readonly name: string; readonly ms: readonly number[]; readonly cpuMs: readonly number[] }[] = [];
    for (const [name, ask] of Object.entries(questions)) {
      const [ms, cpuMs]: [number[], number[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        const at = { ms: performance.now(), cpuUs: cpuUs() };
        await ask();
        ms.push(performance.now() - at.ms);
        cpuMs.push((cpuUs() - at.cpuUs) / 1000);
      }
      taken.push({ name, ms, cpuMs });
    }
    const size = { decisions: megabytes(join(folder, 'accounts')), summaries: megabytes(join(folder, 'summaries')) };
    await store.close();
    const week = summarize(taken[3]?.cpuMs ?? []).median;
    return {
      title: `${rows.toLocaleString('en-US')} decisions of a week`,
      lines: [
        `${showNumber(size.decisions)} MB of decisions (${showNumber((size.decisions * 1e6) / rows)} bytes each) and ${showNumber(size.summaries)} MB of summaries. ` +
          (isMade
            ? 'The engine made their files: they did not go through the gateway.'
            : `To write and close them took ${showNumber(perRow.cpuUs)} µs of processor time each, and ${showNumber(perRow.us)} µs by the clock.`),
        '',
        ...table(
          ['question', 'ms', 'ms of processor time'],
          taken.map(({ name, ms, cpuMs }) => [name, showSummary(summarize(ms)), showSummary(summarize(cpuMs))]),
        ),
      ],
      verdicts: [atMost('decisions', "a week's summary, ms of processor time", week, 1_000)],
    };
  },
};

async function fill(store: DecisionStore, rows: number, beginMs: number): Promise<void> {
  const random = randomNumbers();
  let number = beginMs * 1000;
  for (let at = 0; at < rows; at += rowsAtOnce) {
    const lines: string[] = [];
    const count = Math.min(rowsAtOnce, rows - at);
    const firstNumber = Math.max(number + 1, (beginMs + (at * weekMs) / rows) * 1000);
    let atMs = 0;
    for (let row = at; row < at + count; row++) {
      atMs = Math.floor(beginMs + (row * weekMs) / rows);
      number = Math.max(number + 1, Math.floor(atMs * 1000));
      lines.push(decisionLine(number, visit(atMs, random)));
    }
    const minAtMs = Math.floor(beginMs + (at * weekMs) / rows);
    const bytes = Buffer.from(lines.join(''));
    const first = Math.floor(firstNumber);
    await store.append({ accountId, rows: count, firstNumber: first, minAtMs, maxAtMs: atMs, bytes }, Date.now());
  }
}

/** A visit as many sites have them: few edges and paths, many sources, one of fifty refused. */
function visit(atMs: number, random: (below: number) => number): Decision {
  const edge = random(edges);
  const isRefused = random(50) === 0;
  const place = random(1_000_000);
  return {
    at_ms: atMs,
    kind: 'https',
    verdict: isRefused ? 'refused' : 'allowed',
    request_id: '',
    edge_id: `edghts_${edge}`,
    route_id: `edghtsrt_${edge * 2 + random(2)}`,
    source: random(100_000) === 0 ? '198.51.100.7' : `10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`,
    port: 0,
    host: `shop-${edge}.example.com`,
    method: random(10) === 0 ? 'POST' : 'GET',
    path: `/products/${random(5_000)}`,
    protocol: '2',
    status: isRefused ? 403 : random(100) === 0 ? 502 : 200,
    code: isRefused ? 3203 : 0,
    module: isRefused ? 'ip_restriction' : '',
    rule: '',
    would_be_refused_by: '',
    reason: '',
    person: '',
    backend_id: isRefused ? '' : `bkdstc_${edge}`,
    duration_us: 200 + random(50_000),
    upstream_us: isRefused ? -1 : 100 + random(40_000),
    bytes_in: 0,
    bytes_out: random(20_000),
    configuration_version: 7,
    worker: 1 + random(2),
  };
}

/** The same numbers in every run. */
function randomNumbers(): (below: number) => number {
  let state = 12_345;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function megabytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0) / 1e6;
}

function cpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
