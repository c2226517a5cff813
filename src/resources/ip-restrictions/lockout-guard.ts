import type { Caller } from '../../api/admission/caller.ts';
import { UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { Queries } from '../../store/database.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import { ipPolicyRuleSearch, judge } from '../ip-policy-rules/service.ts';
import type { ResourceContext } from '../resource.ts';
import { wouldLockOut } from './errors.ts';
import { restrictionsOfType } from './search.ts';
import type { LockoutGuard } from './service.ts';

export function createLockoutGuard({ services }: Pick<ResourceContext, 'services'>): LockoutGuard {
  return {
    async check(transaction, { caller, allowLockout }) {
      if (allowLockout) return;
      const { source, keyId } = caller;
      const refuse = (by: string) => new UserError(wouldLockOut, { address: formatIp(source), restriction: by });
      if (keyId !== undefined && !(await admitsKey(transaction, keyId, source)))
        throw refuse(`the IP policies of your API key ${keyId}`);
      const restriction = await findRefusal(transaction, caller);
      if (restriction === undefined) return;
      // The id of a restriction that is just being created would mean nothing to the caller.
      throw refuse(transaction.isNew(restriction) ? 'this new IP restriction' : `the IP restriction ${restriction}`);
    },
  };

  async function admitsKey(queries: Queries, keyId: string, source: IpAddress): Promise<boolean> {
    const policyIds = await services.get(apiKeyOwners).policiesOf(queries, keyId);
    if (policyIds.length === 0) return true;
    return judge(policyIds, await services.get(ipPolicyRuleSearch).matching(queries, policyIds, source)).allowed;
  }

  /** The first enforced restriction of the caller's own door that refuses it, by the rules as they stand in the database. */
  async function findRefusal(queries: Queries, { accountId, scope, source }: Caller): Promise<string | undefined> {
    const enforced = (await restrictionsOfType(queries, accountId, scope)).filter((each) => each.enforced);
    const policyIds = [...new Set(enforced.flatMap(({ ip_policy_ids }) => ip_policy_ids))];
    const matching = await services.get(ipPolicyRuleSearch).matching(queries, policyIds, source);
    return enforced.find(({ ip_policy_ids }) => !judge(ip_policy_ids, matching).allowed)?.id;
  }
}
