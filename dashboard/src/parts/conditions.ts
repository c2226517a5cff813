import { useMemo } from 'react';

import type { Condition, HealthBook, HealthState, WatchedBackend } from '../api/health.ts';
import { useHealth } from '../api/health.ts';
import { countOf } from '../lib/text.ts';
import { formatTime } from '../lib/time.ts';
import { useBackends } from './backends.ts';
import type { Backend, Backends } from './backends.ts';

/** Whether backends of every kind can answer, by the checks of gateways, agents and traffic. */
export interface Conditions {
  /** The condition of all of these together, as an edge leads to them. */
  readonly of: (ids: readonly string[]) => Condition;
  readonly stateOf: (backend: Pick<Backend, 'id' | 'created_at'>) => HealthState;
  /** The first backend below these that cannot answer, or only in part. */
  readonly faultOf: (ids: readonly string[]) => Fault | undefined;
  /** The member that a failover backend sends traffic to now. */
  readonly servingOf: (id: string) => string | undefined;
}

export interface Fault {
  readonly id: string;
  readonly name: string;
  /** Such as "is down" or "2 of 3 addresses answer". */
  readonly words: string;
  readonly reason?: string | undefined;
}

/** Backends whose members name each other in a circle are looked at no deeper. */
const deepest = 8;

/** Undefined until the health of backends is known. */
export function useConditions(): Conditions | undefined {
  const book = useHealth();
  const backends = useBackends();
  return useMemo(() => (book === undefined ? undefined : conditionsBy(book, backends)), [book, backends]);
}

function conditionsBy(book: HealthBook, { find }: Backends): Conditions {
  const conditionOf = (id: string, depth: number): Condition => {
    const { members, kind, isOffline } = find(id);
    if (isOffline) return 'no_agent';
    if (kind === 'http_response') return 'up';
    if (members !== undefined && depth < deepest) return together(members.map((each) => conditionOf(each, depth + 1)));
    const state = book.watched(id)?.state;
    return state === undefined || state === 'unchecked' ? 'unknown' : state;
  };
  const of = (ids: readonly string[]): Condition => together(ids.map((id) => conditionOf(id, 0)));
  const canServe = (id: string): boolean => !isOut(conditionOf(id, 0));
  const servingOf = (id: string): string | undefined => find(id).members?.find(canServe);
  const stateAt = (backend: Pick<Backend, 'id' | 'created_at'>, depth: number): HealthState => {
    const { members = [], kind } = find(backend.id);
    const condition = conditionOf(backend.id, depth);
    if (members.length === 0 || depth >= deepest) {
      const state = book.stateOf(backend, condition);
      const isUnasked = state === 'no_requests' || state === 'nobody_yet' || state === 'unknown';
      return isUnasked && condition === 'up' && kind === 'static' ? 'checks_answer' : state;
    }
    if (isOut(condition)) return 'backend_down';
    if (condition === 'in_part') return 'backend_in_part';
    // Requests count for the backend that was chosen, and not for the one that chose.
    const asked = kind === 'failover' ? members.filter(canServe).slice(0, 1) : members;
    return joined(asked.map((id) => stateAt(find(id), depth + 1)));
  };
  const faultAt = (ids: readonly string[], depth: number): Fault | undefined => {
    for (const id of ids) {
      const { members, name, isOffline } = find(id);
      if (isOffline) return { id, name, words: 'has no agent' };
      const watched = book.watched(id);
      if (watched?.state === 'down' || watched?.state === 'in_part') return { id, name, ...wordsOf(watched) };
      const below = members === undefined || depth >= deepest ? undefined : faultAt(members, depth + 1);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  return { of, stateOf: (backend) => stateAt(backend, 0), faultOf: (ids) => faultAt(ids, 0), servingOf };
}

function isOut(condition: Condition): boolean {
  return condition === 'down' || condition === 'no_agent';
}

function together(all: readonly Condition[]): Condition {
  const [first] = all;
  if (first === undefined) return 'unknown';
  if (all.every((each) => each === first)) return first;
  if (all.every(isOut)) return 'down';
  if (all.some((each) => isOut(each) || each === 'in_part')) return 'in_part';
  return 'unknown';
}

/** States from the one that says most; trouble of some of several is trouble in part. */
const tellingFirst: readonly HealthState[] = ['slow', 'no_login_returns', 'unknown', 'answers', 'checks_answer'];
const failing: ReadonlySet<HealthState> = new Set<HealthState>(['does_not_answer', 'answers_in_part']);

function joined(all: readonly HealthState[]): HealthState {
  const [first = 'unknown'] = all;
  if (all.every((each) => each === first)) return first;
  if (all.some((each) => failing.has(each))) return 'answers_in_part';
  return tellingFirst.find((each) => all.includes(each)) ?? 'no_requests';
}

function wordsOf({ state, addresses, answering, fault }: WatchedBackend): Pick<Fault, 'words' | 'reason'> {
  const words = state === 'down' ? 'is down' : `${answering} of ${countOf(addresses, 'address', 'addresses')} answer`;
  if (fault === undefined) return { words };
  const since = fault.since === undefined ? '' : `, ${formatTime(fault.since)}`;
  return { words, reason: `${fault.address} went down${since}${fault.cause === undefined ? '' : `: ${fault.cause}`}` };
}

/** Backends that an edge leads to, by those of its modules that are on. */
export function backendIdsOf(edge: { readonly routes: readonly Leading[] } | Leading): readonly string[] {
  const leading = 'routes' in edge ? edge.routes : [edge];
  return leading.flatMap(({ backend, redirect }) =>
    backend?.enabled === true && redirect?.enabled !== true ? [backend.backend.id] : [],
  );
}

interface Leading {
  readonly backend: { readonly enabled: boolean; readonly backend: { readonly id: string } } | null;
  /** Goes before the backend. */
  readonly redirect?: { readonly enabled: boolean } | null;
}
