import { readFileSync } from 'node:fs';

export interface ProcessorSeconds {
  readonly own: number;
  /** Of all processes that this one has started and that have ended. */
  readonly children: number;
}

/** Processor time so far; known on Linux only. */
export function readProcessorSeconds(): ProcessorSeconds | undefined {
  if (process.platform !== 'linux') return undefined;
  // The name of the program, in brackets, may have spaces. The fields after it are numbered from 3; 14 to 17 are in ticks of 10 ms.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number);
  const sum = (first: number): number => ((fields[first] ?? 0) + (fields[first + 1] ?? 0)) / 100;
  return { own: sum(11), children: sum(13) };
}
