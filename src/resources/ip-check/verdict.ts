import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { someNames } from '../../lib/some-names.ts';
import { explain } from '../../modules/explain.ts';
import type { DescribedVisitor, ToldStep } from '../../modules/explain.ts';
import type { NameOf } from '../../modules/step.ts';
import type { MatchingRule } from '../ip-policy-rules/service.ts';
import { because, judgeBy, whyRefused } from '../visit-reasons.ts';
import type { RulesByPolicy } from '../visit-reasons.ts';
import { mostRoutes } from './consulted.ts';
import type { Consulted, Door, Restriction } from './consulted.ts';

/** A restriction or module that has decided by the address, or by who it is. */
export interface Check {
  readonly kind: 'ip_restriction' | 'module';
  readonly id: string;
  /** Name of the module; null for a restriction. */
  readonly module: string | null;
  readonly policyIds: readonly string[];
  readonly effect: 'allows' | 'refuses' | 'warns' | 'off';
  readonly rule: MatchingRule | undefined;
  readonly reason: string;
}

/** Something else that decides. */
export interface FurtherCheck {
  readonly module: string;
  readonly by: string;
  /** What a visitor needs, in words; undefined: nothing that could be shown. */
  readonly asks: string | undefined;
}

/** What becomes of a visitor who wants to pass several checks. */
export interface Verdict {
  readonly checks: readonly Check[];
  /** Checks that the visitor is not spared. */
  readonly further: readonly FurtherCheck[];
  readonly isAllowed: boolean;
  readonly isAllowedIfAllEnforced: boolean;
  readonly explanation: string;
}

/** Runs what stands before a door for a visitor. */
export function verdictOf(
  { restrictions, nameOf }: Pick<Consulted, 'restrictions' | 'nameOf'>,
  door: Door | undefined,
  visitor: DescribedVisitor,
  rules: RulesByPolicy,
): Verdict {
  const { source } = visitor;
  const told = explain(door?.modules ?? [], visitor, {
    allows: (policyIds) => judgeBy(policyIds, rules).allowed,
    denies: (policyIds) => judgeBy(policyIds, rules).rule?.action === 'deny',
  });
  const checks = [
    ...restrictions.map((restriction) => checkOf(restriction, source, rules)),
    ...told.flatMap((step) => checksOf(door?.id ?? '', step, source, rules, nameOf)),
  ];
  const refusal = checks.find(({ effect }) => effect === 'refuses');
  const warning = checks.find(({ effect }) => effect === 'warns');
  const further = told.flatMap(({ module, word, asks }) =>
    asks === undefined || word === 'passes' ? [] : [{ module, by: asks.by, asks: asks.needs?.(nameOf) }],
  );
  return {
    checks,
    further,
    isAllowed: refusal === undefined,
    isAllowedIfAllEnforced: refusal === undefined && warning === undefined,
    explanation:
      describe(formatIp(source), checks, further, refusal, warning) +
      (refusal === undefined ? describeFurther(told, further) : ''),
  };
}

/** The verdict on a whole edge, some routes of which may let in whom others refuse. */
export function verdictOfEdge(
  whole: Verdict,
  routes: readonly { readonly match: string; readonly verdict: Verdict }[],
  { isCut }: Pick<Consulted, 'isCut'>,
  source: IpAddress,
): Verdict {
  const verdicts = routes.map(({ verdict }) => verdict);
  const [first = whole] = verdicts;
  const isSame = verdicts.every(({ explanation }) => explanation === first.explanation);
  const further = verdicts.flatMap((each) => (each.isAllowed ? each.further : []));
  const cut = isCut ? ` Only ${mostRoutes} of its routes were looked at: give route_id for another.` : '';
  return {
    checks: whole.checks,
    further: [...new Map(further.map((each) => [JSON.stringify([each.module, each.asks]), each])).values()],
    isAllowed: routes.length === 0 ? whole.isAllowed : verdicts.some(({ isAllowed }) => isAllowed),
    isAllowedIfAllEnforced:
      routes.length === 0
        ? whole.isAllowedIfAllEnforced
        : verdicts.some(({ isAllowedIfAllEnforced }) => isAllowedIfAllEnforced),
    explanation: (isSame ? first.explanation : explainRoutes(formatIp(source), routes)) + cut,
  };
}

