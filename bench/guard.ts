import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { leaveServerCore } from './support/cores.ts';
import { Gatehouse } from './support/gatehouse.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { freePort } from './support/process.ts';
import { figureOf, showSummary, table } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { scratchFolder } from './support/scratch.ts';
import { setUp } from './support/setup.ts';
import type { SmallInstallation } from './support/setup.ts';
import type { Summary } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:guard -- COMMIT`: compares this checkout with another commit by CPU time a request, in two minutes.
 * Ends with 1 if anything costs more than 5 % more.
 */
const allowedGrowth = 1.05;
const rounds = 4;
const [, , base] = process.argv;
const root = new URL('../', import.meta.url).pathname;

interface Side extends AsyncDisposable {
  readonly gatehouse: Gatehouse;
  readonly installation: SmallInstallation;
}

type Work = (side: Side) => Omit<LoadOptions, 'seconds'>;

const works: Readonly<Record<string, Work>> = {
  'GET of one key': ({ gatehouse, installation }) => ({
    port: gatehouse.apiPort,
    headers: gatehouse.headers,
    paths: [installation.keyPath],
  }),
  'list of 100 keys': ({ gatehouse }) => ({
    port: gatehouse.apiPort,
    headers: gatehouse.headers,
    paths: ['/api_keys'],
  }),
  'POST of a policy': ({ gatehouse }) => ({
    port: gatehouse.apiPort,
    headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
    method: 'POST',
    paths: ['/ip_policies'],
    body: '{"description":"a policy"}',
  }),
  'HTTPS request': ({ gatehouse }) => ({ port: gatehouse.httpsPort, tls: true }),
  'TCP connection': ({ installation }) => ({ port: installation.tcpPort, headers: { Connection: 'close' } }),
  'TCP exchange': ({ installation }) => ({ port: installation.tcpPort }),
};

if (base === undefined) {
  process.stderr.write('Name the commit to compare with: npm run bench:guard -- main\n');
  process.exitCode = 2;
} else {
  leaveServerCore();
  const worktree = join(await scratchFolder(), 'base');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', worktree, base], { cwd: root });
  try {
    symlinkSync(join(root, 'node_modules'), join(worktree, 'node_modules'));
    process.exitCode = (await compareWith(worktree)) ? 0 : 1;
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', worktree], { cwd: root });
  }
}

/** Answers whether all is well. */
async function compareWith(worktree: string): Promise<boolean> {
  await using upstream = await startUpstream();
  await using before = await startSide(worktree, upstream.port);
  await using now = await startSide(root, upstream.port);
  const rows: string[][] = [];
  let good = true;
  for (const [name, work] of Object.entries(works)) {
    const variants = [before, now].map((side) => ({
      name,
      async measure() {
        const { cpuUs = Number.NaN, ...rest } = await measureLoad(side.gatehouse.process, {
          ...work(side),
          seconds: 1,
        });
        return { cpuUs, ...rest };
      },
    }));
    const outcomes = await interleave(variants, { rounds, warmUps: 4 });
    const [then, current] = [figureOf(outcomes[0], 'cpuUs'), figureOf(outcomes[1], 'cpuUs')];
    const verdict = judge(then, current);
    if (verdict === '**worse**') good = false;
    rows.push([name, showSummary(then), showSummary(current), (current.median / then.median).toFixed(3), verdict]);
  }
  const lines = table(['CPU µs', base ?? '', 'this checkout', 'ratio', ''], rows);
  process.stdout.write(
    `${lines.join('\n')}\n\n${good ? 'Nothing' : 'Something'} costs over 5 % more than at ${base}.\n`,
  );
  return good;
}

/** Rounds of both sides that overlap prove nothing. */
function judge(then: Summary, now: Summary): string {
  if (now.median <= then.median * allowedGrowth) return '';
  return now.median * (1 - now.spread) > then.median * (1 + then.spread) ? '**worse**' : 'perhaps worse: run it again';
}

async function startSide(checkout: string, upstreamPort: number): Promise<Side> {
  const gatehouse = await Gatehouse.start({ root: checkout, settings: { 'tcp-ports': '1024-65535' } });
  const installation = await setUp(gatehouse, upstreamPort, await freePort());
  return { gatehouse, installation, [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose]() };
}
