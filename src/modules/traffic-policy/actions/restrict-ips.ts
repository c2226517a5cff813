import { refusedByModule, unloadable } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import { string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { formatIp, parseIp } from '../../../lib/ip/address.ts';
import type { IpAddress } from '../../../lib/ip/address.ts';
import { formatCidr, networkOf, parseCidr } from '../../../lib/ip/cidr.ts';
import type { Cidr } from '../../../lib/ip/cidr.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidCidrInPolicy, invalidConfig } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';
import { errorField, errorValue } from './failure-result.ts';

const mostRanges = 1000;
const mostPolicies = 100;

interface Ranges {
  readonly fixed: readonly Cidr[];
  readonly templates: readonly Template[];
}

interface Verdict {
  readonly isAllowed: boolean;
  /** Empty where none matched. */
  readonly matched: string;
}

/** Lets only some addresses in: some range or IP policy must allow one, and none deny it. */
export const restrictIps: Action = {
  type: 'restrict-ips',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  guards: true,
  result: { name: 'restrict_ips', fields: { action: string, matched_cidr: string, error: errorField } },
  build(config) {
    const isEnforced = config.boolean('enforce') ?? true;
    const [allow, deny] = [readRanges(config, 'allow'), readRanges(config, 'deny')];
    const policyIds = config.texts('ip_policies', mostPolicies) ?? [];
    if ([allow, deny].every(({ fixed, templates }) => fixed.length + templates.length === 0) && policyIds.length === 0)
      throw config.fault(invalidConfig, 'allow', 'there is no range and no IP policy, so that nobody could come in');
    const isFixed = allow.templates.length + deny.templates.length === 0;
    const judge = (visit: PolicyVisit): Verdict => {
      const { access } = visit.engine.services;
      const { source } = visit.engine;
      const denied = find(deny, source, visit);
      const allowed = find(allow, source, visit);
      const admits = allowed === undefined ? access.allows(policyIds, source) : !access.denies(policyIds, source);
      return { isAllowed: denied === undefined && admits, matched: denied ?? allowed ?? '' };
    };
    return {
      ends: false,
      guards: isEnforced,
      run(visit) {
        const { isAllowed, matched } = judge(visit);
        const refusal = isAllowed ? undefined : refusalOf(visit, policyIds);
        visit.setResult('restrict_ips', () =>
          CelMap.of({
            action: isAllowed ? 'allow' : 'deny',
            matched_cidr: matched,
            ...(refusal !== undefined && { error: errorValue(refusal) }),
          }),
        );
        if (refusal === undefined) return undefined;
        if (!isEnforced) return visit.engine.warn('restrict-ips');
        return visit.phase === 'on_tcp_connect' ? { kind: 'close', refusal } : refusal;
      },
      ...(isEnforced && { holds: (visit: PolicyVisit) => (judge(visit).isAllowed ? Infinity : 0) }),
      facts: {
        ipPolicyIds: policyIds,
        ...(isFixed && { ranges: { allow: allow.fixed, deny: deny.fixed } }),
      },
    };
  },
};

function refusalOf({ engine }: PolicyVisit, policyIds: readonly string[]): UserError {
  const { source, services, hostname: host } = engine;
  return services.access.isUnloadable(policyIds)
    ? new UserError(unloadable, { host, what: 'an IP rule' })
    : new UserError(refusedByModule, { address: formatIp(source) });
}

function readRanges(config: ConfigReader, field: string): Ranges {
  const all = config.templates(field, mostRanges) ?? [];
  const fixed = all.flatMap(({ constant }, at) => {
    if (constant === undefined) return [];
    const read = readRange(constant);
    if (typeof read !== 'string') return [read];
    throw new UserError(invalidCidrInPolicy, {
      cidr: JSON.stringify(constant),
      path: `${config.at(field)}[${at}]`,
      reason: read,
    });
  });
  return { fixed, templates: all.filter(({ constant }) => constant === undefined) };
}

/** A range, or why it is none. An address alone is the range of itself. */
function readRange(text: string): Cidr | string {
  const address = text.includes('/') ? undefined : parseIp(text);
  if (address !== undefined) return networkOf(address, address.family === 4 ? 32 : 128);
  const parsed = parseCidr(text);
  return parsed.ok ? parsed.cidr : parsed.reason;
}

/** The first range that has the address. */
function find({ fixed, templates }: Ranges, source: IpAddress, visit: PolicyVisit): string | undefined {
  visit.spend(fixed.length / 4);
  const found = fixed.find((range) => has(range, source));
  if (found !== undefined) return formatCidr(found);
  for (const template of templates) {
    const text = template.text(visit);
    visit.spend(20);
    const range = readRange(text);
    if (typeof range === 'string') throw new EvaluationFault('a value that is filled in is no range of addresses');
    if (has(range, source)) return formatCidr(range);
  }
  return undefined;
}

function has(range: Cidr, source: IpAddress): boolean {
  if (range.family !== source.family) return false;
  const { word0, word1, word2, word3 } = networkOf(source, range.prefix);
  return word0 === range.word0 && word1 === range.word1 && word2 === range.word2 && word3 === range.word3;
}
