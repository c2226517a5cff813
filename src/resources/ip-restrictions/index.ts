import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { fieldRequired } from '../../api/errors.ts';
import type { Operation } from '../../api/operation.ts';
import { adminsMay } from '../../api/rights.ts';
import { textFields, withText } from '../../api/text-fields.ts';
import { duplicateEntry, notAnIpPolicyId } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import type { Transaction } from '../../store/group-commit.ts';
import { policyProtectors } from '../policy-protection.ts';
import type { Referables } from '../references.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { restrictionCompiler } from './compile.ts';
import { restrictionPolicyNotFound, restrictionWithoutPolicy, unknownRestrictionType, wouldLockOut } from './errors.ts';
import * as errors from './errors.ts';
import { hostCommands } from './host-commands.ts';
import { createLockoutGuard } from './lockout-guard.ts';
import { restrictionsOfType } from './search.ts';
import { ipRestrictionSearch, lockoutGuard, warnings } from './service.ts';
import { restrictionProtector } from './protector.ts';
import { ipRestrictions, migrations } from './table.ts';
import type { IpRestriction } from './table.ts';
import { IpRestrictionWarnings, warningsOperation } from './warnings-operation.ts';
import { createWarnings } from './warnings.ts';

const path = '/ip_restrictions';
const enforcedText = 'true: enforced. false: only warnings are issued.';
const enforced = Type.Boolean({ description: enforcedText });
const type = Type.Union(
  restrictionTypes.map((each) => Type.Literal(each)),
  { description: 'What traffic the attached policies restrict.' },
);
const policyIds = Type.Array(Type.String(), {
  description: 'Ids of the IP policies that enforce the restriction.',
  examples: [['ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng']],
});

const IpRestrictionView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier.' }),
    uri: Type.String({ description: "URI of this restriction's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    enforced,
    type: Type.String({ enum: [...restrictionTypes], description: 'What traffic the attached policies restrict.' }),
    ip_policies: Type.Array(Type.Ref('Ref'), { description: 'The IP policies that enforce the restriction.' }),
  },
  { $id: 'IpRestriction' },
);
const IpRestrictionCreate = Type.Object(
  {
    ...textFields,
    enforced: Type.Optional(Type.Boolean({ description: enforcedText, default: false })),
    type,
    ip_policy_ids: policyIds,
  },
  { $id: 'IpRestrictionCreate', additionalProperties: false },
);
const IpRestrictionUpdate = Type.Object(
  { ...textFields, enforced: Type.Optional(enforced), ip_policy_ids: Type.Optional(policyIds) },
  { $id: 'IpRestrictionUpdate', additionalProperties: false },
);

function ipRestrictionOperations({ store, services, referables }: ResourceContext): readonly Operation[] {
  const setPolicies = async (transaction: Transaction, { account_id, id, ip_policy_ids }: IpRestriction) => {
    for (const policyId of ip_policy_ids) {
      if (!(await referables.exists(transaction, 'ip_policy', account_id, policyId)))
        throw new UserError(restrictionPolicyNotFound, { id: policyId });
    }
    await referables.set(transaction, 'ip_policy', id, ip_policy_ids);
  };
  return crudOperations({
    store,
    table: ipRestrictions,
    path,
    noun: 'IP restriction',
    plural: 'IP restrictions',
    name: 'IpRestrictions',
    tag: 'IP restrictions',
    listKey: 'ip_restrictions',
    view: IpRestrictionView,
    createBody: IpRestrictionCreate,
    updateBody: IpRestrictionUpdate,
    rights: { read: 'everyone', write: adminsMay('create, change or delete IP restrictions') },
    fieldErrors: {
      type: (value, missing) => (missing ? undefined : new UserError(unknownRestrictionType, { type: quote(value) })),
      ip_policy_ids: (_value, missing) => (missing ? new UserError(restrictionWithoutPolicy) : undefined),
    },
    errors: {
      create: [
        notAnIpPolicyId,
        restrictionPolicyNotFound,
        unknownRestrictionType,
        restrictionWithoutPolicy,
        wouldLockOut,
        duplicateEntry,
        fieldRequired,
      ],
      update: [notAnIpPolicyId, restrictionPolicyNotFound, wouldLockOut, duplicateEntry],
      delete: [],
    },
    guarded: ['create', 'update'],
    async create(transaction, call) {
      const { caller, body } = call;
      if (body.ip_policy_ids.length === 0) throw new UserError(restrictionWithoutPolicy);
      checkPolicyIds(referables, body.ip_policy_ids);
      const restriction: IpRestriction = withText(
        {
          ...ipRestrictions.newDocument(caller.accountId),
          enforced: body.enforced ?? false,
          type: body.type,
          ip_policy_ids: body.ip_policy_ids,
        },
        body,
      );
      await ipRestrictions.insert(transaction, restriction);
      await setPolicies(transaction, restriction);
      await services.get(lockoutGuard).check(transaction, call);
      return restriction;
    },
    async update(transaction, call, previous) {
      const { body } = call;
      // An official client sends [] whenever its caller gave nothing.
      const named = body.ip_policy_ids ?? [];
      checkPolicyIds(referables, named);
      const ip_policy_ids = named.length === 0 ? previous.ip_policy_ids : named;
      const changed = { ...previous, enforced: body.enforced ?? previous.enforced, ip_policy_ids };
      const restriction = await ipRestrictions.update(transaction, previous, withText(changed, body));
      if (restriction !== previous) await setPolicies(transaction, restriction);
      await services.get(lockoutGuard).check(transaction, call);
      return restriction;
    },
    async remove(transaction, _call, restriction) {
      await referables.set(transaction, 'ip_policy', restriction.id, []);
      await ipRestrictions.delete(transaction, restriction);
    },
    present: (restriction, call) => present(restriction, call, referables),
  });
}

function checkPolicyIds(referables: Referables, ids: readonly string[]): void {
  const field = 'ip_policy_ids';
  referables.check('ip_policy', field, ids, (id) => new UserError(notAnIpPolicyId, { field, id: quote(id) }));
}

function present(restriction: IpRestriction, { uri }: Call, referables: Referables): object {
  const { id, created_at, description, metadata, ip_policy_ids } = restriction;
  const ip_policies = ip_policy_ids.map((policyId) => ({
    id: policyId,
    uri: uri(referables.pathOf('ip_policy', policyId)),
  }));
  return {
    id,
    uri: uri(`${path}/${id}`),
    created_at,
    description,
    metadata,
    enforced: restriction.enforced,
    type: restriction.type,
    ip_policies,
  };
}

export const ipRestrictionsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [IpRestrictionView, IpRestrictionCreate, IpRestrictionUpdate, IpRestrictionWarnings],
  operations: (context) => [...ipRestrictionOperations(context), warningsOperation(context)],
  compilers: () => [restrictionCompiler],
  provide(context) {
    const { store, services } = context;
    services.provide(lockoutGuard, createLockoutGuard(context));
    services.provide(warnings, createWarnings(store));
    services.provide(ipRestrictionSearch, { ofType: restrictionsOfType });
    services.add(policyProtectors, restrictionProtector);
  },
  hostCommands,
};
