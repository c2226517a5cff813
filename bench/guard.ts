import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { leaveServerCore } from './support/cores.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { hasWrk } from './support/load.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { versionOf } from './support/peers.ts';
import { freePort } from './support/process.ts';
import { figureOf, showNumber, table } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import { scratchFolder } from './support/scratch.ts';
import { setUp } from './support/setup.ts';
import type { SmallInstallation } from './support/setup.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:guard -- COMMIT`: compares this checkout with another commit by CPU time a request, in seven minutes.
 * Ends with 1 if anything costs more than 5 % more.
 */
const allowedGrowth = 1.05;
const worse = '**worse**';
/** Number of starts of each side. */
const starts = 3;
const rounds = 2;
/** V8 goes on optimising for some eight seconds; before that, what it costs itself is measured. */
const warmUps = 8;
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

const missing = [...(hasWrk ? [] : ['wrk']), ...(versionOf('nginx') === undefined ? ['nginx'] : [])];

if (base === undefined) {
  process.stderr.write('Name the commit to compare with: npm run bench:guard -- main\n');
  process.exitCode = 2;
} else if (missing.length > 0) {
  process.stderr.write(
    `bench:guard needs ${missing.join(' and ')}. Install it, on Debian: apt-get install wrk nginx-light\n`,
  );
  process.exitCode = 2;
} else {
  leaveServerCore();
  const worktree = join(await scratchFolder(), 'base');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', worktree, base], { cwd: root });
  try {
    installPackages(worktree);
    process.exitCode = (await compareWith(worktree)) ? 0 : 1;
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', worktree], { cwd: root });
  }
}

/** Lends the packages of this checkout where they are the same, since an installation takes longer than the comparison. */
function installPackages(worktree: string): void {
  const [theirs, ours] = [worktree, root].map((folder) => readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  if (theirs === ours) symlinkSync(join(root, 'node_modules'), join(worktree, 'node_modules'));
  else execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: worktree, stdio: 'ignore' });
}

/** Returns false if anything has become worse. */
async function compareWith(worktree: string): Promise<boolean> {
  await using upstream = await startUpstream();
  const costs = new Map(Object.keys(works).map((name) => [name, { earlier: newCosts(), now: newCosts() }]));
  for (let start = 0; start < starts; start++) {
    await using before = await startSide(worktree, upstream.port);
    await using current = await startSide(root, upstream.port);
    for (const [name, work] of Object.entries(works)) {
      const [then = Number.NaN, now = Number.NaN] = await measureBoth([before, current], work);
      costs.get(name)?.earlier.push(then);
      costs.get(name)?.now.push(now);
    }
  }
  const rows = [...costs].map(([name, { earlier, now }]) => {
    const ratio = (median(now) / median(earlier)).toFixed(3);
    return [name, showCosts(earlier), showCosts(now), ratio, judge(earlier, now)];
  });
  const good = rows.every((row) => row.at(-1) !== worse);
  const lines = table(['CPU µs, of each start', base ?? '', 'this checkout', 'ratio', ''], rows);
  const verdict = `${good ? 'Nothing' : 'Something'} costs over 5 % more than at ${base}.`;
  process.stdout.write(`${lines.join('\n')}\n\n${verdict}\n`);
  return good;
}

async function measureBoth(sides: readonly Side[], work: Work): Promise<readonly number[]> {
  const variants = sides.map((side) => ({
    name: '',
    async measure() {
      const figures = await measureLoad(side.gatehouse.process, { ...work(side), seconds: 1 });
      return { cpuUs: figures['cpuUs'] ?? Number.NaN };
    },
  }));
  const outcomes = await interleave(variants, { rounds, warmUps });
  return outcomes.map((outcome) => figureOf(outcome, 'cpuUs').median);
}

function newCosts(): number[] {
  return [];
}

function showCosts(costs: readonly number[]): string {
  return costs.map(showNumber).join(', ');
}

/** Starts of one program differ by a tenth and more, so only ranges that do not overlap prove a change. */
function judge(then: readonly number[], now: readonly number[]): string {
  if (median(now) <= median(then) * allowedGrowth) return '';
  return Math.min(...now) > Math.max(...then) ? worse : 'perhaps worse: run it again';
}

async function startSide(checkout: string, upstreamPort: number): Promise<Side> {
  const gatehouse = await Gatehouse.start({ root: checkout, settings: { 'tcp-ports': '1024-65535' } });
  const installation = await setUp(gatehouse, upstreamPort, await freePort());
  return { gatehouse, installation, [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose]() };
}
