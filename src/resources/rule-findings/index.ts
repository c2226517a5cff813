import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Call } from '../../api/call.ts';
import type { Operation } from '../../api/operation.ts';
import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { everybody, exampleOf } from '../../lib/ip/address-sets.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { describeFinding } from './describe.ts';
import { findFindings } from './find-findings.ts';
import type { Finding, RuleRef } from './finding.ts';
import { RuleFinding, RuleFindings } from './schema.ts';

const path = '/rule_findings';
const mostUsers = 10;
/** Each holds the rules of its account. */
const limits = { atOnce: 2, ofOwner: 1, waiting: 10 };

const tooManyProofs = defineError(
  20405,
  429,
  'The rules of this account are being looked through already, and {count} calls wait for their turn. Try again shortly.',
);

const policyUnknown = defineError(
  20406,
  400,
  'ip_policy_id {id} names no IP policy of this account. List them to see which exist.',
);

function findingsOperation(context: ResourceContext): Operation {
  const { store, referables, services } = context;
  const turns = new FairTurns(limits);
  return operation({
    rights: 'everyone',
    method: 'GET',
    path,
    operationId: 'RuleFindings',
    summary: 'Find rules that never decide, and what nothing guards',
    description:
      'Goes through all IP policies of the account and tells, for every address of IPv4 and IPv6: rules that never decide, IP policies that let everybody or nobody in, and edges, routes and endpoints that nothing guards. ' +
      'What it tells is certain; where a traffic policy decides by more than the address, it says that it cannot tell. Nothing is changed.',
    tag: 'IP check',
    query: [
      {
        name: 'ip_policy_id',
        description: 'Look only at this IP policy, with those that decide together with it.',
        schema: Type.String({ examples: ['ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng'] }),
      },
    ],
    mayBeLarge: true,
    status: 200,
    response: RuleFindings,
    errors: [policyUnknown, tooManyProofs],
    handle: async (call) => {
      const { caller, filters, isAbandoned } = call;
      const { ip_policy_id: policyId } = filters;
      if (policyId !== undefined && !(await referables.exists(store.queries, 'ip_policy', caller.accountId, policyId)))
        throw new UserError(policyUnknown, { id: quote(policyId) });
      const wanted = { accountId: caller.accountId, policyId, isAbandoned };
      const found = await turns
        .run(caller.accountId, () => findFindings(context, wanted))
        .catch((error: unknown) => {
          if (error instanceof TooMuchWaits) throw new UserError(tooManyProofs, { count: limits.waiting });
          throw error;
        });
      const findings: object[] = [];
      for (const finding of found.kept) {
        const shown = await present(finding, call);
        if (shown !== undefined) findings.push(shown);
      }
      const query = policyId === undefined ? '' : `?${new URLSearchParams({ ip_policy_id: policyId }).toString()}`;
      return {
        findings,
        totals: Object.fromEntries(found.totals),
        is_complete: found.isComplete,
        uri: call.uri(`${path}${query}`),
      };
    },
  });

  /** Undefined for a rule that is gone by now. */
  async function present(finding: Finding, { uri }: Call): Promise<object | undefined> {
    const policyRef = (id: string) => ({ id, uri: uri(referables.pathOf('ip_policy', id)) });
    const presentRule = async (rule: RuleRef | undefined) => {
      const stored = rule && (await services.get(ipPolicyRuleSearch).withCidr(store.queries, rule.policyId, rule.cidr));
      if (stored === undefined) return null;
      const { id, cidr, action, ip_policy_id } = stored;
      return { id, uri: uri(`/ip_policy_rules/${id}`), cidr, action, ip_policy: policyRef(ip_policy_id) };
    };
    const shared = { kind: finding.kind, text: describeFinding(finding), rule: null, decided_by: null, uri: null };
    if ('rule' in finding) {
      const rule = await presentRule(finding.rule);
      const policies = [policyRef(finding.rule.policyId)];
      const by = await presentRule(finding.by);
      return rule === null
        ? undefined
        : { ...shared, rule, decided_by: by, ip_policies: policies, used_by: [], example: null };
    }
    if ('list' in finding) {
      const { policyIds, users } = finding.list;
      const example = finding.kind === 'admits_everybody' ? (exampleOf(everybody) ?? null) : null;
      return { ...shared, ip_policies: policyIds.map(policyRef), used_by: users.slice(0, mostUsers), example };
    }
    const { id, path: collection } = finding.door;
    const example = finding.kind === 'unguarded' ? (exampleOf(everybody) ?? null) : null;
    return { ...shared, ip_policies: [], used_by: [id], uri: uri(`${collection}/${id}`), example };
  }
}

/** Has no table of its own: it reads rules, restrictions and modules through their services. */
export const ruleFindingsResource: Resource = {
  errors: [policyUnknown, tooManyProofs],
  migrations: [],
  schemas: [RuleFinding, RuleFindings],
  operations: (context) => [findingsOperation(context)],
};
