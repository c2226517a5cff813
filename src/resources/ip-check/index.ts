import type { Call } from '../../api/call.ts';
import { wrongIdKindOfSeveral } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { furtherChecks, referencedIds } from '../../modules/index.ts';
import type { FurtherCheck } from '../../modules/index.ts';
import type { RestrictionType } from '../../snapshot/contract.ts';
import { edgeNotFound, routeNotFound } from '../edges/errors.ts';
import { edgeModules, httpsRouteModules } from '../edges/service.ts';
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

/** All that stands before an edge or route. */
interface Consulted {
  readonly subjects: readonly Subject[];
  readonly further: readonly FurtherCheck[];
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
    onlyReads: true,
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
      const { subjects, further } = await subjectsOf(context, call);
      const networks = further.flatMap(({ network }) => network?.policyIds ?? []);
      const policyIds = [...new Set([...subjects.flatMap((subject) => subject.policyIds), ...networks])];
      const matching = await context.services
        .get(ipPolicyRuleSearch)
        .matching(context.store.queries, policyIds, source);
      return present(
        source,
        subjects.map((subject) => check(subject, source, matching)),
        further.map((each) => inNetwork(each, matching)),
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
): Promise<Consulted> {
  const { type, edge_id, route_id } = body;
  if ([type, edge_id, route_id].filter((each) => each !== undefined).length !== 1) throw new UserError(ipCheckTarget);
  const nothing: Consulted = { subjects: [], further: [] };
  const modules = type === undefined ? await modulesOf(services, accountId, edge_id, route_id) : nothing;
  const restrictions = await services.get(ipRestrictionSearch).ofType(store.queries, accountId, type ?? 'endpoints');
  const first = restrictions.map(({ id, enforced, ip_policy_ids }): Subject => ({
    kind: 'ip_restriction',
    id,
    isEnforced: enforced,
    policyIds: ip_policy_ids,
  }));
  return { subjects: [...first, ...modules.subjects], further: modules.further };
}

async function modulesOf(
  services: Services,
  accountId: string,
  edgeId: string | undefined,
  routeId: string | undefined,
): Promise<Consulted> {
  const id = edgeId ?? routeId ?? '';
  const kinds = edgeId === undefined ? [services.get(httpsRouteModules)] : services.all(edgeModules);
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
  const further = furtherChecks(modules);
  // A login that is asked for in one network alone refuses all others by their address.
  const subjects = further.flatMap(({ network }): readonly Subject[] =>
    network?.rule === 'and_login' ? [{ kind: 'module', id, isEnforced: true, policyIds: network.policyIds }] : [],
  );
  if (settings === undefined) return { subjects, further };
  const policyIds = [...referencedIds({ ip_restriction: settings }, 'ip_policy')];
  return { subjects: [{ kind: 'module', id, isEnforced: settings.enabled, policyIds }, ...subjects], further };
}

/** A further check, and whether the address spares its owner it. */
interface LocatedCheck extends FurtherCheck {
  readonly isSpared: boolean;
}

function inNetwork(further: FurtherCheck, matching: readonly MatchingRule[]): LocatedCheck {
  const { network } = further;
  return { ...further, isSpared: network?.rule === 'or_login' && judge(network.policyIds, matching).allowed };
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

function present(
  source: IpAddress,
  checks: readonly Check[],
  further: readonly LocatedCheck[],
  { referables }: ResourceContext,
  { uri }: Call,
): object {
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
    explanation: explain(formatIp(source), checks, refusal, warning) + explainFurther(refusal, further),
    further_checks: further.filter(({ isSpared }) => !isSpared).map(({ module, by }) => ({ module, by })),
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

function explainFurther(refusal: Check | undefined, further: readonly LocatedCheck[]): string {
  if (refusal !== undefined) return '';
  const spared = further.filter(({ isSpared }) => isSpared);
  const left = further.filter(({ isSpared }) => !isSpared);
  const from = left.some(({ network }) => network?.rule === 'or_login')
    ? ', because it is not of the trusted network'
    : '';
  return [
    ...spared.map(({ module }) => ` It is of the trusted network, from which no login is needed (${module}).`),
    left.length === 0
      ? ''
      : ` Then it depends on ${left.map(({ module, by }) => `${by} (${module})`).join(' and ')}${from}.`,
  ].join('');
}

/** Has no table of its own: it reads restrictions, rules and modules through their services. */
export const ipCheckResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [IpCheckRequest, IpCheckVerdict],
  operations: (context) => [checkOperation(context)],
};
