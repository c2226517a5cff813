import type { DecisionRow } from '../../decisions/columns.ts';
import type { Followed } from '../../decisions/messages.ts';
import { callbackPath } from '../../modules/own-paths.ts';

const requests: Followed = { kind: 'https' };
const connections: Followed = { kind: 'tcp' };
/** A provider has said who a visitor is. */
const signIns: Followed = { kind: 'https', path: callbackPath };

/** Types of events that are made of kept decisions, and the decisions that they are made of. */
const followed: ReadonlyMap<string, Followed> = new Map([
  ['http_request_complete.v0', requests],
  ['tcp_connection_closed.v0', connections],
  ['visitor_sign_in_refused.v0', signIns],
  ['visitor_signed_in.v0', signIns],
]);

export const trafficTypes: readonly string[] = [...followed.keys()];

export function isTrafficType(type: string): boolean {
  return followed.has(type);
}

/** Decisions of which events of these types are made. */
export function followedBy(types: Iterable<string>): readonly Followed[] {
  return [...new Set([...types].flatMap((type) => followed.get(type) ?? []))];
}

/** Types of the events of one decision, by their position: a sign-in is also a request. */
export function typesOfDecision({ kind, path, person, verdict }: DecisionRow): readonly string[] {
  if (kind === 'tcp') return ['tcp_connection_closed.v0'];
  if (path !== callbackPath || person === '') return ['http_request_complete.v0'];
  const signIn = verdict === 'refused' ? 'visitor_sign_in_refused.v0' : 'visitor_signed_in.v0';
  return ['http_request_complete.v0', signIn];
}

/** Beyond the position of any event of a decision. */
export const lastPosition = 1;
