import type { PolicyProtector } from '../policy-protection.ts';
import { restrictionsOfType } from './search.ts';

/** The types that admit those who administer: a restriction is only as strong as its rules. */
const protectingTypes = ['api', 'dashboard'] as const;

/** Keeps members and bots, who may not write restrictions, from emptying them by their policies. */
export const restrictionProtector: PolicyProtector = {
  async protectorOf(queries, { accountId }, policyId) {
    for (const type of protectingTypes) {
      const restrictions = await restrictionsOfType(queries, accountId, type);
      const user = restrictions.find(({ enforced, ip_policy_ids }) => enforced && ip_policy_ids.includes(policyId));
      if (user !== undefined) return `the enforced IP restriction ${user.id} (${type})`;
    }
    return undefined;
  },
};
