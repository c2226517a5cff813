import { setTimeout as sleep } from 'node:timers/promises';

import { median, quantile } from '../statistics.ts';
import { isQuiet } from './fresh-target.ts';
import type { FreshTarget } from './fresh-target.ts';
import { Helper } from './helper.ts';
import type { AttackCount, AttackOrder, Noticed } from './messages.ts';
import type { Row } from './rows.ts';
import type { Target } from './targets.ts';

/** Bytes a second on the wire, of one connection and of eight together. */
const bytesPerSecond = { 1: 1_000_000, 8: 2_000_000 } as const;
const warmSeconds = 0.3;
const calmSeconds = 1;
const attackSeconds = 1.5;
const warmAttackSeconds = 2;
/** Time for which an attack is under way before neighbours visit. */
const leadMs = 300;
/** Time after those who attack have left, from which on nothing may go on. */
const graceMs = 500;
const afterMs = 700;

/** Neighbours' times while so many connections attack, and the cost of the attack. */
interface Phase {
  readonly edgeMs: readonly number[];
  readonly apiMs: readonly number[];
  readonly processorMs: number;
  /** Processor time of the longest turn of the event loop. */
  readonly turnMs: number;
  readonly seconds: number;
  readonly megabytes: number;
  readonly closed: number;
  /** Share of a core that is used when those who visit and attack have left. */
  readonly after: number;
}

export interface Round {
  readonly calm: Phase;
  readonly one: Phase;
  readonly eight: Phase;
}

export interface Helpers {
  readonly neighbours: Helper;
  readonly upstream: Helper;
}

/**
 * Visits and attacks a program that has just started. Engines that compile while they run do it in threads of their own, which take the
 * program's one core for 5 to 20 ms at a time: a matter of its first seconds, not of those who attack.
 */
export async function warmUp(row: Row, target: Target, helpers: Helpers): Promise<void> {
  await visit(target, helpers, warmSeconds);
  await underAttack(row, target, helpers, 8, warmAttackSeconds);
  await sleep(graceMs);
}

/** Measures once: calm, with one connection, with eight, and after they have left. */
export async function measureRound(row: Row, fresh: FreshTarget, helpers: Helpers): Promise<Round> {
  const target = await fresh.take();
  // The first visits cost more than all that follow.
  await visit(target, helpers, warmSeconds);
  const calm = await observe(target, () => visit(target, helpers, calmSeconds));
  const turnMs = await longestTurnOf(target);
  const idle = await shareOfCore(target);
  const one = await attack(row, target, helpers, 1);
  const again = await fresh.take();
  if (again !== target) await visit(again, helpers, warmSeconds);
  const eight = await attack(row, again, helpers, 8);
  return { calm: { ...calm, turnMs, after: idle }, one, eight };
}

function visit({ visits }: Target, { neighbours }: Helpers, seconds: number): Promise<Noticed> {
  return neighbours.ask<Noticed>({ ...visits, seconds });
}

async function attack(row: Row, target: Target, helpers: Helpers, connections: 1 | 8): Promise<Phase> {
  const phase = await underAttack(row, target, helpers, connections);
  const left = target.process.processorSeconds;
  await sleep(graceMs);
  const after = await shareOfCore(target);
  await isQuiet(target);
  // Work that is put off is part of the cost.
  const putOffMs = (target.process.processorSeconds - left) * 1000;
  return { ...phase, after, processorMs: phase.processorMs + putOffMs, turnMs: await longestTurnOf(target) };
}

async function underAttack(
  row: Row,
  target: Target,
  helpers: Helpers,
  connections: 1 | 8,
  seconds = attackSeconds,
): Promise<Phase> {
  const { upstream } = helpers;
  const attacker = Helper.start('smallest-pieces');
  try {
    const order: AttackOrder = {
      ...row.order(target),
      connections,
      bytesPerSecond: row.bytesPerSecond ?? bytesPerSecond[connections],
      seconds: seconds + leadMs / 1000,
    };
    await attacker.ask(order);
    const tinyBefore = await upstream.ask<number>('count');
    const phase = await observe(target, async () => {
      attacker.tell('go');
      await sleep(leadMs);
      return visit(target, helpers, seconds);
    });
    const { bytes, closed } = await attacker.ask<AttackCount>('count');
    const tiny = (await upstream.ask<number>('count')) - tinyBefore;
    return { ...phase, megabytes: (bytes + tiny) / 1e6, closed };
  } finally {
    await attacker[Symbol.asyncDispose]();
  }
}

