import { Type } from 'typebox';

import { adminOnly } from '../../api/errors.ts';
import { adminsMay } from '../../api/admission/rights.ts';
import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields, EntryName, EntryWrite } from '../configuration-kind.ts';
import { entrySchema, nameOf } from '../configuration-schema.ts';
import type { ResourceContext } from '../resource.ts';
import { restrictionWithoutPolicy, typeChanged, wouldLockOut } from './errors.ts';
import { UserError } from '../../errors/user-error.ts';
import { ipRestrictions } from './table.ts';
import { ipRestrictionWrites } from './writes.ts';

export const writeRights = adminsMay('create, change or delete IP restrictions');

export const IpRestrictionEntry = entrySchema('IpRestrictionEntry', 'ip_restrictions', {
  ...textFields,
  type: Type.Union(
    restrictionTypes.map((each) => Type.Literal(each)),
    { description: 'Traffic that the policies restrict. Fixed after creation.' },
  ),
  enforced: Type.Optional(
    Type.Boolean({ description: 'true: enforced. false: only warnings are issued.', default: false }),
  ),
  ip_policies: Type.Array(nameOf('an IP policy', 'office'), { description: 'Names of the IP policies.' }),
});

interface RestrictionFields extends TextFields {
  readonly type: RestrictionType;
  readonly enforced?: boolean;
  readonly ip_policies: readonly string[];
}

export function ipRestrictionKind(context: Pick<ResourceContext, 'services' | 'referables'>): ConfigurationKind {
  const writes = ipRestrictionWrites(context);
  return defineKind({
    kind: 'ip_restrictions',
    noun: 'IP restriction',
    scope: 'ip_restriction',
    table: ipRestrictions,
    changeKinds: ['ip_restriction'],
    schema: IpRestrictionEntry,
    errors: [adminOnly, restrictionWithoutPolicy, wouldLockOut, duplicateEntry, typeChanged],
    isDeletedFirst: true,
    decidesAccess: true,
    fixed: ['type'],
    suggestName: ({ description, type }) => description ?? type,
    describe: async (_queries, restrictions, name) =>
      restrictions.map((restriction) =>
        toFields({ ...restriction, ip_policies: restriction.ip_policy_ids.map((id) => name(id)) }),
      ),
    accept: async (fields) => toFields(read(fields)),
    async create(write, fields) {
      const { type } = read(fields);
      return writes.create(write.transaction, { ...write.call, body: { ...toBody(write, fields), type } });
    },
    async update(write, restriction, fields) {
      const body = toBody(write, fields);
      const { type } = read(fields);
      if (type !== restriction.type) throw new UserError(typeChanged, { type: restriction.type });
      // An update would take an empty list for one that was not given.
      if (body.ip_policy_ids.length === 0) throw new UserError(restrictionWithoutPolicy);
      await writes.update(write.transaction, { ...write.call, body }, restriction);
    },
    names: (fields) => namesIn(read(fields)),
    async remove(write, restriction) {
      checkAdmin(write);
      await writes.remove(write.transaction, write.call, restriction);
    },
  });
}

function checkAdmin({ call }: EntryWrite): void {
  if (call.caller.principal.role !== 'admin') throw writeRights.refusal();
}

function toBody(write: EntryWrite, fields: EntryFields) {
  checkAdmin(write);
  const { ip_policies, enforced = false, ...texts } = read(fields);
  return {
    ...textsToSet(texts),
    enforced,
    ip_policy_ids: ip_policies.map((name) => write.idOf('ip_policy', name)),
  };
}

function toFields({ type, enforced = false, ip_policies, ...texts }: RestrictionFields): EntryFields {
  return { ...textsOf(texts), type, ...(enforced ? { enforced } : {}), ip_policies };
}

/** The fields of a deletion are empty. */
function namesIn({ ip_policies = [] }: Partial<RestrictionFields>): readonly EntryName[] {
  return ip_policies.map((name) => ({ scope: 'ip_policy', name }));
}

function read(fields: EntryFields): RestrictionFields {
  // The entry has passed its schema.
  return fields as unknown as RestrictionFields;
}
