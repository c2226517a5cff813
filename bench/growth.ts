import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { measureStart } from './start.ts';
import { drawChart } from './support/chart.ts';
import { leaveServerCore } from './support/cores.ts';
import { filledDatabase } from './support/fill.ts';
import { openSite, works } from './support/growth-works.ts';
import type { Site } from './support/growth-works.ts';
import { figureOf, showNumber, table } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `node bench/growth.ts [--quick] [--write]`: measures installations with 100, 10,000 and 100,000 of everything.
 * `--write` draws the charts and puts them, with the figures, into docs/performance.md.
 */
const sizes = [100, 10_000, 100_000];
const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
});
const rounds = values.quick ? 2 : 5;

interface Figure {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
}

const figures: readonly Figure[] = [
  { key: 'get', title: 'GET of one key', unit: 'CPU µs' },
  { key: 'list', title: 'list of 100 keys', unit: 'CPU µs' },
  { key: 'post', title: 'POST of a key, 32 at a time', unit: 'CPU µs' },
  { key: 'https', title: 'HTTPS request', unit: 'CPU µs' },
  { key: 'change', title: 'a change until it is live', unit: 'ms' },
  { key: 'rule', title: 'one rule into a policy of so many', unit: 'ms' },
  { key: 'start', title: 'start until ready', unit: 's' },
  { key: 'memory', title: 'resident memory', unit: 'MB' },
];

leaveServerCore();
const measured = await measureAll();
const lines = report();
process.stdout.write(`${lines.join('\n')}\n`);
if (values.write) writeCharts();

/** Medians by figure, in the order of the sizes. */
async function measureAll(): Promise<ReadonlyMap<string, readonly number[]>> {
  await using started = new AsyncDisposableStack();
  const upstream = started.use(await startUpstream());
  const sites: Site[] = [];
  const files: string[] = [];
  for (const size of sizes) {
    const amounts = { edges: size, keys: size, rules: size, upstreamPort: upstream.port };
    files.push(await filledDatabase(amounts));
    sites.push(await openSite(await filledDatabase(amounts), started));
  }
  const medians = new Map<string, readonly number[]>();
  for (const work of works) {
    medians.set(work.key, await inTurn(sites.map((site) => () => work.measure(site))));
  }
  medians.set('start', await inTurn(files.map((file) => async () => (await measureStart(file)).seconds)));
  medians.set(
    'memory',
    sites.map(({ readyMegabytes }) => readyMegabytes),
  );
  return medians;
}

async function inTurn(measures: readonly (() => Promise<number>)[]): Promise<readonly number[]> {
  const variants = measures.map((measure) => ({ name: '', measure: async () => ({ value: await measure() }) }));
  const outcomes = await interleave(variants, { rounds, warmUps: 2 });
  return outcomes.map((outcome) => figureOf(outcome, 'value').median);
}

function valueOf(size: number, { key }: Figure): number {
  return measured.get(key)?.[sizes.indexOf(size)] ?? Number.NaN;
}

function report(): readonly string[] {
  const head = ['edges, keys and rules', ...sizes.map((size) => size.toLocaleString('en-US'))];
  const rows = figures.map((figure) => [
    `${figure.title} (${figure.unit})`,
    ...sizes.map((size) => showNumber(valueOf(size, figure))),
  ]);
  return table(head, rows);
}

function writeCharts(): void {
  const folder = new URL('../docs/charts/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const figure of figures) {
    const points = sizes.map((size) => ({ x: size, y: valueOf(size, figure) }));
    writeFileSync(new URL(`${figure.key}.svg`, folder), drawChart({ ...figure, points }));
  }
  const images = figures.map(({ key, title }) => `![${title}](charts/${key}.svg)`).join('\n');
  const page = new URL('../docs/performance.md', import.meta.url);
  const block = `<!-- growth: written by bench/growth.ts -->\n\n${images}\n\n${lines.join('\n')}\n\n<!-- end of growth -->`;
  const text = readFileSync(page, 'utf8').replace(/<!-- growth[^]*?<!-- end of growth -->/, () => block);
  writeFileSync(page, text);
}
