import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { createAccount } from '../test/e2e/gateway/support/host-command.ts';
import { Program } from '../test/e2e/gateway/support/program.ts';
import { soak } from '../test/e2e/gateway/support/soak.ts';
import type { Sample, SoakReport } from '../test/e2e/gateway/support/soak.ts';
import { scratchFolder } from './support/scratch.ts';
import { median } from './support/statistics.ts';

/** `node bench/soak.ts --minutes 10`: mixed load with changes; ends with 1 if descriptors or memory have grown. */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const seconds = Number(values.minutes) * 60;
/** Descriptors more than at the start that are no leak: the database opens a few of its own. */
const descriptorSlack = 5;
/** Ratio of memory in the last quarter of the run to that in the second; the first quarter fills caches. */
const memoryGrowth = 1.15;
const memorySlackMegabytes = 20;

if (!(seconds > 0)) throw new Error('--minutes must be a number above 0');
const databaseUrl = `sqlite:${join(await scratchFolder(), 'soak.db')}`;
await using program = await Program.start(databaseUrl, {
  'access-log': '0',
  'idle-seconds': '10',
  'log-level': 'warn',
});
const token = await createAccount(databaseUrl, 'changing');
process.stdout.write('seconds  descriptors  memory\n');
const report = await soak(program, { token, seconds, sampleSeconds: Math.max(1, seconds / 60), onSample: print });
print(report.after);
const faults = judge(report);
process.stdout.write(`\n${report.requests} requests, ${report.changes} changes, ${report.failures.length} failures\n`);
process.stdout.write(faults.length === 0 ? 'flat\n' : `not flat: ${faults.join('; ')}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;

function print({ seconds: at, descriptors, megabytes }: Sample): void {
  const cells = [at.toFixed(0).padStart(7), String(descriptors).padStart(11), `${megabytes.toFixed(0)} MB`.padStart(6)];
  process.stdout.write(`${cells.join('  ')}\n`);
}

function judge({ before, after, samples, failures }: SoakReport): readonly string[] {
  const quarter = (number: number) =>
    samples.slice((samples.length * (number - 1)) / 4, (samples.length * number) / 4).map(({ megabytes }) => megabytes);
  const [early, late] = [median(quarter(2)), median(quarter(4))];
  const found: string[] = [];
  if (failures.length > 0) found.push(`requests failed, the first one with ${failures[0]}`);
  if (after.descriptors > before.descriptors + descriptorSlack) {
    found.push(`${before.descriptors} descriptors at the start, ${after.descriptors} at the end`);
  }
  if (late > early * memoryGrowth + memorySlackMegabytes) {
    found.push(`memory grew from ${early.toFixed(0)} to ${late.toFixed(0)} MB`);
  }
  return found;
}
