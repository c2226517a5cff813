import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import type { Operation } from '../../api/operation.ts';
import { textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { ipPolicyRuleSearch, ruleLists } from '../ip-policy-rules/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { IpPolicyEntry, ipPolicyKind } from './configuration.ts';
import { policyInUse, policyProtected } from './errors.ts';
import * as errors from './errors.ts';
import { ipPolicies, migrations } from './table.ts';
import { ipPolicyWrites, path, referable } from './writes.ts';

const IpPolicyView = Type.Object(
  {
    ...viewFields('IP policy'),
  },
  { $id: 'IpPolicy' },
);
const IpPolicyCreate = Type.Object(textFields, { $id: 'IpPolicyCreate', additionalProperties: false });
const IpPolicyUpdate = Type.Object(textFields, { $id: 'IpPolicyUpdate', additionalProperties: false });

const ofRules = 'It belongs to the rules of the policy: POST /ip_policy_rules, or PUT /ip_policies/{id}/rules for all.';

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
    takesNewId: true,
    isRehearsable: true,
    view: IpPolicyView,
    createBody: IpPolicyCreate,
    updateBody: IpPolicyUpdate,
    misplacedFields: { action: ofRules, cidr: ofRules, cidrs: ofRules, rules: ofRules },
    errors: { create: [], update: [policyProtected], delete: [policyProtected, policyInUse] },
    ...ipPolicyWrites(services),
    async hasParts(transaction, { id }) {
      return (await services.get(ipPolicyRuleSearch).hasAny(transaction, id)) ? 'rules' : undefined;
    },
    parts: services.get(ruleLists).reverter,
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
  schemas: [IpPolicyView, IpPolicyCreate, IpPolicyUpdate, IpPolicyEntry],
  operations: ipPolicyOperations,
  referables: [referable],
  provide({ services }) {
    services.add(configurationKinds, ipPolicyKind(services));
  },
};
