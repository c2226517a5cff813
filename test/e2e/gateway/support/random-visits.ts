import assert from 'node:assert/strict';

import fc from 'fast-check';

import type { Site } from './site.ts';
import { until } from './until.ts';

/** Networks of sources on the loopback, which overlap. */
const network = fc.constantFrom(
  '127.0.0.0/8',
  '127.0.0.0/29',
  '127.0.0.4/30',
  '127.0.0.1/32',
  '127.0.0.2/32',
  '127.0.0.5/32',
  '127.0.0.6/31',
  '10.0.0.0/8',
  '::/0',
);
const rules = fc.uniqueArray(fc.tuple(network, fc.constantFrom('', '', '', '!')), {
  selector: ([cidr]) => cidr,
  maxLength: 5,
});
const at = fc.nat({ max: 1_000 });
const some = fc.uniqueArray(at, { minLength: 1, maxLength: 2 });
/** Modules that decide by what is kept. */
const known = fc.oneof(
  { weight: 4, arbitrary: fc.record({ module: fc.constant('ip_restriction'), policies: some }) },
  { weight: 1, arbitrary: fc.record({ module: fc.constant('redirect') }) },
  { weight: 2, arbitrary: fc.record({ module: fc.constant('traffic_policy'), policies: some, enforce: fc.boolean() }) },
);
/** Modules that go by more. */
const unknown = fc.record({ module: fc.constantFrom('basic_auth', 'user_agent_filter', 'rate_limit') });
/** A change of what decides about visitors. */
export const randomChange = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('rules' as const), at, rules }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('add rule' as const), at, network }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove rule' as const), at }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('module' as const), at, to: known, enabled: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('module' as const), at, to: unknown, enabled: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('no module' as const), at }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('restrict' as const), policies: some, enforced: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('switch' as const), at, enforced: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('lift' as const), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('route' as const), at, match: fc.constantFrom('/a', '/a/b', '/c') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('no route' as const), at }) },
);
type Change = typeof randomChange extends fc.Arbitrary<infer Value> ? Value : never;
export const randomRequest = fc.record({
  source: fc.integer({ min: 1, max: 8 }),
  path: fc.constantFrom('/', '/a', '/a/b/c', '/c?q=1', '/%61/x', '/a//b', '/x;y'),
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  isTcp: fc.nat({ max: 9 }).map((each) => each === 0),
});

export const modulesOfRoutes = [
  'ip_restriction',
  'redirect',
  'traffic_policy',
  'basic_auth',
  'user_agent_filter',
  'rate_limit',
];

export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Makes random changes through the API. */
export class Changing {
  readonly site: Site;
  policies: string[] = [];

  constructor(site: Site) {
    this.site = site;
  }

  /** Undefined: there is nothing to change. */
  async writeOf(wanted: Change): Promise<Write | undefined> {
    switch (wanted.kind) {
      case 'rules': {
        const body = wanted.rules.map(([cidr, sign]) => `${sign}${cidr}`);
        return { method: 'PUT', path: `/ip_policies/${this.policy(wanted.at)}/rules`, body };
      }
      case 'add rule': {
        const body = { ip_policy_id: this.policy(wanted.at), cidr: wanted.network, action: 'allow' };
        return { method: 'POST', path: '/ip_policy_rules', body };
      }
      case 'remove rule':
        return this.removal('ip_policy_rules', wanted.at);
      case 'restrict': {
        const ids = [...new Set(wanted.policies.map((each) => this.policy(each)))];
        const body = { type: 'endpoints', enforced: wanted.enforced, ip_policy_ids: ids };
        return { method: 'POST', path: '/ip_restrictions', body };
      }
      case 'switch': {
        const one = await this.pick('ip_restrictions', wanted.at);
        return one && { method: 'PATCH', path: `/ip_restrictions/${one.id}`, body: { enforced: wanted.enforced } };
      }
      case 'lift':
        return this.removal('ip_restrictions', wanted.at);
      case 'route': {
        const backend = { backend_id: this.site.backendId };
        return {
          method: 'POST',
          path: this.routesPath,
          body: { match_type: 'path_prefix', match: wanted.match, backend },
        };
      }
      case 'no route': {
        const route = await this.route(wanted.at);
        return route.match === '/' ? undefined : { method: 'DELETE', path: `${this.routesPath}/${route.id}` };
      }
      case 'no module': {
        const route = await this.route(wanted.at);
        const names = modulesOfRoutes.filter((name) => route[name] !== undefined && route[name] !== null);
        const name = names[wanted.at % names.length];
        return name === undefined ? undefined : { method: 'DELETE', path: `${this.routesPath}/${route.id}/${name}` };
      }
      default: {
        const { id } = await this.route(wanted.at);
        return { method: 'PUT', path: `${this.routesPath}/${id}/${wanted.to.module}`, body: this.settings(wanted) };
      }
    }
  }

