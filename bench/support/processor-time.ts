import { readFileSync, readdirSync } from 'node:fs';

/** The kernel counts in hundredths of a second, on every architecture. */
const ticksPerSecond = 100;

/** Returns seconds of CPU, user and system, that a process and all its living descendants have used. */
export function processorSeconds(pid: number): number {
  const { own } = readTimes(pid);
  return own + childrenOf(pid).reduce((sum, child) => sum + processorSeconds(child), 0);
}

/** Returns seconds of CPU of each child. */
export function childSeconds(pid: number): ReadonlyMap<number, number> {
  return new Map(childrenOf(pid).map((child) => [child, processorSeconds(child)]));
}

/** Returns seconds of CPU like `processorSeconds`, including descendants that have ended. */
export function processorSecondsWithEnded(pid: number): number {
  const { own, ended } = readTimes(pid);
  return own + ended + childrenOf(pid).reduce((sum, child) => sum + processorSecondsWithEnded(child), 0);
}

/** Returns resident megabytes of a process and its children; pages that several of them share count once. */
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
  /** Seconds of CPU over all cores. */
  readonly busy: number;
  /** Seconds in which the hypervisor ran others while this machine had work. */
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
  // The name of the program is in parentheses and may contain any character; the numbers follow the last `)`.
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

/** Returns nothing for a process that has ended since it was listed. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