function explainRoutes(ip: string, routes: readonly { readonly match: string; readonly verdict: Verdict }[]): string {
  const { refused, asked, open } = Object.groupBy(routes, ({ verdict: { isAllowed, further } }) =>
    !isAllowed ? 'refused' : further.some(({ asks }) => asks !== undefined) ? 'asked' : 'open',
  );
  const at = (words: string, some: typeof open): string[] =>
    some === undefined
      ? []
      : [
          `${words} ${someNames(
            some.map(({ match }) => match),
            'and',
          )}`,
        ];
  const parts = [
    ...at('is let through at', open),
    ...at('has to show more than its address at', asked),
    ...at('is refused at', refused),
  ];
  return `${ip} ${someNames(parts, 'and')}.`;
}

function checkOf(
  { id, enforced, ip_policy_ids: policyIds }: Restriction,
  source: IpAddress,
  rules: RulesByPolicy,
): Check {
  const { allowed, rule } = judgeBy(policyIds, rules);
  const effect = allowed ? 'allows' : enforced ? 'refuses' : 'warns';
  return { kind: 'ip_restriction', id, module: null, policyIds, effect, rule, reason: because(rule, source) };
}

/** The checks of a step by the address, or, where that does not refuse, by who the visitor is. */
function checksOf(
  id: string,
  { module, isEnabled, word, asked, asks, isSpared }: ToldStep,
  source: IpAddress,
  rules: RulesByPolicy,
  nameOf: NameOf,
): readonly Check[] {
  const common = { kind: 'module', id, module } as const;
  // An address outside of the network of a login refuses nobody where the login decides.
  const ofAddress = asked.filter(({ isAllowed }) => isAllowed || word === 'refuses' || asks === undefined);
  const checks = ofAddress.map(({ policyIds, isAllowed }): Check => {
    const { rule } = judgeBy(policyIds, rules);
    const reason = because(rule, source);
    if (!isEnabled)
      return { ...common, policyIds, effect: 'off', rule, reason: `the module is disabled; otherwise: ${reason}` };
    return { ...common, policyIds, effect: isAllowed ? 'allows' : 'refuses', rule, reason };
  });
  const byVisitor = (effect: Check['effect'], reason: string): readonly Check[] => [
    ...checks,
    { ...common, policyIds: [], effect, rule: undefined, reason },
  ];
  if (word === 'unloadable') return byVisitor('refuses', 'it cannot be loaded, and nothing is served until it can');
  if (word === 'passes' && asks !== undefined && !isSpared)
    return byVisitor('allows', `it goes by ${asks.by}, and that of this visitor is enough`);
  if (word !== 'refuses' || asked.some(({ isAllowed }) => !isAllowed)) return checks;
  return byVisitor('refuses', whyRefused(asks, nameOf));
}

function describe(
  ip: string,
  checks: readonly Check[],
  further: readonly FurtherCheck[],
  refusal: Check | undefined,
  warning: Check | undefined,
): string {
  const nameOf = ({ kind, id }: Check) => (kind === 'module' ? `the module of ${id}` : id);
  if (refusal !== undefined) return `${ip} is refused by ${nameOf(refusal)}: ${refusal.reason}.`;
  if (warning !== undefined) {
    return `${ip} is let through, but ${nameOf(warning)} would refuse it if it were enforced: ${warning.reason}.`;
  }
  if (checks.some(({ effect, policyIds }) => effect === 'allows' && policyIds.length === 0))
    return `${ip} is let through, and this visitor has what it takes.`;
  if (checks.length > 0) return `${ip} is let through by every check of its address.`;
  return further.some(({ asks }) => asks !== undefined)
    ? `${ip} is not refused for its address.`
    : `${ip} is let through: nothing restricts it.`;
}

function describeFurther(told: readonly ToldStep[], further: readonly FurtherCheck[]): string {
  const spared = told.filter(({ isSpared }) => isSpared);
  const from = told.some(({ word, asked }) => word === 'depends' && asked.some(({ isAllowed }) => !isAllowed))
    ? ', because the address is not in the trusted network'
    : '';
  const asks = further.flatMap(({ module, asks: each }) => (each === undefined ? [] : [`${each} (${module})`]));
  const others = further.flatMap(({ module, by, asks: each }) => (each === undefined ? [`${by} (${module})`] : []));
  return [
    ...spared.map(({ module }) => ` It is in the trusted network, from which no login is needed (${module}).`),
    asks.length === 0 ? '' : ` Then a visitor ${asks.join(' and ')}${from}.`,
    others.length === 0 ? '' : ` It also depends on ${others.join(' and ')}.`,
  ].join('');
}