  /** True: it was made. Two rules of a policy, or two routes, cannot have one CIDR or path. */
  async make({ method, path, body }: Write): Promise<boolean> {
    const { status, text } = await this.site.gatehouse.call(method, path, body);
    assert.ok(status < 300 || status === 409 || text.includes('already'), text);
    return status < 300;
  }

  private settings({ to, enabled }: Extract<Change, { kind: 'module' }>): object {
    if ('policies' in to) {
      const ids = [...new Set(to.policies.map((each) => this.policy(each)))];
      if (to.module === 'ip_restriction') return { enabled, ip_policy_ids: ids };
      const config = { enforce: 'enforce' in to && to.enforce, ip_policies: ids };
      const rule = { actions: [{ type: 'restrict-ips', config }] };
      return { enabled, value: JSON.stringify({ on_http_request: [rule] }) };
    }
    if (to.module === 'redirect') return { enabled, to: '/elsewhere' };
    if (to.module === 'basic_auth') return { enabled, credentials: [{ username: 'u', password: 'password-of-u' }] };
    if (to.module === 'rate_limit') return { enabled, limit: 1, window_seconds: 60, by: 'source' };
    return { enabled, deny: ['curl'] };
  }

  private get routesPath(): string {
    return `/edges/https/${this.site.edgeId}/routes`;
  }

  private policy(place: number): string {
    return this.policies[place % this.policies.length] ?? '';
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- a route as the API shows it
  private async route(place: number): Promise<any> {
    const { body } = await this.site.gatehouse.get(`/edges/https/${this.site.edgeId}`);
    return body.routes[place % body.routes.length];
  }

  private async pick(key: string, place: number): Promise<{ readonly id: string } | undefined> {
    const all = (await this.site.gatehouse.get(`/${key}?limit=100`)).body[key];
    return all.length === 0 ? undefined : all[place % all.length];
  }

  private async removal(key: string, place: number): Promise<Write | undefined> {
    const one = await this.pick(key, place);
    return one && { method: 'DELETE', path: `/${key}/${one.id}` };
  }
}

/** A random visit. */
export async function visit(
  site: Site,
  { source, path, method, isTcp }: typeof randomRequest extends fc.Arbitrary<infer Value> ? Value : never,
): Promise<void> {
  const from = `127.0.0.${source}`;
  if (isTcp) await site.askTcp({ from }).catch(() => {});
  else await site.askHttps({ from, path, method });
}

/** All decisions, once there are so many. Reading many thousands may take as long as all else: they are counted first. */
export async function keptDecisions({ gatehouse }: Site, count: number): Promise<readonly { readonly id: string }[]> {
  let [counted, dropped] = [0, 0];
  const since = `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 19)}Z`;
  await until(
    async () => {
      const { body } = await gatehouse.get(`/decisions/summary?since=${since}`);
      [counted, dropped] = [body.total.requests, body.gateways[0]?.dropped];
      return counted >= count;
    },
    () => `${count} decisions are kept: ${counted} are, and ${dropped} were dropped`,
  );
  const rows: { id: string }[] = [];
  for (let uri = '/decisions?limit=100'; ;) {
    const { body } = await gatehouse.get(uri);
    rows.push(...body.decisions);
    if (body.next_page_uri === null) return rows;
    const next = new URL(body.next_page_uri);
    uri = `${next.pathname}${next.search}`;
  }
}
