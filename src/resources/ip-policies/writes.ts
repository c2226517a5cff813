import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { checkMayWritePolicy } from '../policy-protection.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import type { Services } from '../services.ts';
import { policyInUse } from './errors.ts';
import { ipPolicies } from './table.ts';
import type { IpPolicy } from './table.ts';

export const path = '/ip_policies';
export const referable = createReferable({ kind: 'ip_policy', path, table: 'ip_policies', documents: ipPolicies });

/** The writes of single calls and of configurations. */
export function ipPolicyWrites(services: Services) {
  return {
    create: (transaction: Transaction, { caller, body, newId }: Call<TextFields>): Promise<IpPolicy> =>
      ipPolicies.insert(transaction, withText(ipPolicies.newDocument(caller.accountId, newId), body)),
    async update(transaction: Transaction, { caller, body }: Call<TextFields>, policy: IpPolicy): Promise<IpPolicy> {
      await checkMayWritePolicy(services, transaction, caller, policy.id);
      return ipPolicies.update(transaction, policy, withText(policy, body));
    },
    async remove(transaction: Transaction, { caller }: Call, policy: IpPolicy): Promise<void> {
      await checkMayWritePolicy(services, transaction, caller, policy.id);
      const users = await referable.referrersOf(transaction, policy.id);
      if (users.length > 0)
        throw new UserError(policyInUse, {
          policy: policy.id,
          users: await nameUsers(transaction, policy.account_id, users),
        });
      // Rules go with their policy.
      const parts = await services.get(ipPolicyRuleSearch).deleteAll(transaction, policy.id);
      await ipPolicies.delete(transaction, policy, { cascades: true, parts });
    },
  };
}
