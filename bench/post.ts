import { startServer } from './support/bare-servers.ts';
import type { Listening } from './support/bare-servers.ts';
import type { Benchmark, Settings } from './support/benchmark.ts';
import { keyMetadata } from './support/fill.ts';
import { Gatehouse, newDatabaseFile } from './support/gatehouse.ts';
import type { LoadOptions } from './support/load.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { atLeast, compare, figureOf } from './support/report.ts';
import type { Section } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { slowFsync } from './support/slow-fsync.ts';

const oneCommit = new URL('support/one-commit.ts', import.meta.url).pathname;

export const post: Benchmark = {
  name: 'post',
  summary: 'P3: POST of an API key, 32 at a time, answered when it is durable (SQLite, `synchronous=FULL`)',
  async run(settings) {
    const here = await measure(settings, {}, "with this machine's disk", 2.5);
    const slowDisk = await slowFsync(1000);
    if (slowDisk === undefined) {
      const lines = [...here.lines, '', 'Left out: fsync of 1 ms, for want of a C compiler (`cc`) to build the delay.'];
      return { ...here, lines };
    }
    const slow = await measure(settings, slowDisk, 'with 1 ms more at each fsync', 8);
    return {
      title: 'POST of a durable row',
      lines: [...here.lines, '', ...slow.lines],
      verdicts: [...here.verdicts, ...slow.verdicts],
    };
  },
};

async function measure(
  { rounds, seconds }: Settings,
  environment: Readonly<Record<string, string>>,
  where: string,
  goal: number,
): Promise<Section> {
  await using alone = await Gatehouse.start({
    environment,
    isFromSources: true,
    nodeArguments: ['--import', oneCommit],
  });
  await using grouped = await Gatehouse.start({ environment, isFromSources: true });
  await using fastify: Listening = await startServer('fastify-sqlite', [await newDatabaseFile()], { environment });

  const body = JSON.stringify({ description: 'a key', metadata: keyMetadata });
  const optionsFor = (gatehouse: Gatehouse, port = gatehouse.apiPort): LoadOptions => ({
    port,
    method: 'POST',
    paths: ['/api_keys'],
    headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
    body,
    seconds,
  });
  const variants = [
    underLoad('one commit a request', alone.process, optionsFor(alone)),
    underLoad('group commit', grouped.process, optionsFor(grouped)),
    underLoad('Fastify, one bare row, one commit', fastify.process, optionsFor(grouped, fastify.port)),
  ];
  const outcomes = await interleave(variants, { rounds });
  const [single = Number.NaN, group = Number.NaN] = outcomes.map((outcome) => figureOf(outcome, 'perSecond').median);
  return {
    title: '',
    lines: [`POST ${where}:`, '', ...compare(variants, outcomes, loadColumns, 'one commit a request')],
    verdicts: [atLeast('P3', `group commit × one commit a request, ${where}`, group / single, goal)],
  };
}
