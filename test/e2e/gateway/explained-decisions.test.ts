import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { freePort } from '../../support/free-port.ts';
import { isLong, rounds } from '../../support/long-form.ts';
import { someOf } from '../../support/sample.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { Site } from './support/site.ts';
import { until } from './support/until.ts';

/** Requests in all, and changes of the configuration between them. */
const [requests, changes] = [rounds(150, 10_000), rounds(25, 600)];
const seedOfRun = process.env['TEST_SEED'];

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
const change = fc.oneof(
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
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
const request = fc.record({
  source: fc.integer({ min: 1, max: 8 }),
  path: fc.constantFrom('/', '/a', '/a/b/c', '/c?q=1', '/%61/x', '/a//b', '/x;y'),
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  isTcp: fc.nat({ max: 9 }).map((each) => each === 0),
});

const modulesOfRoutes = [
  'ip_restriction',
  'redirect',
  'traffic_policy',
  'basic_auth',
  'user_agent_filter',
  'rate_limit',
];

/** Makes random changes through the API. */
class Changing {
  readonly site: Site;
  policies: string[] = [];

  constructor(site: Site) {
    this.site = site;
  }

  async make(wanted: Change): Promise<void> {
    const { gatehouse } = this.site;
    if (wanted.kind === 'rules')
      await this.done(
        gatehouse.put(
          `/ip_policies/${this.policy(wanted.at)}/rules`,
          wanted.rules.map(([cidr, sign]) => `${sign}${cidr}`),
        ),
      );
    else if (wanted.kind === 'add rule')
      await gatehouse.post('/ip_policy_rules', {
        ip_policy_id: this.policy(wanted.at),
        cidr: wanted.network,
        action: 'allow',
      });
    else if (wanted.kind === 'remove rule') await this.remove('ip_policy_rules', wanted.at, '/ip_policy_rules');
    else if (wanted.kind === 'restrict') {
      const ids = [...new Set(wanted.policies.map((each) => this.policy(each)))];
      await this.done(
        gatehouse.post('/ip_restrictions', { type: 'endpoints', enforced: wanted.enforced, ip_policy_ids: ids }),
      );
    } else if (wanted.kind === 'switch') {
      const one = await this.pick('/ip_restrictions', 'ip_restrictions', wanted.at);
      if (one !== undefined)
        await this.done(gatehouse.patch(`/ip_restrictions/${one.id}`, { enforced: wanted.enforced }));
    } else if (wanted.kind === 'lift') await this.remove('ip_restrictions', wanted.at, '/ip_restrictions');
    else if (wanted.kind === 'route') {
      const backend = { backend_id: this.site.backendId };
      await gatehouse.post(this.routesPath, { match_type: 'path_prefix', match: wanted.match, backend });
    } else if (wanted.kind === 'no route') {
      const route = await this.route(wanted.at);
      if (route.match !== '/') await this.done(gatehouse.delete(`${this.routesPath}/${route.id}`));
    } else await this.changeModule(wanted);
  }

  private async changeModule(wanted: Extract<Change, { kind: 'module' | 'no module' }>): Promise<void> {
    const { gatehouse } = this.site;
    const path = `${this.routesPath}/${(await this.route(wanted.at)).id}`;
    if (wanted.kind === 'no module') {
      for (const module of modulesOfRoutes) await gatehouse.delete(`${path}/${module}`);
      return;
    }
    await this.done(gatehouse.put(`${path}/${wanted.to.module}`, this.settings(wanted)));
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

  private async route(place: number): Promise<{ id: string; match: string }> {
    const { body } = await this.site.gatehouse.get(`/edges/https/${this.site.edgeId}`);
    return body.routes[place % body.routes.length];
  }

  private async pick(path: string, key: string, place: number) {
    const all = (await this.site.gatehouse.get(`${path}?limit=100`)).body[key];
    return all.length === 0 ? undefined : all[place % all.length];
  }

  private async remove(key: string, place: number, path: string): Promise<void> {
    const one = await this.pick(path, key, place);
    if (one !== undefined) await this.done(this.site.gatehouse.delete(`${path}/${one.id}`));
  }

  private async done(answer: Promise<{ status: number; text: string }>): Promise<void> {
    const { status, text } = await answer;
    assert.ok(status < 300, text);
  }
}

onDatabasesInTurn('explained decisions', (newDatabase) => {
  for (const workers of isLong ? ['off', '2'] : someOf(['off', '2'], 1, 'workers of explained decisions')) {
    test(`past requests have the verdict of the configuration of their moment, with workers: ${workers}`, async () => {
      const settings = { workers, httpsListen: `[::]:${await freePort()}`, decisions: scratchFolder() };
      await using site = await Site.start(settings, await newDatabase());
      const { gatehouse } = site;
      const changing = new Changing(site);
      for (const cidr of ['127.0.0.0/8', '127.0.0.0/29', '127.0.0.4/30', '!127.0.0.5/32'])
        changing.policies.push(await site.policy(cidr));
      const seed = seedOfRun === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedOfRun);
      const wanted = fc.sample(change, { numRuns: changes, seed });
      const asked = fc.sample(request, { numRuns: requests, seed });
      const perChange = Math.ceil(requests / changes);
      const why = (text: string) => `${text} (TEST_SEED=${seed})`;
      for (const [place, each] of wanted.entries()) {
        await changing.make(each);
        for (const { source, path, method, isTcp } of asked.slice(place * perChange, (place + 1) * perChange)) {
          const from = `127.0.0.${source}`;
          if (isTcp) await site.askTcp({ from }).catch(() => {});
          else await site.askHttps({ from, path, method });
        }
      }
      const rows: Record<string, never>[] = [];
      await until(async () => {
        rows.length = 0;
        for (let uri = '/decisions?limit=100'; ;) {
          const { body } = await gatehouse.get(uri);
          rows.push(...body.decisions);
          if (body.next_page_uri === null) break;
          const next = new URL(body.next_page_uri);
          uri = `${next.pathname}${next.search}`;
        }
        return rows.length >= requests;
      }, 'every decision is kept');
      assert.equal(rows.length, requests);
      const seen = new Map<string, number>();
      for (const { id } of rows) {
        const { status, body, text } = await gatehouse.get(`/decisions/${id}/explanation`);
        assert.equal(status, 200, why(text));
        const { decision, at_the_time: then } = body;
        assert.equal(then.is_known, true, why(text));
        const isMissing = decision.verdict === 'allowed' && (decision.status === 404 || decision.status === 400);
        const expected = decision.verdict === 'refused' ? 'refused' : isMissing ? 'not_served' : 'allowed';
        seen.set(then.verdict, (seen.get(then.verdict) ?? 0) + 1);
        if (then.verdict === 'depends') {
          const by = then.checks.find(({ effect }: { effect: string }) => effect === 'depends');
          assert.ok(['basic_auth', 'user_agent_filter', 'rate_limit'].includes(by.module), why(text));
          continue;
        }
        assert.equal(then.verdict, expected, why(text));
        if (decision.verdict !== 'warned') continue;
        const warns = then.checks.filter(({ effect }: { effect: string }) => effect === 'warns');
        const restrictions = warns.filter(({ kind }: { kind: string }) => kind === 'ip_restriction');
        assert.deepEqual(
          (decision.restrictions ?? []).toSorted(),
          restrictions.map((each: { id: string }) => each.id).toSorted(),
          why(text),
        );
        assert.ok(warns.length > 0, why(text));
      }
      for (const verdict of ['allowed', 'refused'])
        assert.ok((seen.get(verdict) ?? 0) > requests / 50, why(JSON.stringify([...seen])));
    });
  }
});
