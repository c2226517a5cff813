import type { Static } from 'typebox';

import type { Call } from '../../api/call.ts';
import { wrongIdKindOfSeveral } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import type { DescribedVisitor } from '../../modules/explain.ts';
import type { VisitorIdentity } from '../../modules/sign-in.ts';
import { edgeNotFound, routeNotFound } from '../edges/errors.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import type { MatchingRule } from '../ip-policy-rules/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { consultedOf } from './consulted.ts';
import type { Consulted } from './consulted.ts';
import { notAnIpAddress } from './errors.ts';
import * as errors from './errors.ts';
import { DescribedPerson, IpCheckRequest, IpCheckVerdict } from './schema.ts';
import { verdictOf, verdictOfEdge } from './verdict.ts';
import type { Verdict } from './verdict.ts';

function checkOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    onlyReads: true,
    method: 'POST',
    path: '/ip_check',
    operationId: 'IpCheck',
    summary: 'Explain what happens to an address',
    description:
      'Tries an address against the IP restrictions of a type, or against everything that guards an edge or route: what was consulted, which rule decided, what else a visitor must show, and what enforcing every warning would change. ' +
      'Nothing is changed or counted.',
    tag: 'IP check',
    body: IpCheckRequest,
    status: 200,
    response: IpCheckVerdict,
    errors: [wrongIdKindOfSeveral, edgeNotFound, routeNotFound, ...Object.values(errors)],
    handle: async (call) => {
      const source = parseIp(call.body.ip);
      if (source === undefined) throw new UserError(notAnIpAddress, { ip: quote(call.body.ip) });
      const consulted = await consultedOf(context, call.caller.accountId, call.body);
      const { restrictions, door, routes: found } = consulted;
      const named = [
        ...restrictions.map(({ ip_policy_ids }) => ip_policy_ids),
        ...[...(found ?? []), door].map((each) => each?.policyIds ?? []),
      ];
      const matching = await context.services
        .get(ipPolicyRuleSearch)
        .matching(context.store.queries, [...new Set(named.flat())], source);
      const rules = Map.groupBy(matching, ({ ip_policy_id }) => ip_policy_id);
      const visitor = { source, ...describedBy(call.body, consulted) };
      const whole = verdictOf(consulted, door, visitor, rules);
      const routes =
        found &&
        (await mapInTurns(found, (route) => ({ ...route, verdict: verdictOf(consulted, route, visitor, rules) })));
      return {
        ip: formatIp(source),
        ...present(routes === undefined ? whole : verdictOfEdge(whole, routes, consulted, source), context, call),
        routes:
          routes?.map(({ id, match_type, match, verdict }) => ({
            id,
            match_type,
            match,
            ...present({ ...verdict, checks: verdict.checks.slice(restrictions.length) }, context, call),
          })) ?? null,
      };
    },
  });
}

/** What a question says of the visitor beside the address. */
function describedBy(
  { visitor, method, headers, certificate }: Static<typeof IpCheckRequest>,
  { authorityIds }: Pick<Consulted, 'authorityIds'>,
): Omit<DescribedVisitor, 'source'> {
  const isKnown = authorityIds.includes(certificate?.authority_id ?? '');
  return {
    person: personOf(visitor),
    method,
    headers: headers && Object.entries(headers).flat(),
    certificate: certificate && {
      subject: certificate.authority_id,
      fault: isKnown ? undefined : 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    },
  };
}

/** Whoever is described is taken at their word. */
function personOf(visitor: Static<typeof DescribedPerson> | undefined): VisitorIdentity | undefined {
  if (visitor === undefined) return undefined;
  const { email, groups = [], claims = {} } = visitor;
  const known = Object.entries(claims).map(([name, values]) => [name, { values, isWhole: true }]);
  return { subject: '', email, emailVerified: true, name: undefined, groups, claims: Object.fromEntries(known) };
}

function present(
  { checks, further, isAllowed, isAllowedIfAllEnforced, explanation }: Verdict,
  { referables }: ResourceContext,
  { uri }: Call,
) {
  const policyRef = (id: string) => ({ id, uri: uri(referables.pathOf('ip_policy', id)) });
  const presentRule = ({ id, cidr, action, ip_policy_id }: MatchingRule) => ({
    id,
    uri: uri(`/ip_policy_rules/${id}`),
    cidr,
    action,
    ip_policy: policyRef(ip_policy_id),
  });
  return {
    allowed: isAllowed,
    allowed_if_all_enforced: isAllowedIfAllEnforced,
    explanation,
    further_checks: further.map(({ module, by, asks = null }) => ({ module, by, asks })),
    checks: checks.map(({ kind, id, module, policyIds, effect, rule, reason }) => ({
      kind,
      id,
      module,
      effect,
      ip_policies: policyIds.map(policyRef),
      rule: rule === undefined ? null : presentRule(rule),
      reason,
    })),
  };
}

/** Has no table of its own: it reads restrictions, rules and modules through their services. */
export const ipCheckResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [IpCheckRequest, IpCheckVerdict],
  operations: (context) => [checkOperation(context)],
};
