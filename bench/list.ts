import { startServer } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { atLeast, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';

const keyCount = 100_000;
const pageSize = 100;
const deepPage = 1_000;

export const list: Benchmark = {
  name: 'list',
  summary: `P2: a page of ${pageSize} API keys of ${keyCount.toLocaleString('en-US')}, the first and the ${deepPage.toLocaleString('en-US')}th`,
  async run({ rounds, seconds }) {
    await using gatehouse = await Gatehouse.start({ databaseFile: await filledDatabase({ keys: keyCount }) });
    const first = `/api_keys?limit=${pageSize}`;
    const deep = await pathOfPage(gatehouse, first, deepPage);
    const body = JSON.stringify(await gatehouse.call('GET', first));
    await using fastify = await startServer('bare-fastify', [body]);

    const common = { headers: gatehouse.headers, seconds, port: gatehouse.apiPort };
    const variants = [
      underLoad('first page', gatehouse.process, { ...common, paths: [first] }),
      underLoad(`page ${deepPage}`, gatehouse.process, { ...common, paths: [deep] }),
      underLoad('Fastify, the same page as a fixed object', fastify.process, {
        ...common,
        port: fastify.port,
        paths: ['/'],
      }),
    ];
    const outcomes = await interleave(variants, { rounds });
    const [early = Number.NaN, late = Number.NaN, fixed = Number.NaN] = outcomes.map(
      (outcome) => figureOf(outcome, 'perSecond').median,
    );
    return {
      title: `a page of ${pageSize} (${Math.round(body.length / 1000)} kB)`,
      lines: compare(variants, outcomes, loadColumns, 'first page'),
      verdicts: [
        atLeast('P2', 'first page × Fastify with the same page as a fixed object', early / fixed, 0.5),
        atLeast('P2', `page ${deepPage} × first page`, late / early, 0.95),
      ],
    };
  },
};

/** Follows `next_page_uri` as a client does. */
async function pathOfPage(gatehouse: Gatehouse, first: string, page: number): Promise<string> {
  let path = first;
  for (let at = 1; at < page; at++) {
    const { pathname, search } = new URL(String((await gatehouse.call('GET', path))['next_page_uri']));
    path = pathname + search;
  }
  return path;
}
