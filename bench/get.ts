import { startServer } from './support/bare-servers.ts';
import type { Benchmark } from './support/benchmark.ts';
import { filledDatabase } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { atLeast, compare, figureOf } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { restrictApi } from './support/setup.ts';

/** More keys than the store's cache holds, so that requests for each key in turn always read SQLite. */
const keyCount = 100_000;

export const get: Benchmark = {
  name: 'get',
  summary: 'P1: GET of one API key, with authentication and an enforced `api` restriction, beside bare servers',
  async run({ rounds, seconds }) {
    await using gatehouse = await Gatehouse.start({ databaseFile: await filledDatabase({ keys: keyCount }) });
    await restrictApi(gatehouse);
    const paths = (await keyIds(gatehouse)).map((id) => `/api_keys/${id}`);
    const [path = ''] = paths;
    const body = JSON.stringify(await gatehouse.call('GET', path));
    await using http = await startServer('bare-http', [body]);
    await using fastify = await startServer('bare-fastify', [body]);

    const { headers } = gatehouse;
    const common = { headers, seconds, paths: [path] };
    const variants = [
      underLoad('node:http, fixed text', http.process, { ...common, port: http.port }),
      underLoad('Fastify, fixed object', fastify.process, { ...common, port: fastify.port }),
      underLoad('Gatehouse, from memory', gatehouse.process, { ...common, port: gatehouse.apiPort }),
      underLoad('Gatehouse, from SQLite', gatehouse.process, { ...common, port: gatehouse.apiPort, paths }),
    ];
    const outcomes = await interleave(variants, { rounds });
    const [bare, , memory] = outcomes.map((outcome) => figureOf(outcome, 'perSecond').median);
    return {
      title: `GET of one API key (${body.length} bytes)`,
      lines: compare(variants, outcomes, loadColumns, 'node:http, fixed text'),
      verdicts: [atLeast('P1', 'GET from memory × node:http', (memory ?? 0) / (bare ?? 1), 0.5)],
    };
  },
};

/** Lists key ids, newest first, without the first key of the installation and the one that makes these calls. */
async function keyIds(gatehouse: Gatehouse): Promise<readonly string[]> {
  const ids: string[] = [];
  let path: string | undefined = '/api_keys';
  while (path !== undefined) {
    const page: Readonly<Record<string, unknown>> = await gatehouse.call('GET', path);
    // The list of API keys has this form.
    ids.push(...(page['keys'] as readonly { readonly id: string }[]).map(({ id }) => id));
    // It is a string, or null on the last page.
    const next = page['next_page_uri'] as string | null;
    path = next === null ? undefined : new URL(next).pathname + new URL(next).search;
  }
  return ids.slice(1, -1);
}
