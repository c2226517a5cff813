import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { metadataTooLong } from '../../api/errors.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { policyProtected } from '../ip-policies/errors.ts';
import { wouldLockOut } from '../ip-restrictions/errors.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import { checkMayWritePolicy } from '../policy-protection.ts';
import type { Referables } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { acceptCidr } from './cidr-rules.ts';
import {
  duplicateRule,
  hostBitsSet,
  invalidCidr,
  maskMissing,
  notAPolicyOfRule,
  policyNotFound,
  ruleDescriptionTooLong,
  ruleFieldRequired,
  ruleNotFound,
  unknownAction,
} from './errors.ts';
import { actions } from '../rule-entries.ts';
import { ruleSetOf } from './replace/rule-sets.ts';
import { countRules, ipPolicyRules } from './table.ts';
import type { IpPolicyRule } from './table.ts';

const cidr = Type.String({
  description: 'An address range with its mask, IPv4 or IPv6; the address is the first of the range.',
  examples: ['203.0.113.0/24'],
});
const action = Type.Union(
  actions.map((each) => Type.Literal(each)),
  { description: 'Effect on addresses in the range. Fixed after creation.' },
);

export const IpPolicyRuleView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the rule.' }),
    uri: Type.String({ description: "URI of this rule's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    cidr,
    ip_policy: Type.Ref('Ref'),
    action: Type.String({ enum: [...actions], description: 'Effect on addresses in the range.' }),
  },
  { $id: 'IpPolicyRule' },
);
export const IpPolicyRuleCreate = Type.Object(
  {
    ...textFields,
    cidr,
    ip_policy_id: Type.String({
      description: 'Id of the IP policy that the rule belongs to.',
      examples: ['ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng'],
    }),
    action,
  },
  { $id: 'IpPolicyRuleCreate', additionalProperties: false },
);
export const IpPolicyRuleUpdate = Type.Object(
  { ...textFields, cidr: Type.Optional(cidr) },
  { $id: 'IpPolicyRuleUpdate', additionalProperties: false },
);

export function ruleOperations({ store, services, referables }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'unprotected' },
    store,
    table: ipPolicyRules,
    path: '/ip_policy_rules',
    noun: 'IP policy rule',
    plural: 'IP policy rules',
    notFoundError: ruleNotFound,
    name: 'IpPolicyRules',
    tag: 'IP policy rules',
    listKey: 'ip_policy_rules',
    filterFields: {
      ...commonFields,
      cidr: textIn('cidr'),
      action: textIn('action'),
      ip_policy: textIn('ip_policy_id'),
      'ip_policy.id': textIn('ip_policy_id'),
    },
    takesNewId: true,
    isRehearsable: true,
    view: IpPolicyRuleView,
    createBody: IpPolicyRuleCreate,
    updateBody: IpPolicyRuleUpdate,
    fieldErrors: {
      ...textFieldErrors(ruleDescriptionTooLong, metadataTooLong),
      cidr: (_value, missing) => (missing ? missingField('cidr') : undefined),
      ip_policy_id: (_value, missing) => (missing ? missingField('ip_policy_id') : undefined),
      action: (value, missing) =>
        missing ? missingField('action') : new UserError(unknownAction, { action: quote(value) }),
    },
    errors: {
      create: [
        metadataTooLong,
        policyNotFound,
        ruleFieldRequired,
        invalidCidr,
        duplicateRule,
        hostBitsSet,
        maskMissing,
        notAPolicyOfRule,
        ruleDescriptionTooLong,
        unknownAction,
        wouldLockOut,
        policyProtected,
      ],
      update: [
        metadataTooLong,
        invalidCidr,
        duplicateRule,
        hostBitsSet,
        maskMissing,
        ruleDescriptionTooLong,
        wouldLockOut,
        policyProtected,
      ],
      delete: [wouldLockOut, policyProtected],
    },
    guarded: ['create', 'update', 'delete'],
    async authorizeCreate(transaction, { caller, body }) {
      // An id of another kind is refused by `create`.
      if (referables.find('ip_policy', body.ip_policy_id) === undefined) return;
      await checkMayWritePolicy(services, transaction, caller, body.ip_policy_id);
    },
    async create(transaction, call) {
      const { caller, body } = call;
      await checkPolicy(transaction, referables, caller.accountId, body.ip_policy_id);
      const rule: IpPolicyRule = withText(
        {
          ...ipPolicyRules.newDocument(caller.accountId, call.newId),
          ...cidrFields(body.cidr),
          ip_policy_id: body.ip_policy_id,
          action: body.action,
        },
        body,
      );
      await checkUnique(transaction, rule);
      await ipPolicyRules.insert(transaction, rule, [await ruleSetOf(transaction, rule.ip_policy_id)]);
      await countRules(transaction, rule.account_id, 1);
      await services.get(lockoutGuard).check(transaction, call);
      return rule;
    },
    async update(transaction, call, previous) {
      const { caller, body } = call;
      await checkMayWritePolicy(services, transaction, caller, previous.ip_policy_id);
      const { written: _, ...kept } = previous;
      const rule = withText(body.cidr ? { ...kept, ...cidrFields(body.cidr) } : previous, body);
      await checkUnique(transaction, rule);
      const stored = await ipPolicyRules.update(transaction, previous, rule);
      await services.get(lockoutGuard).check(transaction, call);
      return stored;
    },
    async remove(transaction, call, rule) {
      await checkMayWritePolicy(services, transaction, call.caller, rule.ip_policy_id);
      // A set that is being prepared may have it too.
      await countRules(transaction, rule.account_id, -(await ipPolicyRules.delete(transaction, rule)));
      await services.get(lockoutGuard).check(transaction, call);
    },
    present: (rule, { uri }) => ({
      id: rule.id,
      uri: uri(`/ip_policy_rules/${rule.id}`),
      created_at: rule.created_at,
      description: rule.description,
      metadata: rule.metadata,
      cidr: rule.written ?? rule.cidr,
      ip_policy: { id: rule.ip_policy_id, uri: uri(referables.pathOf('ip_policy', rule.ip_policy_id)) },
      action: rule.action,
    }),
  });
}

/** A client must read back the spelling that it sent: Terraform would replace the rule at every run. */
function cidrFields(text: string): Pick<IpPolicyRule, 'cidr' | 'written'> {
  const { canonical, written } = acceptCidr(text);
  return written === canonical ? { cidr: canonical } : { cidr: canonical, written };
}

async function checkPolicy(
  transaction: Transaction,
  referables: Referables,
  accountId: string,
  id: string,
): Promise<void> {
  if (referables.find('ip_policy', id) === undefined) throw new UserError(notAPolicyOfRule, { id: quote(id) });
  if (!(await referables.exists(transaction, 'ip_policy', accountId, id)))
    throw new UserError(policyNotFound, { id: quote(id) });
}

async function checkUnique(transaction: Transaction, { id, cidr: wanted, ip_policy_id }: IpPolicyRule): Promise<void> {
  const [taken] = await transaction.all(
    'SELECT id FROM ip_policy_rules WHERE ip_policy_id = $1 AND cidr = $2 AND id <> $3',
    [ip_policy_id, wanted, id],
  );
  if (taken !== undefined)
    throw new UserError(duplicateRule, { policy: ip_policy_id, cidr: wanted, rule: String(taken[0]) });
}

function missingField(field: string): UserError {
  return new UserError(ruleFieldRequired, { field: quote(field) });
}
