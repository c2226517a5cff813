import { loadavg } from 'node:os';
import { inspect, parseArgs } from 'node:util';

import { installPackages } from '../test/support/install-programs.ts';
import { leaveServerCore } from './support/cores.ts';
import { FreshTarget } from './support/entrances/fresh-target.ts';
import { Helper } from './support/entrances/helper.ts';
import { measureRound, summarizeRounds, warmUp } from './support/entrances/measure-row.ts';
import type { Helpers, Round, RowFigures } from './support/entrances/measure-row.ts';
import { heads, isGood, showRow } from './support/entrances/report.ts';
import { rows } from './support/entrances/rows.ts';
import type { Row } from './support/entrances/rows.ts';
import { targets } from './support/entrances/targets.ts';
import type { TargetName, Upstreams } from './support/entrances/targets.ts';
import { describeProcessor } from './support/machine.ts';
import { versionOf } from './support/peers.ts';
import { table } from './support/report.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:entrances -- [--only ROW,…]`: what neighbours notice while others send the smallest pieces, at every entrance, in 20
 * minutes. Ends with 1 if they notice more than they may.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '2' },
    workers: { type: 'string', default: 'off' },
    alone: { type: 'boolean', default: false },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const names = values.only?.split(',');
const chosen = rows.filter(({ name }) => names?.includes(name) ?? true);
const unknown = names?.filter((name) => !rows.some((row) => row.name === name)) ?? [];

if (values.help || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no row ${unknown.join(', ')}.\n`);
  process.stdout.write(usage());
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  process.exitCode = (await runAll(chosen)) ? 0 : 1;
}

/** Returns false if neighbours notice more than they may. */
async function runAll(selected: readonly Row[]): Promise<boolean> {
  if (!values.alone) installPackages(['nginx', 'libnginx-mod-stream', 'caddy']);
  leaveServerCore();
  await using started = new AsyncDisposableStack();
  const neighbour = started.use(await startUpstream());
  const upstream = started.use(Helper.start('tiny-upstream'));
  const helpers = { neighbours: started.use(Helper.start('neighbours')), upstream };
  const upstreams = { neighbour: neighbour.port, attacked: await upstream.ask<number>('port') };
  const startMs = performance.now();
  process.stdout.write(`${describe()}\n\n${table(heads, []).join('\n')}\n`);
  const misses: string[] = [];
  for (const row of selected) {
    for (const name of targetsOf(row)) {
      const figures = await measure(row, name, upstreams, helpers).catch((error: unknown) => {
        // A row that does not run must not cost the figures of the others.
        process.stderr.write(`${row.name}, ${name}: ${inspect(error)}\n`);
        return undefined;
      });
      if (figures !== undefined) process.stdout.write(`${showRow(row, name, figures)}\n`);
      if (name === 'Gatehouse' && (figures === undefined || !isGood(figures))) misses.push(row.name);
    }
  }
  const verdict = misses.length === 0 ? 'Every row reaches the goal.' : `Missed by: ${misses.join(', ')}.`;
  process.stdout.write(`\n${verdict} Took ${Math.round((performance.now() - startMs) / 1000)} s.\n`);
  return misses.length === 0;
}

function targetsOf({ peers }: Row): readonly TargetName[] {
  const installed = {
    Gatehouse: true,
    nginx: versionOf('nginx') !== undefined,
    Caddy: versionOf('caddy') !== undefined,
  };
  return ['Gatehouse', ...(values.alone ? [] : peers.filter((name) => installed[name]))];
}

async function measure(row: Row, name: TargetName, upstreams: Upstreams, helpers: Helpers): Promise<RowFigures> {
  const count = name === 'Gatehouse' ? Number(values.rounds) : 1;
  const { workers, profile } = values;
  await using fresh = new FreshTarget(async () => {
    const target = await targets[name](upstreams, { workers, profile });
    await warmUp(row, target, helpers);
    return target;
  });
  const rounds: Round[] = [];
  while (rounds.length < count) rounds.push(await measureRound(row, fresh, helpers));
  return summarizeRounds(rounds);
}

function describe(): string {
  const peers = (['nginx', 'caddy'] as const).flatMap((name) => versionOf(name) ?? []);
  return [
    `- ${describeProcessor()}; load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
    `- Node ${process.versions.node}${peers.map((each) => `, ${each}`).join('')}; each on one core; Gatehouse with workers ${values.workers}`,
  ].join('\n');
}

function usage(): string {
  const lines = rows.map(({ name, summary }) => `  ${name.padEnd(20)}${summary}`).join('\n');
  return `npm run bench:entrances -- [--only ROW,…] [--alone] [--rounds N] [--workers N] [--profile FOLDER]

${lines}

--alone     without nginx and Caddy
--workers   setting "workers" of Gatehouse; default: off
--profile   writes profiles of the processor time of Gatehouse into this folder
`;
}
