import { readProcessorSeconds } from './processor-seconds.ts';
import type { Result } from './reporter.ts';

const dearest = 20;

/** Prints what a whole run has shown, the failures last where whoever reads the end of a long log finds them; returns the exit code. */
export function summarize(results: readonly Result[], ms: number): number {
  const count = (is: Result['is']) => results.filter((each) => each.is === is).length;
  const files = results.flatMap((each) => (each.is === 'file' ? [each] : []));
  const texts = (is: 'failure' | 'unsteady') => results.flatMap((each) => (each.is === is ? [each.text] : []));
  const failures = texts('failure');
  const unsteady = texts('unsteady');
  const lines: string[] = [];
  if (files.length > 1) {
    const sorted = files.toSorted((one, other) => other.processorSeconds - one.processorSeconds).slice(0, dearest);
    const shown = sorted.length < files.length ? `The dearest ${dearest} of ${files.length} files` : 'The files';
    lines.push(`${shown}, by processor time and duration:`);
    lines.push(
      ...sorted.map(
        (file) =>
          `${file.processorSeconds.toFixed(1).padStart(8)} s ${(file.ms / 1000).toFixed(1).padStart(8)} s  ${file.name}`,
      ),
    );
  }
  const seconds = readProcessorSeconds();
  const processor = seconds === undefined ? '' : `, ${seconds.children.toFixed(0)} s of processor time`;
  if (unsteady.length > 0) {
    const heading = 'Failed at first and passed when run again alone. Find out why:';
    lines.push('', heading, ...unsteady.map((text) => `\n${text}`), '');
  }
  if (failures.length > 0) lines.push('', 'All failures of this run:', ...failures.map((text) => `\n${text}`), '');
  lines.push(`${(ms / 1000).toFixed(0)} s${processor}`);
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  lines.push(`${count('passed')} passed, ${count('failed')} failed${skipped}`);
  process.stdout.write(`\n${lines.join('\n')}\n`);
  return failures.length > 0 ? 1 : 0;
}
