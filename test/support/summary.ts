import { readFileSync } from 'node:fs';

import type { Result } from './reporter.ts';

const slowest = 10;

/** Prints what a whole run has shown, the failures last where whoever reads the end of a long log finds them; returns the exit code. */
export function summarize(results: readonly Result[], ms: number): number {
  const count = (is: Result['is']) => results.filter((each) => each.is === is).length;
  const files = results.flatMap((each) => (each.is === 'file' ? [each] : []));
  const failures = results.flatMap((each) => (each.is === 'failure' ? [each.text] : []));
  const lines: string[] = [];
  if (files.length > slowest) {
    lines.push(`The slowest ${slowest} of ${files.length} files:`);
    const sorted = files.toSorted((one, other) => other.ms - one.ms).slice(0, slowest);
    lines.push(...sorted.map((file) => `${(file.ms / 1000).toFixed(1).padStart(8)} s  ${file.name}`));
  }
  const processorSeconds = secondsOfChildren();
  const processor = processorSeconds === undefined ? '' : `, ${processorSeconds.toFixed(0)} s of processor time`;
  if (failures.length > 0) lines.push('', 'All failures of this run:', ...failures.map((text) => `\n${text}`), '');
  lines.push(`${(ms / 1000).toFixed(0)} s${processor}`);
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  lines.push(`${count('passed')} passed, ${count('failed')} failed${skipped}`);
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return failures.length > 0 ? 1 : 0;
}

/** Seconds of all processes that this one has started and that have ended; known on Linux only. */
function secondsOfChildren(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  // The name of the program, in brackets, may have spaces. The fields after it are numbered from 3; 16 and 17 are in ticks of 10 ms.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
