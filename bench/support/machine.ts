import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

import type { Settings } from './benchmark.ts';
import { loadCores, pinned, serverCores } from './cores.ts';
import { loader } from './load.ts';
import { installHint, peerNames, versionOf } from './peers.ts';

/** Describes the machine, the date, and the versions and settings of the measurement. */
export function describeMachine({ quick, rounds, seconds }: Settings): readonly string[] {
  const commit = spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).stdout.trim();
  const found = peerNames.flatMap((name) => versionOf(name) ?? []);
  const missing = peerNames.filter((name) => versionOf(name) === undefined);
  const fastifyVersion = versionInPackage('fastify');
  return [
    '# Benchmarks',
    '',
    `${new Date().toISOString().slice(0, 10)}, commit ${commit}, \`node bench/run.ts\`.${quick ? ' **Quick rounds: not to be quoted.**' : ''}`,
    '',
    `- ${describeProcessor()}`,
    `- Node ${process.versions.node}, SQLite ${process.versions.sqlite}, Fastify ${fastifyVersion}${found.map((each) => `, ${each}`).join('')}`,
    pinned
      ? `- Server on core ${serverCores}, load and upstreams on core ${loadCores}; load from ${loader}`
      : `- Server and load share all cores (no taskset, or one core only); load from ${loader}`,
    `- ${rounds} rounds of ${seconds} s, variants in turn; medians ± half the distance between the quartiles. A round is thrown`,
    '  away when other programs used more than 8 % of a core, or the host took more than 2 %, or when it lies more than 4',
    '  median absolute deviations off; as many again are tried. "disturbed": too few were quiet, so all were used',
    '- CPU time: user and system, of all processes of the server, from `/proc`',
    ...(missing.length === 0 ? [] : [`- Left out, not installed: ${missing.join(', ')}. ${installHint(missing)}`]),
  ];
}

export function describeProcessor(): string {
  return `Machine: ${cpus().length} × ${processorName()}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}`;
}

function processorName(): string {
  const [first] = cpus();
  const model = first?.model ?? '';
  if (model !== '' && model !== 'unknown') return model;
  const listed = spawnSync('lscpu', { encoding: 'utf8' });
  return /^Model name:\s*(.+)$/m.exec(listed.stdout ?? '')?.[1] ?? process.arch;
}

function versionInPackage(name: string): string {
  const text = readFileSync(new URL(`../../node_modules/${name}/package.json`, import.meta.url), 'utf8');
  // A package without a version cannot be installed.
  return (JSON.parse(text) as { readonly version: string }).version;
}
