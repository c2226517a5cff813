import { readFileSync, readdirSync } from 'node:fs';

/** The kernel counts in hundredths of a second, on every architecture. */
const ticksPerSecond = 100;

/** Seconds of CPU, user and system, that a process and all its descendants have used. */
export function processorSeconds(pid: number): number {
  const { own } = readTimes(pid);
  return own + childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), 0);
}

/** The same, with descendants that have ended. */
export function processorSecondsWithEnded(pid: number): number {
  const { own, ended } = readTimes(pid);
  return own + ended + childrenOf(pid).reduce((sum, child) => sum + processorSecondsWithEnded(child), 0);
}

/** Resident megabytes of a process and all its descendants; pages that several of them share count once. */
export function residentMegabytes(pid: number): number {
  const children = childrenOf(pid);
  if (children.length === 0) return toMegabytes(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`)));
  return [pid, ...children].reduce(
    (sum, each) => sum + toMegabytes(/^Pss:\s+(\d+) kB/m.exec(read(`/proc/${each}/smaps_rollup`))),
    0,
  );
}

function toMegabytes(found: RegExpExecArray | null): number {
  return Number(found?.[1] ?? 0) / 1024;
}

export interface MachineTimes {
  /** Seconds, over all cores. */
  readonly busy: number;
  /** Seconds that the host gave to others while this machine wanted to run. */
  readonly stolen: number;
}

export function machineTimes(): MachineTimes {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (
    read('/proc/stat').split('\n', 1)[0] ?? ''
  )
    .replace(/^cpu\s+/, '')
    .split(' ')
    .map((ticks) => Number(ticks) / ticksPerSecond);
  return { busy: user + nice + system + irq + softirq, stolen: steal };
}

function readTimes(pid: number): { own: number; ended: number } {
  // The name of the program stands in parentheses and may hold anything; numbers follow the last one.
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  const seconds = (at: number) => Number(fields[at] ?? 0) / ticksPerSecond;
  return { own: seconds(11) + seconds(12), ended: seconds(13) + seconds(14) };
}

function childrenOf(pid: number): readonly number[] {
  return threadsOf(pid).flatMap((thread) =>
    read(`/proc/${pid}/task/${thread}/children`).trim().split(' ').filter(Boolean).map(Number),
  );
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process may end between two looks. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
