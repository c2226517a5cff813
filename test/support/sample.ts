import { createHash } from 'node:crypto';

import { isLong } from './long-form.ts';

/**
 * True in a whole run in its usual form, which leaves out a part of what is only thoroughness. Files that are named, and
 * the long form, try everything.
 */
export const isSampled = process.env['TEST_SAMPLED'] === '1' && !isLong;

/**
 * Names a decision: what is decided, and for which case. The same words decide the same in every run, wherever and whenever it
 * is; other words decide by themselves, so that neither a case nor another decision for the same case moves this one.
 */
type Decision = readonly [about: string, ...ofCase: string[]];

/** A whole number below the bound, as likely as any other. */
export function decide(bound: number, decision: Decision): number {
  return createHash('sha256').update(JSON.stringify(decision)).digest().readUInt32BE() % bound;
}

/** Some of the cases, next to each other in their list; all of them where nothing is left out. */
export function someOf<Case>(cases: readonly Case[], count: number, ...decision: Decision): readonly Case[] {
  return isSampled ? pick(cases, count, decision) : cases;
}

/** Some of the cases, next to each other in their list. */
export function pick<Case>(cases: readonly Case[], count: number, decision: Decision): readonly Case[] {
  if (cases.length <= count) return cases;
  const first = decide(cases.length, decision);
  return [...cases.slice(first), ...cases.slice(0, first)].slice(0, count);
}

/** True for one case in so many; for each where nothing is left out. */
export function isTried(oneIn: number, ...decision: Decision): boolean {
  return !isSampled || decide(oneIn, decision) === 0;
}
