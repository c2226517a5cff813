import { spawnSync } from 'node:child_process';

import { loadCores } from './cores.ts';
import { Process } from './process.ts';
import type { Figures, Variant } from './rounds.ts';

export const hasH2load = spawnSync('h2load', ['--version']).error === undefined;

interface H2Load {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly seconds: number;
}

/** As many requests under way as the load over HTTP/1 has: streams on few connections, as browsers open them. */
const connections = 4;
const streams = 8;

/** Measures a server under load over HTTP/2: its throughput, and its CPU time for each request. */
export function underH2Load(name: string, server: Process, options: H2Load): Variant {
  return { name, measure: () => measureH2Load(server, options) };
}

export async function measureH2Load(server: Process, { port, headers, seconds }: H2Load): Promise<Figures> {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${connections}`, `-m${streams}`, `-D${seconds}`, ...given, `https://localhost:${port}/`];
  const before = server.processorSeconds;
  await using program = new Process(['h2load', ...args], { cores: loadCores });
  const output = await program.ended();
  const spent = server.processorSeconds - before;
  const [, answered = '0'] = /requests: .* (\d+) succeeded/.exec(output) ?? [];
  const [, refused = '0'] = /status codes: \d+ 2xx, (.*)/.exec(output) ?? [];
  const requests = Number(answered);
  if (requests === 0 || /[1-9]/.test(refused.replaceAll(/\dxx/g, ''))) throw new Error(`h2load:\n${output}`);
  const perSecond = requests / seconds;
  const cpuUs = (spent / requests) * 1e6;
  return { perSecond, cpuUs, busy: (cpuUs * perSecond) / 1e6 };
}
