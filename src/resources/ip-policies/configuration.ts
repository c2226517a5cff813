import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import * as ruleErrors from '../ip-policy-rules/errors.ts';
import { ruleLists } from '../ip-policy-rules/service.ts';
import { RuleEntries } from '../rule-entries.ts';
import type { RuleEntry } from '../rule-entries.ts';
import type { Services } from '../services.ts';
import { policyInUse, policyProtected } from './errors.ts';
import { ipPolicies } from './table.ts';
import { ipPolicyWrites } from './writes.ts';

export const IpPolicyEntry = entrySchema('IpPolicyEntry', 'ip_policies', {
  ...textFields,
  rules: Type.Optional(RuleEntries),
});

interface PolicyFields extends TextFields {
  readonly rules?: readonly RuleEntry[];
}

/** Policies with their rules. An entry without `rules` leaves them as they are: lists often come from elsewhere. */
export function ipPolicyKind(services: Services): ConfigurationKind {
  const writes = ipPolicyWrites(services);
  return defineKind({
    kind: 'ip_policies',
    noun: 'IP policy',
    scope: 'ip_policy',
    table: ipPolicies,
    changeKinds: ['ip_policy', 'ip_policy_rule'],
    schema: IpPolicyEntry,
    errors: [
      policyInUse,
      policyProtected,
      ruleErrors.invalidCidr,
      ruleErrors.hostBitsSet,
      ruleErrors.maskMissing,
      ruleErrors.tooManyRules,
      duplicateEntry,
    ],
    sets: ['rules'],
    decidesAccess: true,
    suggestName: ({ description = '' }) => description,
    async describe(queries, policies, _nameOf, past) {
      const lists = services.get(ruleLists);
      const entries: EntryFields[] = [];
      for (const policy of policies) {
        const rules = await (past === undefined
          ? lists.read(queries, policy.id)
          : lists.readPast(queries, policy, past));
        entries.push({ ...textsOf(policy), rules });
      }
      return entries;
    },
    async accept(fields) {
      const { rules, ...texts } = read(fields);
      return {
        ...textsOf(texts),
        ...(rules === undefined ? {} : { rules: await services.get(ruleLists).accept(rules) }),
      };
    },
    async create({ transaction, call }, fields) {
      const { rules = [], ...texts } = read(fields);
      const policy = await writes.create(transaction, { ...call, body: texts });
      if (rules.length > 0) await services.get(ruleLists).replace(transaction, call, policy.id, rules);
      return policy;
    },
    async update({ transaction, call }, policy, fields) {
      const { rules, ...texts } = read(fields);
      await writes.update(transaction, { ...call, body: textsToSet(texts) }, policy);
      if (rules !== undefined) await services.get(ruleLists).replace(transaction, call, policy.id, rules);
    },
    remove: ({ transaction, call }, policy) => writes.remove(transaction, call, policy),
  });
}

function read(fields: EntryFields): PolicyFields {
  return fields;
}
