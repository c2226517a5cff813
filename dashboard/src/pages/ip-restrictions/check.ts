import type { IpCheckVerdict, IpRestriction } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';

export type Check = IpCheckVerdict['checks'][number];

/** Tells what a restriction, as it is now, does with an address. */
export function useCheck({ id, type }: IpRestriction, ip: string | undefined): Check | undefined {
  const { data } = useOne('IpCheck', { body: { ip: ip ?? '', type } }, { enabled: ip !== undefined });
  return data?.document.checks.find((check) => check.id === id);
}

/** The deny rule that an address lies in, against which no allow rule helps. */
export function denyingRule(
  check: Check | undefined,
): { readonly cidr: string; readonly policyId: string } | undefined {
  const rule = check?.rule ?? undefined;
  return rule?.action === 'deny' ? { cidr: rule.cidr, policyId: rule.ip_policy.id } : undefined;
}
