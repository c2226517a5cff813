import assert from 'node:assert/strict';

import type { WatchedProgram } from './watched-program.ts';

/** The aim is 50 ms on a machine of its own; processor time grows where machines are shared. */
const generousMs = 100;
/** A fixed piece of work takes about 10 ms where the limit fits; slower machines get more. */
const limitInUnits = 10;
const tries = 5;

/** Processor time of a fixed piece of work here and now. */
function unitMs(): number {
  const text = `[${'1,'.repeat(500_000)}1]`;
  const start = process.threadCpuUsage();
  JSON.parse(text);
  const end = process.threadCpuUsage();
  return (end.user + end.system - start.user - start.system) / 1000;
}

/** The longest piece that is taken for short here and now, in milliseconds of processor time. */
export function shortMs(): number {
  return Math.max(generousMs, limitInUnits * unitMs());
}

/** The best of several tries counts: garbage collection and other processes disturb single ones. */
export async function staysShort(program: WatchedProgram, call: () => Promise<unknown>): Promise<void> {
  let limitMs = 0;
  const measured: number[] = [];
  for (let attempt = 0; attempt < tries; attempt++) {
    await program.longestMs();
    await call();
    measured.push(await program.longestMs());
    // The machine may be busier than a moment ago.
    limitMs = Math.max(limitMs, shortMs());
    if (Math.min(...measured) <= limitMs) return;
  }
  assert.fail(`${measured.map(Math.round).join(', ')} ms in one piece, where ${Math.round(limitMs)} are allowed`);
}
