import type { IpPolicy, IpRestriction, Operations } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { AdmitsNew } from './rehearsal.ts';

type Entry = Operations['ConfigurationApply']['body'][number];

/** Something as it would be, in place of what it is. */
export type Wanted = (nameOf: (id: string) => string) => Entry;

export interface WantedRule {
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
  readonly description?: string | undefined;
}

/** Whom a configuration with these things in place of what they are would let in newly; all else stays, and nothing is saved. */
export async function proveEntries(wanted: readonly Wanted[], signal: AbortSignal): Promise<AdmitsNew | undefined> {
  const { names } = await client.call('ConfigurationNames', { signal });
  const byId = new Map(names.map(({ id, name }) => [id, name]));
  // What is gone has no name: the server says that there is none such.
  const body = wanted.map((each) => each((id) => byId.get(id) ?? id));
  const applied = await client.call('ConfigurationApply', { body, query: { dry_run: 'true' }, signal });
  return applied.admits_new;
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
