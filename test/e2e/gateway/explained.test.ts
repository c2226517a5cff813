import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import fc from 'fast-check';

import { rounds } from '../../support/long-form.ts';
import { Site } from './support/site.ts';

/** A site whose edges ask for all kinds of things, and what is told of it beside what it does. */
let site: Site;
let office: string;
let nobody: string;
before(async () => {
  site = await Site.start({ drainSeconds: '0', passwordFailures: 'off' });
  office = await site.policy('127.0.0.2/31', '!127.0.0.3/32', '::1/128');
  nobody = await site.policy('10.0.0.0/8');
});
after(() => site[Symbol.asyncDispose]());

const sources = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '::1'] as const;

/** Codes of the refusals of those who show nothing but their address. */
const codes: Readonly<Record<string, number>> = {
  basic_auth: 20_151,
  jwt_validation: 20_324,
  oauth: 20_309,
  oidc: 20_309,
  webhook_verification: 3204,
};

const rule = (actions: readonly object[], expressions: readonly string[] = []) => ({ expressions, actions });
const refusing = [{ type: 'deny', config: { status_code: 451 } }];
/** Policies, some of which go by what nobody has described. */
const policies = {
  addresses: {
    on_http_request: [rule([{ type: 'restrict-ips', config: { enforce: true, allow: ['127.0.0.2/31'] } }])],
  },
  post: { on_http_request: [rule(refusing, ["req.method == 'POST'"])] },
  path: { on_http_request: [rule(refusing, ["req.url.path.contains('page')"])] },
  agent: { on_http_request: [rule(refusing, ["req.user_agent.startsWith('good')"])] },
  page: { on_http_request: [rule([{ type: 'custom-response', config: { status_code: 200, body: 'closed' } }])] },
} as const;

const network = fc.constantFrom('any', 'or_login', 'and_login');
const option = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined, freq: 2 });
const routes = fc.record({
  ip_restriction: option(fc.record({ isEnabled: fc.boolean(), isOffice: fc.boolean() })),
  basic_auth: option(fc.constant({})),
  user_agent_filter: option(fc.constantFrom(['evil'], ['^$'])),
  jwt_validation: option(fc.constant({})),
  oauth: option(network),
  oidc: option(network),
  webhook_verification: option(fc.constant({})),
  rate_limit: option(fc.boolean()),
  redirect: fc.boolean(),
  traffic_policy: option(fc.constantFrom(...(Object.keys(policies) as (keyof typeof policies)[]))),
  restriction: option(fc.record({ enforced: fc.boolean(), isOffice: fc.boolean() })),
});
/** Headers that a request is described by, and sent with; without them nobody says which it has. */
const requests = option(
  fc.record({
    agent: fc.constantFrom('', 'evil/1.0', 'good/1.0'),
    password: option(fc.constantFrom('long enough', 'wrong')),
  }),
);
type Described = typeof requests extends fc.Arbitrary<infer T> ? T : never;

function headersOf(described: Described): Readonly<Record<string, string>> | undefined {
  if (described === undefined) return undefined;
  const { agent, password } = described;
  const credentials = Buffer.from(`ada:${password}`).toString('base64');
  return { 'user-agent': agent, ...(password === undefined ? {} : { authorization: `Basic ${credentials}` }) };
}

type Case = typeof routes extends fc.Arbitrary<infer T> ? T : never;

