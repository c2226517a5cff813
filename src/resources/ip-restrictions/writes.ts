import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { notAnIpPolicyId } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Referables } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { deleteDecisions } from './decisions.ts';
import { restrictionPolicyNotFound, restrictionWithoutPolicy } from './errors.ts';
import { lockoutGuard } from './service.ts';
import { ipRestrictions, withEnforced } from './table.ts';
import type { IpRestriction } from './table.ts';

interface RestrictionUpdate extends TextFields {
  readonly enforced?: boolean;
  readonly ip_policy_ids?: readonly string[];
}

interface RestrictionCreate extends RestrictionUpdate {
  readonly type: RestrictionType;
  readonly ip_policy_ids: readonly string[];
}

/** The writes of single calls and of configurations. */
export function ipRestrictionWrites({ services, referables }: Pick<ResourceContext, 'services' | 'referables'>) {
  return {
    async create(transaction: Transaction, call: Call<RestrictionCreate>): Promise<IpRestriction> {
      const { caller, body, newId } = call;
      if (body.ip_policy_ids.length === 0) throw new UserError(restrictionWithoutPolicy);
      checkPolicyIds(referables, body.ip_policy_ids);
      const made = ipRestrictions.newDocument(caller.accountId, newId);
      const enforces = body.enforced ?? false;
      const restriction: IpRestriction = withText(
        {
          ...made,
          ...(enforces ? {} : { warns_since: newId === undefined ? made.created_at : toTimestamp(Date.now()) }),
          enforced: enforces,
          type: body.type,
          ip_policy_ids: body.ip_policy_ids,
        },
        body,
      );
      await ipRestrictions.insert(transaction, restriction);
      await setPolicies(transaction, referables, restriction);
      await services.get(lockoutGuard).check(transaction, call);
      return restriction;
    },
    async update(
      transaction: Transaction,
      call: Call<RestrictionUpdate>,
      previous: IpRestriction,
    ): Promise<IpRestriction> {
      const { body } = call;
      // An official client sends [] whenever its caller gave nothing.
      const named = body.ip_policy_ids ?? [];
      checkPolicyIds(referables, named);
      const ip_policy_ids = named.length === 0 ? previous.ip_policy_ids : named;
      const changed = withEnforced({ ...previous, ip_policy_ids }, body.enforced ?? previous.enforced);
      const restriction = await ipRestrictions.update(transaction, previous, withText(changed, body));
      if (restriction !== previous) await setPolicies(transaction, referables, restriction);
      await services.get(lockoutGuard).check(transaction, call);
      return restriction;
    },
    async remove(transaction: Transaction, _call: Call, restriction: IpRestriction): Promise<void> {
      await referables.set(transaction, 'ip_policy', restriction.id, []);
      await deleteDecisions(transaction, restriction.id);
      await ipRestrictions.delete(transaction, restriction);
    },
  };
}

async function setPolicies(
  transaction: Transaction,
  referables: Referables,
  { account_id, id, ip_policy_ids }: IpRestriction,
): Promise<void> {
  for (const policyId of ip_policy_ids) {
    if (!(await referables.exists(transaction, 'ip_policy', account_id, policyId)))
      throw new UserError(restrictionPolicyNotFound, { id: policyId });
  }
  await referables.set(transaction, 'ip_policy', id, ip_policy_ids);
}

function checkPolicyIds(referables: Referables, ids: readonly string[]): void {
  const field = 'ip_policy_ids';
  referables.check('ip_policy', field, ids, (id) => new UserError(notAnIpPolicyId, { field, id: quote(id) }));
}
