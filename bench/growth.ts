import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { gatehouseVariant } from './change.ts';
import { drawChart } from './support/chart.ts';
import { leaveServerCore } from './support/cores.ts';
import { readRoutes } from './support/edges.ts';
import { filledDatabase, keyMetadata } from './support/fill.ts';
import { Gatehouse } from './support/gatehouse.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { showNumber, table } from './support/report.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `node bench/growth.ts [--quick] [--write]`: what an installation costs with 100, 10,000 and 100,000 of everything.
 * `--write` draws the charts and puts them, with the figures, into docs/performance.md.
 */
const sizes = [100, 10_000, 100_000];
const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, write: { type: 'boolean', default: false } },
});
const rounds = values.quick ? 2 : 5;
const seconds = values.quick ? 1 : 2;

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
const measured = new Map<number, Readonly<Record<string, number>>>();
for (const size of sizes) measured.set(size, await measure(size));
const lines = report();
process.stdout.write(`${lines.join('\n')}\n`);
if (values.write) writeCharts();

async function measure(size: number): Promise<Readonly<Record<string, number>>> {
  await using upstream = await startUpstream();
  const databaseFile = await filledDatabase({ edges: size, keys: size, rules: size, upstreamPort: upstream.port });
  const routes = readRoutes(databaseFile, 10);
  await using gatehouse = await Gatehouse.start({ databaseFile });
  const { headers, apiPort: port } = gatehouse;
  const memory = gatehouse.process.residentMegabytes;
  const [key] = (await gatehouse.call('GET', '/api_keys?limit=1'))['keys'] as readonly { readonly id: string }[];
  const [policy] = (await gatehouse.call('GET', '/ip_policies'))['ip_policies'] as readonly { readonly id: string }[];
  const body = JSON.stringify({ description: 'a key', metadata: keyMetadata });
  const asJson = { ...headers, 'Content-Type': 'application/json' };
  return {
    start: gatehouse.startMs / 1000,
    memory,
    get: await cpuUs(gatehouse, { port, headers, paths: [`/api_keys/${key?.id}`] }),
    list: await cpuUs(gatehouse, { port, headers, paths: ['/api_keys'] }),
    https: await cpuUs(gatehouse, { port: gatehouse.httpsPort, tls: true }),
    change: await repeat(async () => (await gatehouseVariant('', gatehouse, routes).measure())['ms'] ?? Number.NaN),
    rule: await addRules(gatehouse, policy?.id ?? ''),
    post: await cpuUs(gatehouse, { port, headers: asJson, method: 'POST', paths: ['/api_keys'], body }),
  };
}

async function cpuUs(gatehouse: Gatehouse, options: Omit<LoadOptions, 'seconds'>): Promise<number> {
  const once = async () => (await measureLoad(gatehouse.process, { ...options, seconds }))['cpuUs'] ?? Number.NaN;
  // Once more than counts, until the code has its final form.
  await once();
  return repeat(once);
}

async function addRules(gatehouse: Gatehouse, policy: string): Promise<number> {
  let host = 0;
  return repeat(async () => {
    const startMs = performance.now();
    const rule = { ip_policy_id: policy, cidr: `192.0.2.${(host += 1)}/32`, action: 'allow' };
    await gatehouse.call('POST', '/ip_policy_rules', rule);
    return performance.now() - startMs;
  });
}

async function repeat(once: () => Promise<number>): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round++) taken.push(await once());
  return median(taken);
}

function valueOf(size: number, { key }: Figure): number {
  return measured.get(size)?.[key] ?? Number.NaN;
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
