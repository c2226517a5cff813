import { Type } from 'typebox';

import { listEntryTooLong, notFound, preconditionFailed } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { duplicateEntry } from '../../errors/shared.ts';
import { policyProtected } from '../ip-policies/errors.ts';
import { wouldLockOut } from '../ip-restrictions/errors.ts';
import type { ResourceContext } from '../resource.ts';
import { RuleEntries } from '../rule-entries.ts';
import { hostBitsSet, invalidCidr, invalidRuleLine, maskMissing, tooManyRules, unknownAction } from './errors.ts';
import { checkPolicy, replaceAllRules } from './replace/replace-all-rules.ts';
import { acceptRules, parseRuleLines } from './rule-list.ts';

const bodyLimitBytes = 32 * 1024 * 1024;

export const RulesReplaced = Type.Object(
  {
    added: Type.Integer({ description: 'Rules that are new.' }),
    removed: Type.Integer({ description: 'Rules that are gone.' }),
    kept: Type.Integer({ description: 'Rules that were there already; they keep their ids.' }),
  },
  { $id: 'IpPolicyRulesReplaced' },
);

export function replaceRulesOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'unprotected',
    isRehearsable: true,
    method: 'PUT',
    path: '/ip_policies/{id}/rules',
    operationId: 'IpPolicyRulesReplace',
    summary: 'Replace all rules of an IP policy',
    description:
      'At once and as a whole: traffic never sees half of the list. Send a JSON list, what GET on the same path answers ' +
      '(`{"rules":[…]}`), or plain text with one CIDR a line ("!" before a CIDR means deny, "#" starts a comment). Rules ' +
      'that are kept keep their ids.',
    tag: 'IP policies',
    body: RuleEntries,
    bodyForm: 'list',
    shownAs: { key: 'rules', entryFields: ['id', 'uri', 'created_at', 'ip_policy'] },
    bodyLimit: bodyLimitBytes,
    bodyTypes: ['application/json', 'text/plain'],
    parseText: parseRuleLines,
    status: 200,
    response: RulesReplaced,
    accepts: ['IfMatch', 'AllowLockout'],
    errors: [
      notFound,
      invalidCidr,
      hostBitsSet,
      tooManyRules,
      maskMissing,
      unknownAction,
      wouldLockOut,
      policyProtected,
      duplicateEntry,
      invalidRuleLine,
      listEntryTooLong,
      preconditionFailed,
    ],
    handle: async (call) => {
      await checkPolicy({ context, call, policyId: call.params['id'] ?? '' }, context.store.queries);
      // Validated before any write begins, so that other writes need not wait for it.
      return replaceAllRules(context, call, await acceptRules(call.body));
    },
  });
}
