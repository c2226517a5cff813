import type { Call } from '../../api/call.ts';
import { wrongIdKindOfSeveral } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { referencedIds } from '../../modules/index.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import { edgeNotFound, routeNotFound } from '../edges/errors.ts';
import { httpsEdgeModules, httpsRouteModules, tcpEdgeModules } from '../edges/service.ts';
import { ipPolicyRuleSearch, judge } from '../ip-policy-rules/service.ts';
import type { MatchingRule } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import type { Services } from '../services.ts';
import { ipCheckTarget, notAnIpAddress } from './errors.ts';
import * as errors from './errors.ts';
import { IpCheckRequest, IpCheckVerdict } from './schema.ts';

/** A restriction or module that an address has to pass. */
interface Subject {
  readonly kind: 'ip_restriction' | 'module';
  readonly id: string;
  /** False: it only warns, or is switched off. */
  readonly isEnforced: boolean;
  readonly policyIds: readonly string[];
}

interface Check {
  readonly subject: Subject;
  readonly effect: 'allows' | 'refuses' | 'warns' | 'off';
  readonly rule: MatchingRule | undefined;
  readonly reason: string;
}

function checkOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'POST',
    path: '/ip_check',
    operationId: 'IpCheck',
    summary: 'Explain what happens to an address',
    description:
      'Tries an address against the IP restrictions of a type, or against all that stands before an edge or route: what ' +
      'was consulted, which rule decided, and what enforcing every warning would change. Nothing is changed or counted.',
    tag: 'IP check',
    body: IpCheckRequest,
    status: 200,
    response: IpCheckVerdict,
    errors: [wrongIdKindOfSeveral, edgeNotFound, routeNotFound, ipCheckTarget, notAnIpAddress],
    handle: async (call) => {
      const source = parseIp(call.body.ip);
      if (source === undefined) throw new UserError(notAnIpAddress, { ip: quote(call.body.ip) });
      const subjects = await subjectsOf(context, call);
      const policyIds = [...new Set(subjects.flatMap((subject) => subject.policyIds))];
      const matching = await context.services
        .get(ipPolicyRuleSearch)
        .matching(context.store.queries, policyIds, source);
      return present(
        source,
        subjects.map((subject) => check(subject, source, matching)),
        context,
        call,
      );
    },
  });
}

type CheckCall = Call<{ readonly type?: RestrictionType; readonly edge_id?: string; readonly route_id?: string }>;

async function subjectsOf(
  { store, services }: ResourceContext,
  { caller: { accountId }, body }: CheckCall,
): Promise<readonly Subject[]> {
  const { type, edge_id, route_id } = body;
  if ([type, edge_id, route_id].filter((each) => each !== undefined).length !== 1) throw new UserError(ipCheckTarget);
  const module = type === undefined ? await moduleOf(services, accountId, edge_id, route_id) : [];
  const restrictions = await services.get(ipRestrictionSearch).ofType(store.queries, accountId, type ?? 'endpoints');
  const first = restrictions.map(({ id, enforced, ip_policy_ids }): Subject => ({
    kind: 'ip_restriction',
    id,
    isEnforced: enforced,
    policyIds: ip_policy_ids,
  }));
  return [...first, ...module];
}

async function moduleOf(
  services: Services,
  accountId: string,
  edgeId: string | undefined,
  routeId: string | undefined,
): Promise<readonly Subject[]> {
  const id = edgeId ?? routeId ?? '';
  const kinds = (edgeId === undefined ? [httpsRouteModules] : [tcpEdgeModules, httpsEdgeModules]).map((key) =>
    services.get(key),
  );
  const edges = kinds.find(({ prefix }) => hasPrefix(id, prefix));
  if (edges === undefined) {
    const field = edgeId === undefined ? 'route_id' : 'edge_id';
    const prefixes = kinds.map(({ prefix }) => `${prefix}_`).join(', ');
    throw new UserError(wrongIdKindOfSeveral, { field, id: quote(id), prefixes });
  }
  const modules = await edges.find(accountId, id);
  if (modules === undefined) {
    throw edgeId === undefined
      ? new UserError(routeNotFound, { noun: 'HTTPS edge route', id: quote(id) })
      : new UserError(edgeNotFound, { noun: 'edge', id: quote(id) });
  }
  const settings = modules['ip_restriction'];
  if (settings === undefined) return [];
  const policyIds = [...referencedIds({ ip_restriction: settings }, 'ip_policy')];
  return [{ kind: 'module', id, isEnforced: settings.enabled, policyIds }];
}

function check(subject: Subject, source: IpAddress, matching: readonly MatchingRule[]): Check {
  const { allowed, rule } = judge(subject.policyIds, matching);
  const effect = effectOf(subject, allowed);
  const address = formatIp(source);
  const because =
    rule === undefined
      ? `no rule of its IP policies contains ${address}, and what no rule allows is refused`
      : `${address} lies in ${rule.cidr}, which the rule ${rule.id} ${rule.action === 'allow' ? 'allows' : 'denies'}`;
  const reason = effect === 'off' ? `the module is disabled; otherwise: ${because}` : because;
  return { subject, effect, rule, reason };
}

function effectOf({ kind, isEnforced }: Subject, allowed: boolean): Check['effect'] {
  if (kind === 'module' && !isEnforced) return 'off';
  if (allowed) return 'allows';
  return isEnforced ? 'refuses' : 'warns';
}

function present(source: IpAddress, checks: readonly Check[], { referables }: ResourceContext, { uri }: Call): object {
  const policyRef = (id: string) => ({ id, uri: uri(referables.pathOf('ip_policy', id)) });
  const presentRule = ({ id, cidr, action, ip_policy_id }: MatchingRule) => ({
    id,
    uri: uri(`/ip_policy_rules/${id}`),
    cidr,
    action,
    ip_policy: policyRef(ip_policy_id),
  });
  const refusal = checks.find(({ effect }) => effect === 'refuses');
  const warning = checks.find(({ effect }) => effect === 'warns');
  return {
    ip: formatIp(source),
    allowed: refusal === undefined,
    allowed_if_all_enforced: refusal === undefined && warning === undefined,
    explanation: explain(formatIp(source), checks, refusal, warning),
    checks: checks.map(({ subject, effect, rule, reason }) => ({
      kind: subject.kind,
      id: subject.id,
      effect,
      ip_policies: subject.policyIds.map(policyRef),
      rule: rule === undefined ? null : presentRule(rule),
      reason,
    })),
  };
}

function explain(ip: string, checks: readonly Check[], refusal: Check | undefined, warning: Check | undefined): string {
  const nameOf = ({ subject }: Check) => (subject.kind === 'module' ? `the module of ${subject.id}` : subject.id);
  if (refusal !== undefined) return `${ip} is refused by ${nameOf(refusal)}: ${refusal.reason}.`;
  if (warning !== undefined) {
    return `${ip} is let through, but ${nameOf(warning)} would refuse it if it were enforced: ${warning.reason}.`;
  }
  return checks.length === 0
    ? `${ip} is let through: nothing restricts it.`
    : `${ip} is let through by everything that was consulted.`;
}

/** Has no table of its own: it reads restrictions, rules and modules through their services. */
export const ipCheckResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [IpCheckRequest, IpCheckVerdict],
  operations: (context) => [checkOperation(context)],
};