function modulesOf(given: Case): Readonly<Record<string, object>> {
  const policy = (isOffice: boolean) => [isOffice ? office : nobody];
  const login = (of: string | undefined) => ({
    network: of,
    ...(of === 'any' ? {} : { ip_policy_ids: [office] }),
  });
  const client = { client_id: 'c', client_secret: 's' };
  const all: Readonly<Record<string, object | undefined>> = {
    ip_restriction: given.ip_restriction && {
      enabled: given.ip_restriction.isEnabled,
      ip_policy_ids: policy(given.ip_restriction.isOffice),
    },
    basic_auth: given.basic_auth && { credentials: [{ username: 'ada', password: 'long enough' }] },
    user_agent_filter: given.user_agent_filter && { deny: given.user_agent_filter },
    jwt_validation: given.jwt_validation && { issuer: 'https://id.example.com', audiences: ['a'] },
    oauth: given.oauth && { ...login(given.oauth), provider: { github: client } },
    oidc: given.oidc && { ...login(given.oidc), issuer: 'https://id.example.com', ...client, groups: ['ops'] },
    webhook_verification: given.webhook_verification && { provider: 'github', secret: 's' },
    rate_limit:
      given.rate_limit === undefined ? undefined : { limit: 1e6, window_seconds: 60, enforced: given.rate_limit },
    redirect: given.redirect ? { to: '/elsewhere' } : undefined,
    traffic_policy: given.traffic_policy && { value: JSON.stringify(policies[given.traffic_policy]) },
  };
  return Object.fromEntries(Object.entries(all).flatMap(([name, of]) => (of === undefined ? [] : [[name, of]])));
}

let number = 0;

test('POST /ip_check tells what traffic meets first, whatever the modules are', async () => {
  await fc.assert(
    fc.asyncProperty(routes, requests, async (given, described) => {
      const match = `/case-${(number += 1)}`;
      const modules = modulesOf(given);
      const { id } = await site.gatehouse.create(`/edges/https/${site.edgeId}/routes`, {
        match_type: 'path_prefix',
        match,
        backend: { backend_id: site.backendId },
        ...modules,
      });
      const { restriction } = given;
      const restricted =
        restriction && (await site.restrict(restriction.enforced, restriction.isOffice ? office : nobody));
      for (const ip of sources) {
        const headers = headersOf(described);
        const visitor = { ip, ...(headers && { headers }) };
        const { body: told } = await site.gatehouse.post('/ip_check', { ...visitor, route_id: id });
        const { body: byPath } = await site.gatehouse.post('/ip_check', {
          ...visitor,
          edge_id: site.edgeId,
          path: `${match}/page?x=1`,
        });
        assert.deepEqual([byPath.routes.length, byPath.routes[0].id], [1, id]);
        assert.equal(byPath.explanation, told.explanation);
        const asked = told.further_checks.filter(({ asks }: { asks: string | null }) => asks !== null);
        const { status, errorCode } = await site.askHttps({
          from: ip,
          path: `${match}/page?x=1`,
          ...(headers && { headers }),
        });
        const words = `${ip}, ${JSON.stringify(modules)}: ${told.explanation}`;
        const isByAgent = told.further_checks.some(({ module }: { module: string }) => module === 'user_agent_filter');
        if (headers === undefined && isByAgent && errorCode === 20_152) continue;
        const isByPolicy = told.further_checks.some(({ module }: { module: string }) => module === 'traffic_policy');
        if (told.allowed && isByPolicy && status === 451) continue;
        const first = told.checks.find(({ effect }: { effect: string }) => effect === 'refuses');
        const page = given.redirect && given.traffic_policy !== 'page' ? 302 : 200;
        if (told.allowed && asked.length === 0) assert.equal(status, page, words);
        else if (told.allowed) assert.equal(errorCode, codes[asked[0].module], words);
        else if (first.kind === 'ip_restriction') assert.equal(errorCode, 3205, words);
        else if (first.module === 'user_agent_filter') assert.equal(errorCode, 20_152, words);
        else if (first.module === 'traffic_policy') assert.ok(status !== 200 && status !== 302, `${status}: ${words}`);
        // Whatever stands before the module that refuses may ask first.
        else
          assert.ok([3203, ...asked.map(({ module }: { module: string }) => codes[module])].includes(errorCode), words);
        assert.equal(told.allowed || [401, 403, 451].includes(status), true, words);
      }
      if (restricted !== undefined) await site.gatehouse.delete(`/ip_restrictions/${restricted.id}`);
      await site.gatehouse.delete(`/edges/https/${site.edgeId}/routes/${id}`);
    }),
    { numRuns: rounds(50, 1000), seed: 43 },
  );
});
