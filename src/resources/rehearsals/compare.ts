import { isDeepStrictEqual } from 'node:util';

import type { VisitorFacts } from '../../decisions/messages.ts';
import { ipFromIpv4Word, ipFromIpv6Words } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import { runVisit, whoMayBe } from '../visit-run.ts';
import type { KeptVisit, Met, MetRestriction, Place, VisitRun } from '../visit-run.ts';

/** A configuration, as visits meet it. */
export interface Side {
  readonly places: ReadonlyMap<string, Place | undefined>;
  readonly restrictions: readonly MetRestriction[];
  readonly access: AccessTable;
}

export type Effect = 'newly_refused' | 'newly_admitted' | 'cannot_tell' | 'same';

export interface Compared {
  readonly effect: Effect;
  /** Undefined where the verdict stays. */
  readonly after: VisitRun | undefined;
}

const same: Compared = { effect: 'same', after: undefined };

/** The facts that a group of visits has in common, as far as they are kept. */
export function visitOf(
  facts: VisitorFacts,
  source: IpAddress,
  withNames: boolean,
  place: Place | undefined,
): KeptVisit {
  const { host, port, method, path, routeId, person } = facts;
  return {
    source,
    host: withNames ? host : undefined,
    port,
    method: method === '' ? undefined : method,
    path: path === '' || path.length >= 512 || path.includes('\ufffd') ? undefined : path,
    routeId,
    person: person.length < 254 ? whoMayBe(person) : undefined,
    // With another provider, or another client, nobody is signed in.
    hasSignedIn: ({ key }) => facts.isRecent && place?.signInKeys.has(key) === true,
  };
}

/** Source of a group by the two halves of an IPv6 address, where IPv4 is mapped. */
export function sourceOf(high: bigint, low: bigint): IpAddress {
  const word = (half: bigint, shift: bigint) => Number((half >> shift) & 0xffff_ffffn);
  if (high === 0n && low >> 32n === 0xffffn) return ipFromIpv4Word(word(low, 0n));
  return ipFromIpv6Words(word(high, 32n), word(high, 0n), word(low, 32n), word(low, 0n));
}

/**
 * Compares what two configurations make of visits that are alike. What one of them cannot tell is known where nothing that decides
 * has changed since the visits: it is what was decided then, for as long as the steps that it depends on stay the same.
 */
export function compareVisit(before: Side, after: Side, facts: VisitorFacts, visit: KeptVisit): Compared {
  const was = runVisit(before.places.get(facts.edgeId), before.restrictions, before.access, visit);
  const is = runVisit(after.places.get(facts.edgeId), after.restrictions, after.access, visit);
  const wasIn = isLetIn(was) ?? (facts.isRecent ? asRecorded(facts) : undefined);
  const isIn = isLetIn(is) ?? (facts.isRecent ? likeBefore(facts, was, is) : undefined);
  if (isIn === undefined && isDeepStrictEqual(effectsOf(was), effectsOf(is))) return same;
  if (isIn !== undefined && isIn === wasIn) return same;
  if (isIn === undefined || wasIn === undefined) return { effect: 'cannot_tell', after: is };
  return { effect: isIn ? 'newly_admitted' : 'newly_refused', after: is };
}

function isLetIn({ verdict }: VisitRun): boolean | undefined {
  return verdict === 'depends' ? undefined : verdict === 'allowed';
}

/** Undefined for a visit that something has answered in place of a backend. */
function asRecorded({ isRefused, hasReached }: VisitorFacts): boolean | undefined {
  return isRefused ? false : hasReached ? true : undefined;
}

/** What comes of it where unknown steps decide as they did. */
function likeBefore(facts: VisitorFacts, was: VisitRun, is: VisitRun): boolean | undefined {
  const unknown = unknownOf(is);
  if (!isDeepStrictEqual(unknownOf(was), unknown)) return undefined;
  if (facts.hasReached && !facts.isRefused)
    return !is.met.some(({ effect }) => effect === 'refuses' || effect === 'not_served');
  return facts.isRefused && unknown.some(([, module]) => module === facts.module) ? false : undefined;
}

function unknownOf(run: VisitRun): readonly (readonly unknown[])[] {
  return run.met.filter(({ effect }) => effect === 'depends').map((met) => textOf(run, met));
}

function effectsOf(run: VisitRun): readonly unknown[] {
  return run.met.map((met) => [met.effect, ...textOf(run, met)]);
}

function textOf({ settings }: VisitRun, { id, step, reason, policyIds }: Met): readonly unknown[] {
  return [id, step?.module, step === undefined ? undefined : settings?.[step.module], reason, policyIds];
}
