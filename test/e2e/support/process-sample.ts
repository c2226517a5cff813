import { readdirSync, readFileSync } from 'node:fs';

/** Resources that a process holds at one moment. */
export interface ProcessSample {
  readonly descriptors: number;
  readonly megabytes: number;
}

export function sampleProcess(pid: number): ProcessSample {
  const descriptors = readdirSync(`/proc/${pid}/fd`).length;
  // One that has ended, and whose end nobody has been told yet, has no memory.
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  return { descriptors, megabytes: kilobytes / 1024 };
}