async function observe(target: Target, run: () => Promise<Noticed>): Promise<Phase> {
  await longestTurnOf(target);
  const [before, startMs] = [target.process.processorSeconds, performance.now()];
  const { edgeMs, apiMs } = await run();
  const processorMs = (target.process.processorSeconds - before) * 1000;
  const seconds = (performance.now() - startMs) / 1000;
  return { edgeMs, apiMs, processorMs, seconds, megabytes: 0, closed: 0, after: 0, turnMs: Number.NaN };
}

async function shareOfCore({ process: program }: Target): Promise<number> {
  const [before, startMs] = [program.processorSeconds, performance.now()];
  await sleep(afterMs);
  return ((program.processorSeconds - before) * 1000) / (performance.now() - startMs);
}

async function longestTurnOf({ longestTurnMs }: Target): Promise<number> {
  return (await longestTurnMs?.()) ?? Number.NaN;
}

/** Figures of one target at one entrance, over all rounds. */
export interface RowFigures {
  readonly edge: Readonly<Record<Load, Times>>;
  readonly api: Readonly<Record<Load, Times>>;
  /** The larger of edge and API, as a multiple of their calm. */
  readonly ratio: Readonly<Record<'one' | 'eight', number>>;
  readonly processorMsPerMegabyte: number;
  readonly megabytesPerSecond: Readonly<Record<'one' | 'eight', number>>;
  readonly closed: number;
  readonly after: number;
  readonly turnMs: Readonly<Record<Load, number>>;
}

type Load = 'calm' | 'one' | 'eight';

interface Times {
  readonly p50: number;
  readonly p99: number;
}

export function summarizeRounds(rounds: readonly Round[]): RowFigures {
  const times = (load: Load, of: 'edgeMs' | 'apiMs'): Times => {
    const all = rounds.flatMap((round) => round[load][of]);
    return { p50: median(all), p99: quantile(all, 0.99) };
  };
  const loads = (of: 'edgeMs' | 'apiMs') => ({
    calm: times('calm', of),
    one: times('one', of),
    eight: times('eight', of),
  });
  const [edge, api] = [loads('edgeMs'), loads('apiMs')];
  const ratio = (load: 'one' | 'eight') =>
    Math.max(edge[load].p50 / edge.calm.p50, Number.isNaN(api.calm.p50) ? 0 : api[load].p50 / api.calm.p50);
  const turn = (load: Load) => median(rounds.map((round) => round[load].turnMs));
  const rate = (load: 'one' | 'eight') => median(rounds.map((round) => round[load].megabytes / round[load].seconds));
  return {
    edge,
    api,
    ratio: { one: ratio('one'), eight: ratio('eight') },
    processorMsPerMegabyte: median(rounds.flatMap((round) => [costOf(round, 'one'), costOf(round, 'eight')])),
    megabytesPerSecond: { one: rate('one'), eight: rate('eight') },
    closed: Math.max(...rounds.map(({ one, eight }) => one.closed + eight.closed)),
    after: median(rounds.map(({ calm, one, eight }) => Math.max(0, Math.max(one.after, eight.after) - calm.after))),
    turnMs: { calm: turn('calm'), one: turn('one'), eight: turn('eight') },
  };
}

/** Processor time for each megabyte, less that of the neighbours' visits. */
function costOf(round: Round, load: 'one' | 'eight'): number {
  const { calm, [load]: phase } = round;
  const visits = (calm.processorMs / calm.edgeMs.length) * phase.edgeMs.length;
  return (phase.processorMs - visits) / phase.megabytes;
}
