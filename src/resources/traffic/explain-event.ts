import { hasPrefix, toTimestamp } from '../../lib/ids.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { referencedIds } from '../../modules/index.ts';
import type { Settings } from '../../modules/module.ts';
import type { LiveEvent } from '../../observe/live-traffic.ts';
import { edgeModules, httpsRouteModules } from '../edges/service.ts';
import { ipPolicyRuleSearch, judge } from '../ip-policy-rules/service.ts';
import { ipRestrictionSearch } from '../ip-restrictions/service.ts';
import type { Point } from '../../store/write/history.ts';
import type { ResourceContext } from '../resource.ts';

interface Rule {
  readonly policy_id: string;
  readonly rule_id: string;
  readonly cidr: string;
  readonly action: 'allow' | 'deny';
}

/** Rules by what they belong to and the source. */
const rememberedRules = 1_000;
/** `undefined` cannot be told from a missing entry. */
const noRule = null;

/** Adds to events what the configuration says of them: the rule that decided, and headers by name. */
export class EventExplainer {
  readonly #context: ResourceContext;
  readonly #rules = new BoundedCache<string, { readonly rule: Rule | null }>(rememberedRules);
  #point: Point | undefined;

  constructor(context: ResourceContext) {
    this.#context = context;
  }

  async explain(event: LiveEvent): Promise<object> {
    const { accountId, edgeId, routeId } = event;
    const { services, store } = this.#context;
    if (store.point !== this.#point) this.#rules.clear();
    this.#point = store.point;
    const edges =
      routeId === undefined
        ? services.all(edgeModules).find(({ prefix }) => hasPrefix(edgeId, prefix))
        : services.get(httpsRouteModules);
    const modules = (await edges?.find(accountId, routeId ?? edgeId)) ?? {};
    return {
      ...present(event, this.#context.settings.httpsPort),
      ...(await this.#ruleOf(event, modules)),
      ...headerNames(modules),
    };
  }

  async #ruleOf(event: LiveEvent, modules: Readonly<Record<string, Settings>>): Promise<{ readonly rule?: Rule }> {
    const [restrictionId] = event.restrictionIds;
    const subject = `${restrictionId ?? event.routeId ?? event.edgeId} ${event.source}`;
    let known = this.#rules.get(subject);
    if (known === undefined) {
      known = { rule: (await this.#findRule(event, restrictionId, modules)) ?? noRule };
      this.#rules.set(subject, known);
    }
    return known.rule === noRule ? {} : { rule: known.rule };
  }

  async #findRule(
    { accountId, source }: LiveEvent,
    restrictionId: string | undefined,
    modules: Readonly<Record<string, Settings>>,
  ): Promise<Rule | undefined> {
    const { services, store } = this.#context;
    const module = modules['ip_restriction'];
    const policyIds =
      restrictionId !== undefined
        ? await services.get(ipRestrictionSearch).policiesOf(accountId, restrictionId)
        : module?.enabled === true
          ? [...referencedIds({ ip_restriction: module }, 'ip_policy')]
          : [];
    const address = parseIp(source);
    if (policyIds.length === 0 || address === undefined) return undefined;
    const { rule } = judge(
      policyIds,
      await services.get(ipPolicyRuleSearch).matching(store.queries, policyIds, address),
    );
    return rule && { policy_id: rule.ip_policy_id, rule_id: rule.id, cidr: rule.cidr, action: rule.action };
  }
}

function present(event: LiveEvent, httpsPort: number) {
  const { id, kind, phase, atMs, edgeId, routeId, host, port, source, verdict, restrictionIds, module } = event;
  return {
    id,
    at: toTimestamp(atMs),
    kind,
    phase,
    edge_id: edgeId,
    route_id: routeId,
    // A port of a TCP edge is that of all its host names.
    hostport: host === undefined ? `:${port}` : `${host}:${httpsPort}`,
    client_ip: source,
    method: event.method,
    path: event.path,
    protocol: event.protocol,
    status: event.status,
    verdict,
    code: event.code,
    reason: event.reason,
    module,
    would_be_refused_by: event.wouldRefuse,
    restrictions: restrictionIds.length === 0 ? undefined : restrictionIds,
    duration_ms: rounded(event.durationMs),
    upstream: event.backendId,
    upstream_ms: rounded(event.upstreamMs),
    bytes_in: event.bytesIn,
    bytes_out: event.bytesOut,
  };
}

/** Names only: a value may be a secret. */
function headerNames(modules: Readonly<Record<string, Settings>>) {
  const request = changesOf(modules['request_headers']);
  const response = changesOf(modules['response_headers']);
  return {
    headers_added: request.added,
    headers_removed: request.removed,
    response_headers_added: response.added,
    response_headers_removed: response.removed,
  };
}

function changesOf(settings: Settings | undefined): { readonly added?: string[]; readonly removed?: unknown[] } {
  if (settings?.enabled !== true) return {};
  const { add, remove } = settings as Settings & { readonly add?: object; readonly remove?: unknown };
  return {
    ...(add === undefined ? {} : { added: Object.keys(add) }),
    ...(Array.isArray(remove) ? { removed: remove } : {}),
  };
}

function rounded(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms * 1000) / 1000;
}
