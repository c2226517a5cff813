import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { booleanIn, commonFields, listIn, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFields } from '../../api/body/text-fields.ts';
import { duplicateEntry, notAnIpPolicyId } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import { backgroundTasks, flushAtEnd } from '../background-tasks.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { policyProtectors } from '../policy-protection.ts';
import type { Referables } from '../references.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { restrictionCompiler } from './compile.ts';
import { IpRestrictionEntry, ipRestrictionKind, writeRights } from './configuration.ts';
import { restrictionPolicyNotFound, restrictionWithoutPolicy, unknownRestrictionType, wouldLockOut } from './errors.ts';
import { decisionOperations, IpRestrictionDecisionReplace, IpRestrictionDecisionView } from './decisions.ts';
import * as errors from './errors.ts';
import { hostCommands } from './host-commands.ts';
import { createLockoutGuard } from './lockout-guard.ts';
import { pastRestrictionsOfType, restrictionsOfType } from './search.ts';
import { IpRestrictionWarningsSummary, summaryOperation } from './summary-operation.ts';
import { ipRestrictionSearch, lockoutGuard, warnings } from './service.ts';
import { restrictionProtector } from './protector.ts';
import { ipRestrictions, migrations } from './table.ts';
import type { IpRestriction } from './table.ts';
import { IpRestrictionWarnings, warningsOperation } from './warnings-operation.ts';
import { createWarnings } from './warnings.ts';
import { ipRestrictionWrites } from './writes.ts';

const path = '/ip_restrictions';
const enforcedText = 'true: enforced. false: only warnings are issued.';
const enforced = Type.Boolean({ description: enforcedText });
const type = Type.Union(
  restrictionTypes.map((each) => Type.Literal(each)),
  { description: 'Traffic that the attached policies restrict.' },
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
    type: Type.String({ enum: [...restrictionTypes], description: 'Traffic that the attached policies restrict.' }),
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
  return crudOperations({
    store,
    table: ipRestrictions,
    path,
    noun: 'IP restriction',
    plural: 'IP restrictions',
    name: 'IpRestrictions',
    tag: 'IP restrictions',
    listKey: 'ip_restrictions',
    filterFields: {
      ...commonFields,
      enforced: booleanIn('enforced'),
      type: textIn('type'),
      ip_policy_ids: listIn('ip_policy_ids'),
    },
    takesNewId: true,
    isRehearsable: true,
    view: IpRestrictionView,
    createBody: IpRestrictionCreate,
    updateBody: IpRestrictionUpdate,
    rights: { read: 'everyone', write: writeRights },
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
      ],
      update: [notAnIpPolicyId, restrictionPolicyNotFound, wouldLockOut, duplicateEntry],
      delete: [],
    },
    guarded: ['create', 'update'],
    ...ipRestrictionWrites({ services, referables }),
    present: (restriction, call) => present(restriction, call, referables),
  });
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
  schemas: [
    IpRestrictionView,
    IpRestrictionCreate,
    IpRestrictionUpdate,
    IpRestrictionEntry,
    IpRestrictionWarnings,
    IpRestrictionWarningsSummary,
    IpRestrictionDecisionView,
    IpRestrictionDecisionReplace,
  ],
  operations: (context) => [
    ...ipRestrictionOperations(context),
    warningsOperation(context),
    summaryOperation(context),
    ...decisionOperations(context),
  ],
  compilers: () => [restrictionCompiler],
  provide(context) {
    const { store, services } = context;
    services.provide(lockoutGuard, createLockoutGuard(context));
    const counted = createWarnings(store);
    services.provide(warnings, counted);
    services.add(
      backgroundTasks,
      flushAtEnd(() => counted.flush()),
    );
    services.provide(ipRestrictionSearch, {
      ofType: restrictionsOfType,
      ofTypePast: pastRestrictionsOfType,
      changeKind: ipRestrictions.kind,
      policiesOf: async (accountId, id) => (await store.find(ipRestrictions, accountId, id))?.ip_policy_ids ?? [],
      descriptionOf: async (accountId, id) => (await store.find(ipRestrictions, accountId, id))?.description,
    });
    services.add(policyProtectors, restrictionProtector);
    services.add(configurationKinds, ipRestrictionKind(context));
  },
  hostCommands,
};
