import { load } from './load.ts';
import type { LoadOptions } from './load.ts';
import type { Process } from './process.ts';
import type { Column } from './report.ts';
import type { Figures, Variant } from './rounds.ts';

export const loadColumns: readonly Column[] = [
  { figure: 'perSecond', head: 'requests/s' },
  { figure: 'cpuUs', head: 'CPU µs/request' },
  { figure: 'busy', head: 'cores busy' },
  { figure: 'p99Ms', head: 'p99 ms' },
];

/** Measures a server under load: its throughput, and its CPU time for each request. */
export function underLoad(name: string, server: Process, options: LoadOptions): Variant {
  return { name, measure: () => measureLoad(server, options) };
}

export async function measureLoad(server: Process, options: LoadOptions): Promise<Figures> {
  const before = server.processorSeconds;
  const { requests, perSecond, megabytesPerSecond, p99Ms } = await load(options);
  const cpuUs = ((server.processorSeconds - before) / requests) * 1e6;
  return { perSecond, cpuUs, busy: (cpuUs * perSecond) / 1e6, p99Ms, megabytesPerSecond };
}
