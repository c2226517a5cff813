import { parseCidr } from '../lib/ip/cidr.ts';
import { RuleColumns } from '../lib/ip/rule-coverage.ts';
import { prepareModules } from '../modules/index.ts';
import type { ModuleTarget } from '../modules/module.ts';
import { guardsOfPolicy, readStoredPolicy } from '../modules/traffic-policy/service.ts';

/** All by which the modules of an edge, route or endpoint decide who comes in. */
export interface Guards {
  /** Lists of IP policies, by id or name; each of them must admit a visitor. */
  readonly lists: readonly (readonly string[])[];
  /** Rules of its own; each list must admit a visitor. */
  readonly ranges: readonly RuleColumns[];
  /** Lists whose visitors are spared a login. */
  readonly spared: readonly (readonly string[])[];
  /** IP policies that decide along with something that is not known here. */
  readonly mixed: readonly string[];
  /** Settings, as text, of what decides by something else than the address, by the name of the module. */
  readonly others: ReadonlyMap<string, string>;
  /** True: who has nothing to show is kept out, wherever they come from. */
  readonly asksEverybody: boolean;
  /** True: whether it keeps somebody out cannot be told. */
  readonly isUnknown: boolean;
}

/** Modules that nobody passes without something to show. */
const asking: ReadonlySet<string> = new Set(['mutual_tls', 'basic_auth', 'jwt_validation', 'webhook_verification']);
const logins: ReadonlySet<string> = new Set(['oauth', 'oidc']);
/** Modules that refuse by what anybody may send. */
const filtering: ReadonlySet<string> = new Set(['user_agent_filter', 'tls_termination']);
/** Modules that say nothing about who comes in. */
const neutral: ReadonlySet<string> = new Set([
  'rate_limit',
  'edge_rate_limit',
  'circuit_breaker',
  'websocket_tcp_converter',
  'redirect',
  'backend',
  'path_rewrite',
  'request_headers',
  'response_headers',
  'compression',
]);

/** Stands for the settings of a traffic policy that answers everybody: another answer lets nobody in. */
const answersEverybody = 'answers everybody';

interface Login {
  readonly network?: 'any' | 'or_login' | 'and_login';
}

/** Modules by name, with the ids or names of IP policies in the field. Those that are switched off decide nothing. */
export async function guardsOf(
  modules: Readonly<Record<string, unknown>>,
  policiesField: 'ip_policy_ids' | 'ip_policies',
  target: ModuleTarget,
): Promise<Guards> {
  const lists: (readonly string[])[] = [];
  const ranges: RuleColumns[] = [];
  const spared: (readonly string[])[] = [];
  const mixed: string[] = [];
  const others = new Map<string, string>();
  let asksEverybody = false;
  let isUnknown = false;
  const prepared = new Set([await prepareModules(modules, target)]);
  for (const [name, given] of Object.entries(modules)) {
    const settings = given as ({ readonly enabled?: boolean } & Readonly<Record<string, unknown>>) | null;
    if (settings === null || settings.enabled === false) continue;
    const named = textsIn(settings[policiesField]);
    if (name === 'ip_restriction') lists.push(named);
    else if (name === 'cidr_restriction') ranges.push(columnsOf(textsIn(settings['allow']), textsIn(settings['deny'])));
    else if (asking.has(name) || filtering.has(name)) {
      others.set(name, JSON.stringify(settings));
      asksEverybody ||= asking.has(name);
    } else if (logins.has(name)) {
      const { network = 'any' } = settings as Login;
      others.set(name, JSON.stringify(settings));
      if (network === 'or_login') spared.push(named);
      else asksEverybody = true;
      if (network === 'and_login') lists.push(named);
    } else if (name === 'traffic_policy') {
      const text = String(settings['value']);
      const decided = guardsOfPolicy(readStoredPolicy(text));
      for (const { allow, deny, policyIds } of decided.restrictions) {
        if (allow.length + deny.length === 0) lists.push(policyIds);
        else if (policyIds.length === 0) ranges.push(columnsOf(allow, deny));
      }
      mixed.push(...decided.mixedPolicyIds);
      asksEverybody ||= decided.asksEverybody;
      isUnknown ||= decided.isUnknown;
      if (decided.asksEverybody || decided.isUnknown) others.set(name, text);
      else if (decided.answersEverybody) others.set(name, answersEverybody);
    } else if (!neutral.has(name)) {
      others.set(name, JSON.stringify(settings));
      isUnknown = true;
    }
  }
  prepared.clear();
  return { lists, ranges, spared, mixed, others, asksEverybody, isUnknown };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Ranges were checked when they were stored. */
function columnsOf(allow: readonly string[], deny: readonly string[]): RuleColumns {
  const columns = new RuleColumns();
  const append = (texts: readonly string[], action: 'allow' | 'deny') => {
    for (const text of texts) {
      const parsed = parseCidr(text);
      if (parsed.ok) columns.append(parsed.cidr, action);
    }
  };
  append(allow, 'allow');
  append(deny, 'deny');
  return columns;
}
