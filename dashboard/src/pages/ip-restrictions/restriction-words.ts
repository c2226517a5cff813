import type { IpRestriction } from '../../../../client/src/index.ts';
import { countOf } from '../../lib/text.ts';

export type RestrictionType = IpRestriction['type'];

/** Says in a sentence what each type guards. */
export const guards: Readonly<Record<RestrictionType, string>> = {
  dashboard: 'Who may sign in to this dashboard, and use it.',
  api: 'Who may call the management API.',
  agent: 'From where agents may connect.',
  endpoints: 'Who may reach edges, and the endpoints of agents.',
};

/** The answer to a refused source, as the subject of a sentence. */
export const refusals: Readonly<Record<RestrictionType, string>> = {
  dashboard: 'the dashboard answers 403 to',
  api: 'the API answers 403 to',
  agent: 'agents are refused that connect from',
  endpoints: 'edges and endpoints refuse requests and connections from',
};

const nouns: Readonly<Record<RestrictionType, readonly [one: string, many: string]>> = {
  dashboard: ['call', 'calls'],
  api: ['call', 'calls'],
  agent: ['connection', 'connections'],
  endpoints: ['request', 'requests'],
};

/** Such as "31 calls". */
export function callsOf(count: number, type: RestrictionType): string {
  return countOf(count, ...nouns[type]);
}

/** The head of a column with such counts. */
export function callsHead(type: RestrictionType): string {
  const many = nouns[type][1];
  return many.charAt(0).toUpperCase() + many.slice(1);
}

export function addressesOf(count: number): string {
  return countOf(count, 'address', 'addresses');
}

export const windowWords = { hour: 'last hour', day: 'last day', week: 'last 7 days' } as const;
