import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { leaveServerCore } from './support/cores.ts';
import { Gatehouse } from './support/gatehouse.ts';
import { hasH2load, measureH2Load } from './support/h2-load.ts';
import { hasWrk } from './support/load.ts';
import type { LoadOptions } from './support/load.ts';
import { measureLoad } from './support/measure.ts';
import { versionOf } from './support/peers.ts';
import { freePort } from './support/process.ts';
import { figureOf, showNumber, table } from './support/report.ts';
import { interleave } from './support/rounds.ts';
import type { Figures } from './support/rounds.ts';
import { scratchFolder } from './support/scratch.ts';
import { setUp } from './support/setup.ts';
import type { SmallInstallation } from './support/setup.ts';
import { median } from './support/statistics.ts';
import { startUpstream } from './support/upstream.ts';

/**
 * `npm run bench:guard -- COMMIT [ROW…]`: compares this checkout with another commit by CPU time a request, in eight minutes, or
 * less if rows are named ('HTTPS request'). Ends with 1 if anything costs more than 5 % more.
 */
const allowedGrowth = 1.05;
const worse = '**worse**';
/** Number of starts of each side. */
const starts = 3;
const rounds = 2;
/** V8 goes on optimising for some eight seconds; before that, what it costs itself is measured. */
const warmUps = 8;
const attempts = 5;
const [, , base, ...chosen] = process.argv;
const root = new URL('../', import.meta.url).pathname;

interface Side extends AsyncDisposable {
  readonly gatehouse: Gatehouse;
  readonly installation: SmallInstallation;
}

/** Measures a side for a second, under a load that is its own. */
type Work = (side: Side) => Promise<Figures>;

const works: Readonly<Record<string, Work>> = {
  'GET of one key': loadOf(({ gatehouse, installation }) => ({
    port: gatehouse.apiPort,
    headers: gatehouse.headers,
    paths: [installation.keyPath],
  })),
  'list of 100 keys': loadOf(({ gatehouse }) => ({
    port: gatehouse.apiPort,
    headers: gatehouse.headers,
    paths: ['/api_keys'],
  })),
  'POST of a policy': loadOf(({ gatehouse }) => ({
    port: gatehouse.apiPort,
    headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
    method: 'POST',
    paths: ['/ip_policies'],
    body: '{"description":"a policy"}',
  })),
  'HTTPS request': loadOf(({ gatehouse }) => ({ port: gatehouse.httpsPort, tls: true })),
  'HTTP/2 request': ({ gatehouse }) =>
    measureH2Load(gatehouse.process, { port: gatehouse.httpsPort, headers: {}, seconds: 1 }),
  'TCP connection': loadOf(({ installation }) => ({ port: installation.tcpPort, headers: { Connection: 'close' } })),
  'TCP exchange': loadOf(({ installation }) => ({ port: installation.tcpPort })),
};
const rows = Object.entries(works).filter(([name]) => chosen.length === 0 || chosen.includes(name));

const missing = [
  ...(hasWrk ? [] : ['wrk']),
  ...(hasH2load ? [] : ['h2load']),
  ...(versionOf('nginx') === undefined ? ['nginx'] : []),
];

if (base === undefined) {
  process.stderr.write('Name the commit to compare with: npm run bench:guard -- main\n');
  process.exitCode = 2;
} else if (rows.length < Math.max(1, chosen.length)) {
  process.stderr.write(`The rows are: ${Object.keys(works).join(', ')}.\n`);
  process.exitCode = 2;
} else if (missing.length > 0) {
  process.stderr.write(
    `bench:guard needs ${missing.join(' and ')}. Install it, on Debian: apt-get install wrk nghttp2-client nginx-light\n`,
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
  const costs = new Map(rows.map(([name]) => [name, { earlier: newCosts(), now: newCosts() }]));
  for (let start = 0; start < starts; start++) {
    await using before = await startSide(worktree, upstream.port);
    await using current = await startSide(root, upstream.port);
    for (const [name, work] of rows) {
      const [then = Number.NaN, now = Number.NaN] = await measureBoth([before, current], work);
      costs.get(name)?.earlier.push(then);
      costs.get(name)?.now.push(now);
    }
  }
  const compared = [...costs].map(([name, { earlier, now }]) => {
    const ratio = (median(now) / median(earlier)).toFixed(3);
    return [name, showCosts(earlier), showCosts(now), ratio, judge(earlier, now)];
  });
  const good = compared.every((row) => row.at(-1) !== worse);
  const lines = table(['CPU µs, of each start', base ?? '', 'this checkout', 'ratio', ''], compared);
  const verdict = `${good ? 'Nothing' : 'Something'} costs over 5 % more than at ${base}.`;
  process.stdout.write(`${lines.join('\n')}\n\n${verdict}\n`);
  return good;
}

function loadOf(options: (side: Side) => Omit<LoadOptions, 'seconds'>): Work {
  return (side) => measureLoad(side.gatehouse.process, { ...options(side), seconds: 1 });
}

async function measureBoth(sides: readonly Side[], work: Work): Promise<readonly number[]> {
  const variants = sides.map((side) => ({
    name: '',
    async measure() {
      const figures = await measureWithin(attempts, () => work(side));
      return { cpuUs: figures['cpuUs'] ?? Number.NaN };
    },
  }));
  const outcomes = await interleave(variants, { rounds, warmUps });
  return outcomes.map((outcome) => figureOf(outcome, 'cpuUs').median);
}

/** A second in which a busy machine lets the load do nothing is measured again. */
async function measureWithin(left: number, measure: () => Promise<Figures>): Promise<Figures> {
  try {
    return await measure();
  } catch (error) {
    if (left === 1) throw error;
    return measureWithin(left - 1, measure);
  }
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
