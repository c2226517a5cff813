import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Served } from '../test/e2e/agents/support/served.ts';
import { descriptorSlack, soak, soakSettings } from '../test/e2e/soak/support/soak.ts';
import type { Sample, SoakReport } from '../test/e2e/soak/support/soak.ts';
import { drawTimeline } from './support/chart.ts';
import { scratchFolder } from './support/scratch.ts';
import { median, quantile } from './support/statistics.ts';

/**
 * `npm run bench:soak -- [--minutes 30] [--write]`: mixed load while the configuration changes, agents come and go and
 * workers are killed. Ends with 1 if descriptors, memory or latency have grown. `--write` draws the charts of
 * docs/performance.md.
 */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, write: { type: 'boolean', default: false } },
});
const seconds = Number(values.minutes) * 60;
const restartSeconds = 30;
/** Largest ratio of the last quarter of the run to the second one; the first one fills caches. */
const memoryGrowth = 1.15;
const memorySlackMegabytes = 20;
const descriptorGrowth = 1.15;
const latencyGrowth = 1.25;

interface Series {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly valueOf: (sample: Sample) => number;
}

const memory: Series = {
  key: 'soak-memory',
  title: 'resident memory',
  unit: 'MB',
  valueOf: ({ megabytes }) => megabytes,
};
const descriptors: Series = {
  key: 'soak-descriptors',
  title: 'open descriptors',
  unit: '',
  valueOf: (sample) => sample.descriptors,
};
const p50: Series = { key: 'soak-p50', title: 'p50', unit: 'ms', valueOf: ({ tookMs }) => median(tookMs) };
const p99: Series = { key: 'soak-p99', title: 'p99', unit: 'ms', valueOf: ({ tookMs }) => quantile(tookMs, 0.99) };
const series = [memory, descriptors, p50, p99];

if (!(seconds > 0)) throw new Error('--minutes must be a number above 0');
const databaseUrl = `sqlite:${join(await scratchFolder(), 'soak.db')}`;
await using served = await Served.start(databaseUrl, { ...soakSettings, 'idle-seconds': '10' });
process.stdout.write('seconds  descriptors  memory  p50 ms  p99 ms\n');
const sampleSeconds = Math.max(1, seconds / 60);
const report = await soak(served, { seconds, sampleSeconds, restartSeconds, onSample: print });
print(report.after);
const faults = judge(report);
const summary = summarize(report);
process.stdout.write(`\n${summary}\n`);
process.stdout.write(faults.length === 0 ? 'flat\n' : `not flat: ${faults.join('; ')}\n`);
if (values.write) writeCharts(report);
process.exitCode = faults.length === 0 ? 0 : 1;

function print(sample: Sample): void {
  const cells = [
    sample.seconds.toFixed(0).padStart(7),
    String(sample.descriptors).padStart(11),
    `${sample.megabytes.toFixed(0)} MB`.padStart(6),
    ...[p50, p99].map(({ valueOf }) => (sample.tookMs.length === 0 ? '' : valueOf(sample).toFixed(2)).padStart(6)),
  ];
  process.stdout.write(`${cells.join('  ').trimEnd()}\n`);
}

/** Medians of the second and of the last quarter. */
function quarters({ samples }: SoakReport, { valueOf }: Series): { readonly early: number; readonly late: number } {
  const quarter = (number: number) =>
    samples.slice((samples.length * (number - 1)) / 4, (samples.length * number) / 4).map(valueOf);
  return { early: median(quarter(2)), late: median(quarter(4)) };
}

function judge(soaked: SoakReport): readonly string[] {
  const { before, after, failures } = soaked;
  const found: string[] = [];
  const compare = (each: Series, growth: number, slack = 0) => {
    const { early, late } = quarters(soaked, each);
    if (late > early * growth + slack) {
      found.push(`${each.title} grew from ${early.toFixed(1)} to ${late.toFixed(1)} ${each.unit}`.trimEnd());
    }
  };
  if (failures.length > 0) found.push(`${failures.length} requests failed, the first one with ${failures[0]}`);
  if (after.descriptors > before.descriptors + descriptorSlack) {
    found.push(`${before.descriptors} descriptors at the start, ${after.descriptors} at the end`);
  }
  compare(memory, memoryGrowth, memorySlackMegabytes);
  compare(descriptors, descriptorGrowth);
  compare(p50, latencyGrowth);
  compare(p99, latencyGrowth);
  return found;
}

function summarize(soaked: SoakReport): string {
  const { requests, changes, agents, restarts, brokenOff, failures } = soaked;
  const counts = [requests, changes, agents, restarts].map((count) => count.toLocaleString('en-US'));
  const ratios = series.map((each) => {
    const { early, late } = quarters(soaked, each);
    return `${each.title} ${(late / early).toFixed(2)}`;
  });
  return (
    `In ${values.minutes} minutes: ${counts[0]} requests, ${counts[1]} changes, ${counts[2]} times an agent that came and went, ` +
    `${counts[3]} killed workers (${brokenOff} requests broke off with them), ${failures.length} other failures. ` +
    `Last quarter ÷ second quarter: ${ratios.join(', ')}.`
  );
}

function writeCharts({ samples }: SoakReport): void {
  for (const { key, title, unit, valueOf } of series) {
    const points = samples.map((sample) => ({ x: sample.seconds / 60, y: valueOf(sample) }));
    writeFileSync(
      new URL(`../docs/charts/${key}.svg`, import.meta.url),
      drawTimeline({ title, unit, points, xUnit: 'min' }),
    );
  }
  const images = series.map(({ key, title }) => `![${title} over time](charts/${key}.svg)`).join('\n');
  const block = `<!-- soak: written by bench/soak.ts -->\n\n${images}\n\n${summary}\n\n<!-- end of soak -->`;
  const page = new URL('../docs/performance.md', import.meta.url);
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(/<!-- soak[^]*?<!-- end of soak -->/, () => block),
  );
}
