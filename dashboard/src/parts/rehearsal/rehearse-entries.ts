import type { IpPolicy, IpRestriction, Operations } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { Rehearsal } from './rehearsal.ts';

type Entry = Operations['ConfigurationApply']['body'][number];

/** Something as it would be, in place of what it is. */
export type Wanted = (nameOf: (id: string) => string) => Entry;

export interface WantedRule {
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
  readonly description?: string | undefined;
}

/** Tries a change by what the configuration would be; all else stays as it is, and nothing is saved. */
export async function rehearseEntries(wanted: readonly Wanted[], signal: AbortSignal): Promise<Rehearsal> {
  const { names } = await client.call('ConfigurationNames', { signal });
  const byId = new Map(names.map(({ id, name }) => [id, name]));
  // What is gone has no name: the server says that there is none such.
  const body = wanted.map((each) => each((id) => byId.get(id) ?? id));
  const { admits_new: admitsNew } = await client.call('ConfigurationApply', {
    body,
    query: { dry_run: 'true' },
    signal,
  });
  return { visits: await whyNotTried(signal), admitsNew };
}

async function whyNotTried(signal: AbortSignal): Promise<'not_kept' | 'not_tried'> {
  const { not_kept: why } = await client.call('DecisionsList', { query: { limit: 1 }, signal });
  return why === undefined ? 'not_tried' : 'not_kept';
}

/** A policy with these rules alone. */
export function policyWith(policy: IpPolicy, rules: readonly WantedRule[]): Wanted {
  return (nameOf) => ({
    kind: 'ip_policies',
    name: nameOf(policy.id),
    ...textsOf(policy),
    rules: rules.map(({ cidr, action, description = '' }) =>
      description === '' ? `${action === 'deny' ? '!' : ''}${cidr}` : { cidr, action, description },
    ),
  });
}

/** A restriction with some of its fields changed. */
export function restrictionWith(
  restriction: IpRestriction,
  changed: { readonly enforced?: boolean; readonly ip_policy_ids?: readonly string[] },
): Wanted {
  const { id, type, enforced, ip_policies: policies } = restriction;
  const policyIds = changed.ip_policy_ids ?? policies.map((policy) => policy.id);
  return (nameOf) => ({
    kind: 'ip_restrictions',
    name: nameOf(id),
    ...textsOf(restriction),
    type,
    enforced: changed.enforced ?? enforced,
    ip_policies: policyIds.map(nameOf),
  });
}

function textsOf({ description = '', metadata = '' }: { readonly description?: string; readonly metadata?: string }): {
  readonly description?: string;
  readonly metadata?: string;
} {
  return { ...(description === '' ? {} : { description }), ...(metadata === '' ? {} : { metadata }) };
}
