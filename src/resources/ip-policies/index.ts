import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import type { Operation } from '../../api/operation.ts';
import { textFields, withText } from '../../api/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import { checkMayWritePolicy } from '../policy-protection.ts';
import { createReferable, listShort } from '../references.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { policyInUse, policyProtected } from './errors.ts';
import * as errors from './errors.ts';
import { ipPolicies, migrations } from './table.ts';

const path = '/ip_policies';
const referable = createReferable({ kind: 'ip_policy', path, table: 'ip_policies', documents: ipPolicies });

const IpPolicyView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the IP policy.' }),
    uri: Type.String({ description: "URI of this policy's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
  },
  { $id: 'IpPolicy' },
);
const IpPolicyCreate = Type.Object(textFields, { $id: 'IpPolicyCreate', additionalProperties: false });
const IpPolicyUpdate = Type.Object(textFields, { $id: 'IpPolicyUpdate', additionalProperties: false });

function ipPolicyOperations({ store, services }: ResourceContext): readonly Operation[] {
  return crudOperations({
    // A new policy is used by nothing yet.
    rights: { read: 'everyone', write: 'unprotected', create: 'everyone' },
    store,
    table: ipPolicies,
    path,
    noun: 'IP policy',
    plural: 'IP policies',
    name: 'IpPolicies',
    tag: 'IP policies',
    listKey: 'ip_policies',
    view: IpPolicyView,
    createBody: IpPolicyCreate,
    updateBody: IpPolicyUpdate,
    errors: { create: [], update: [policyProtected], delete: [policyProtected, policyInUse] },
    create: (transaction, { caller, body }) =>
      ipPolicies.insert(transaction, withText(ipPolicies.newDocument(caller.accountId), body)),
    async update(transaction, { caller, body }, policy) {
      await checkMayWritePolicy(services, transaction, caller, policy.id);
      return ipPolicies.update(transaction, policy, withText(policy, body));
    },
    async remove(transaction, { caller }, policy) {
      await checkMayWritePolicy(services, transaction, caller, policy.id);
      const users = await referable.referrersOf(transaction, policy.id);
      if (users.length > 0) throw new UserError(policyInUse, { policy: policy.id, users: listShort(users) });
      // Its rules go with it.
      await services.get(ipPolicyRuleSearch).deleteAll(transaction, policy.id);
      await ipPolicies.delete(transaction, policy, { cascades: true });
    },
    present: (policy, { uri }) => ({
      id: policy.id,
      uri: uri(`${path}/${policy.id}`),
      created_at: policy.created_at,
      description: policy.description,
      metadata: policy.metadata,
    }),
  });
}

export const ipPoliciesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [IpPolicyView, IpPolicyCreate, IpPolicyUpdate],
  operations: ipPolicyOperations,
  referables: [referable],
};
