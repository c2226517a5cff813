import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';

onEachDatabase('ip check', (newDatabase) => {
  let gatehouse: Gatehouse;
  let office: { id: string };
  let rule: { id: string };
  before(async () => {
    gatehouse = await Gatehouse.start(await newDatabase());
    office = await gatehouse.create('/ip_policies');
    rule = await gatehouse.create('/ip_policy_rules', {
      ip_policy_id: office.id,
      cidr: '203.0.113.0/24',
      action: 'allow',
    });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '203.0.113.66/32', action: 'deny' });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '2001:db8::/32', action: 'allow' });
  });
  after(() => gatehouse[Symbol.asyncDispose]());

  test('an address that nothing restricts is let through, and it says so', async () => {
    const { status, body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'agent' });
    assert.equal(status, 200);
    assert.deepEqual([body.allowed, body.allowed_if_all_enforced, body.checks], [true, true, []]);
  });

  test('a restriction that only warns lets through, and tells what enforcing it would change', async () => {
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'dashboard', ip_policy_ids: [office.id] });
    const { body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'dashboard' });
    assert.deepEqual([body.allowed, body.allowed_if_all_enforced], [true, false]);
    assert.deepEqual([body.checks[0].id, body.checks[0].effect, body.checks[0].rule], [restriction.id, 'warns', null]);
    assert.match(body.explanation, /would refuse/);
    await gatehouse.patch(`/ip_restrictions/${restriction.id}`, { enforced: true });
    const enforced = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'dashboard' });
    assert.deepEqual([enforced.body.allowed, enforced.body.checks[0].effect], [false, 'refuses']);
  });

  test('the rule that decided is named: a deny before an allow, else the narrowest allow', async () => {
    const edge = await gatehouse.create('/edges/tcp', { ip_restriction: { ip_policy_ids: [office.id] } });
    const allowed = await gatehouse.post('/ip_check', { ip: '::ffff:203.0.113.7', edge_id: edge.id });
    assert.deepEqual(
      [allowed.body.ip, allowed.body.allowed, allowed.body.checks[0].rule.id],
      ['203.0.113.7', true, rule.id],
    );
    const denied = await gatehouse.post('/ip_check', { ip: '203.0.113.66', edge_id: edge.id });
    assert.deepEqual([denied.body.allowed, denied.body.checks[0].rule.cidr], [false, '203.0.113.66/32']);
    const ipv6 = await gatehouse.post('/ip_check', { ip: '2001:DB8::1', edge_id: edge.id });
    assert.deepEqual([ipv6.body.allowed, ipv6.body.checks[0].rule.cidr], [true, '2001:db8::/32']);
  });

  test('what a visitor must show besides is said, by route where routes differ', async () => {
    const authority = await gatehouse.create('/certificate_authorities', {
      description: 'Devices',
      ca_pem: new ClientAuthority('devices').pem,
    });
    const edge = await gatehouse.create('/edges/https', { hostports: ['asks.example.com:443'] });
    const check = async (target: object = {}) =>
      (await gatehouse.post('/ip_check', { ip: '198.51.100.1', edge_id: edge.id, ...target })).body;
    const empty = await check();
    assert.deepEqual([empty.allowed, empty.routes, empty.further_checks], [true, [], []]);

    const routes = `/edges/https/${edge.id}/routes`;
    const addRoute = (match: string, module: object) =>
      gatehouse.create(routes, { match_type: 'path_prefix', match, ...module });
    const login = {
      oidc: { issuer: 'https://id.example.com', client_id: 'g', client_secret: 's', groups: ['ops', 'on-call'] },
    };
    const admin = await addRoute('/admin', login);
    const only = await check();
    assert.deepEqual(only.further_checks, [
      { module: 'oidc', by: 'the login of a visitor', asks: 'is asked to sign in: ops or on-call' },
    ]);
    assert.equal(
      only.explanation,
      '198.51.100.1 is not refused for its address. Then a visitor is asked to sign in: ops or on-call (oidc).',
    );

    await addRoute('/public', {});
    await addRoute('/inside', { ip_restriction: { ip_policy_ids: [office.id] } });
    await addRoute('/off', { basic_auth: { enabled: false, credentials: [{ username: 'a', password: 'bbbbbbbb' }] } });
    const mixed = await check();
    assert.deepEqual(
      mixed.routes.map((route: { match: string; allowed: boolean; further_checks: { asks: string }[] }) => [
        route.match,
        route.allowed,
        route.further_checks.map(({ asks }) => asks),
      ]),
      [
        ['/off', true, []],
        ['/inside', false, []],
        ['/public', true, []],
        ['/admin', true, ['is asked to sign in: ops or on-call']],
      ],
    );
    assert.deepEqual([mixed.allowed, mixed.checks], [true, []]);
    assert.equal(mixed.routes[1].checks[0].id, mixed.routes[1].id);
    assert.equal(
      mixed.explanation,
      '198.51.100.1 is let through at /off and /public, has to show more than its address at /admin and is refused at /inside.',
    );

    await gatehouse.patch(`/edges/https/${edge.id}`, { mutual_tls: { certificate_authority_ids: [authority.id] } });
    const guarded = await check();
    assert.deepEqual(
      guarded.routes.map((route: { further_checks: { module: string }[] }) =>
        route.further_checks.map(({ module }) => module),
      ),
      [['mutual_tls'], ['mutual_tls'], ['mutual_tls'], ['mutual_tls', 'oidc']],
    );
    assert.deepEqual(
      guarded.further_checks.map(({ asks }: { asks: string }) => asks),
      ['needs a certificate of Devices', 'is asked to sign in: ops or on-call'],
    );
    const ofRoute = await check({ route_id: admin.id });
    assert.equal(ofRoute.routes, null);
    assert.match(
      ofRoute.explanation,
      /Then a visitor needs a certificate of Devices \(mutual_tls\) and is asked to sign in: ops or on-call \(oidc\)\.$/,
    );
    const other = await gatehouse.create('/edges/https', { hostports: ['other.example.com:443'] });
    const refused = await gatehouse.post('/ip_check', { ip: '::1', edge_id: other.id, route_id: admin.id });
    assert.deepEqual([refused.status, refused.body.error_code], [404, 'ERR_GATEHOUSE_7124']);
    assert.ok(refused.body.msg.includes(other.id), refused.body.msg);
  });

  test('a visitor who is described passes the logins that let them in, and is refused by others', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['described.example.com:443'] });
    const client = { client_id: 'g', client_secret: 's' };
    const inside = { network: 'or_login', ip_policy_ids: [office.id] };
    const login = { issuer: 'https://id.example.com', ...client, groups: ['ops'], email_domains: ['example.com'] };
    const add = async (match: string, modules: object) =>
      (await gatehouse.create(`/edges/https/${edge.id}/routes`, { match_type: 'path_prefix', match, ...modules })).id;
    const [plain, network, strict] = [
      await add('/', { oidc: login }),
      await add('/network', { oidc: { ...login, ...inside } }),
      await add('/strict', { oidc: { ...login, claims: { department: ['it'] } } }),
    ];
    const check = async (route_id: string, visitor?: object, ip = '198.51.100.1') => {
      const { body } = await gatehouse.post('/ip_check', { ip, route_id, ...(visitor && { visitor }) });
      return [body.allowed, body.further_checks.length, body.checks.map(({ effect }: { effect: string }) => effect)];
    };
    const ops = { groups: ['ops', 'dev'] };
    assert.deepEqual(await check(plain), [true, 1, []]);
    assert.deepEqual(await check(plain, ops), [true, 0, ['allows']]);
    assert.deepEqual(await check(plain, { email: 'ada@example.com' }), [true, 0, ['allows']]);
    assert.deepEqual(await check(plain, { email: 'ada@example.org', groups: ['dev'] }), [false, 1, ['refuses']]);
    assert.deepEqual(await check(network, { groups: [] }, '203.0.113.7'), [true, 0, ['allows']], 'it needs no login');
    assert.deepEqual(await check(network, { groups: [] }), [false, 1, ['refuses']]);
    assert.deepEqual(await check(strict, ops), [true, 1, []], 'nobody knows the claim');
    assert.deepEqual(await check(strict, { ...ops, claims: { department: ['it'] } }), [true, 0, ['allows']]);
    assert.deepEqual(await check(strict, { ...ops, claims: { department: ['hr'] } }), [false, 1, ['refuses']]);
    const { body } = await gatehouse.post('/ip_check', { ip: '::1', route_id: plain, visitor: { groups: [] } });
    assert.match(body.explanation, /is refused by the module of .*: its login lets in others, and not this visitor\.$/);
    const both = await add('/both', { oidc: { ...login, network: 'and_login', ip_policy_ids: [office.id] } });
    const told = async (route_id: string) =>
      (await gatehouse.post('/ip_check', { ip: '203.0.113.7', route_id, visitor: ops })).body.explanation;
    assert.equal(await told(both), '203.0.113.7 is let through, and this visitor has what it takes.');
    assert.match(await told(network), / It is in the trusted network, from which no login is needed \(oidc\)\.$/);
  });

  test('headers and a certificate that are described decide as they would in traffic, and a path chooses the route', async () => {
    const authority = new ClientAuthority('devices');
    const [devices, others] = [
      await gatehouse.create('/certificate_authorities', { description: 'Devices', ca_pem: authority.pem }),
      await gatehouse.create('/certificate_authorities', { ca_pem: authority.pem }),
    ];
    const edge = await gatehouse.create('/edges/https', {
      hostports: ['shown.example.com:443'],
      mutual_tls: { certificate_authority_ids: [devices.id] },
    });
    const add = (match: string, modules: object, match_type = 'path_prefix') =>
      gatehouse.create(`/edges/https/${edge.id}/routes`, { match_type, match, ...modules });
    const all = await add('/', {});
    const closed = await add('/closed', {
      basic_auth: { credentials: [{ username: 'ada', password: 'long enough' }] },
      user_agent_filter: { deny: ['evil'] },
    });
    const check = async (question: object) => {
      const { body } = await gatehouse.post('/ip_check', { ip: '192.0.2.1', edge_id: edge.id, ...question });
      const [route] = body.routes;
      const { id, allowed, checks, further_checks: further, explanation } = route;
      assert.equal(body.routes.length, 1);
      const effects = checks.map(({ module, effect }: { module: string; effect: string }) => `${module} ${effect}`);
      return { id, allowed, effects, asked: further.map(({ module }: { module: string }) => module), explanation };
    };
    const signed = { certificate: { authority_id: devices.id } };
    const asked = await check({ path: '/closed/x?y=1' });
    assert.deepEqual([asked.id, asked.asked], [closed.id, ['mutual_tls', 'user_agent_filter', 'basic_auth']]);
    assert.deepEqual((await check({ path: '/%63losed' })).id, closed.id);
    assert.deepEqual((await check({ path: '/other', ...signed })).effects, ['mutual_tls allows']);
    const none = await check({ path: '/other', certificate: {} });
    assert.deepEqual([none.id, none.allowed, none.effects], [all.id, false, ['mutual_tls refuses']]);
    assert.match(
      none.explanation,
      /: a visitor needs a certificate of Devices, and this one has none that it takes\.$/,
    );
    assert.equal((await check({ path: '/other', certificate: { authority_id: others.id } })).allowed, false);
    const basic = (password: string) => ({
      Authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`,
    });
    const ask = async (headers: object) => {
      const { allowed, asked: left, effects } = await check({ path: '/closed', ...signed, headers });
      return [allowed, left, effects.filter((effect: string) => effect !== 'mutual_tls allows')];
    };
    assert.deepEqual(await ask(basic('long enough')), [true, [], ['user_agent_filter allows', 'basic_auth allows']]);
    for (const wrong of [basic('long'), {}])
      assert.deepEqual(await ask(wrong), [false, ['basic_auth'], ['user_agent_filter allows', 'basic_auth refuses']]);
    assert.deepEqual(await ask({ ...basic('long enough'), 'User-Agent': 'evil/1' }), [
      false,
      ['user_agent_filter'],
      ['user_agent_filter refuses', 'basic_auth allows'],
    ]);
    await gatehouse.delete(`/edges/https/${edge.id}/routes/${all.id}`);
    const refused = async (question: object) => {
      const { status, body } = await gatehouse.post('/ip_check', { ip: '192.0.2.1', ...question });
      return [status, body.msg];
    };
    assert.match(
      String(await refused({ edge_id: edge.id, path: '/open' })),
      /^404,No route of this edge leads to "\/open"/,
    );
    assert.match(String(await refused({ edge_id: edge.id, path: '//closed' })), /^400,.* it starts with two slashes\./);
    assert.match(String(await refused({ edge_id: edge.id, path: '/x//../closed' })), /^400,/);
    assert.match(String(await refused({ edge_id: edge.id, path: '/x;/closed' })), /^(?:400|404),/);
    const tcp = await gatehouse.create('/edges/tcp');
    for (const wrong of [{ type: 'api' }, { edge_id: edge.id, route_id: closed.id }, { edge_id: tcp.id }])
      assert.match(
        String(await refused({ ...wrong, path: '/' })),
        /^400,A path is tried at the edge_id of an HTTPS edge/,
      );
  });

  test('a page that a traffic policy answers with refuses nobody, and an answer of a fault does', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['pages.example.com:443'] });
    const allowed = async (status_code: number) => {
      const actions = [{ type: 'custom-response', config: { status_code, body: 'closed' } }];
      const { id } = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match_type: 'path_prefix',
        match: `/${status_code}`,
        traffic_policy: { value: JSON.stringify({ on_http_request: [{ actions }] }) },
      });
      return (await gatehouse.post('/ip_check', { ip: '192.0.2.1', route_id: id })).body.allowed;
    };
    assert.deepEqual([await allowed(200), await allowed(503)], [true, false]);
  });

  test('rules of a traffic policy about the method are tried where the method is described', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['methods.example.com:443'] });
    const noPosts = { expressions: ["req.method == 'POST'"], actions: [{ type: 'deny' }] };
    const { id } = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      traffic_policy: { value: JSON.stringify({ on_http_request: [noPosts] }) },
    });
    const verdict = async (described: object) => {
      const { body } = await gatehouse.post('/ip_check', { ip: '192.0.2.1', route_id: id, ...described });
      return [body.allowed, body.further_checks.length];
    };
    assert.deepEqual(await verdict({}), [true, 1], 'it depends on the method');
    assert.deepEqual(await verdict({ method: 'GET' }), [true, 0]);
    assert.equal((await verdict({ method: 'POST' }))[0], false);
    const odd = await gatehouse.post('/ip_check', { ip: '192.0.2.1', route_id: id, method: 'G E T' });
    assert.equal(odd.status, 400);
  });

  test('an edge is refused whole where each of its routes refuses, and its first routes are looked at', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['many.example.com:443'] });
    const module = { ip_restriction: { ip_policy_ids: [office.id] } };
    for (let number = 0; number <= 200; number += 1)
      await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match_type: 'path_prefix',
        match: `/${number}`,
        ...(number === 0 ? {} : module),
      });
    const { body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', edge_id: edge.id });
    assert.deepEqual([body.allowed, body.allowed_if_all_enforced, body.routes.length], [false, false, 200]);
    assert.match(
      body.explanation,
      /is refused at \/200, \/199, \/198 and 197 more\. Only 200 of its routes were looked at/,
    );
  });

  test('traffic to a route meets the endpoints restrictions and then the route’s module; a disabled one is off', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['check.example.com:443'] });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      ip_restriction: { enabled: false, ip_policy_ids: [office.id] },
    });
    const endpoints = await gatehouse.create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [office.id] });
    const { body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', route_id: route.id });
    assert.deepEqual(
      body.checks.map((check: { id: string; effect: string }) => [check.id, check.effect]),
      [
        [endpoints.id, 'warns'],
        [route.id, 'off'],
      ],
    );
    assert.equal(body.allowed, true);
    const ofEdge = await gatehouse.post('/ip_check', { ip: '198.51.100.1', edge_id: edge.id });
    assert.deepEqual(ofEdge.body.checks.length, 1);
  });

  test('bad questions are refused with what is wrong', async () => {
    const cases: readonly [object, number, string][] = [
      [{ ip: '203.0.113', type: 'api' }, 400, '20033'],
      [{ ip: '203.0.113.7' }, 400, '20032'],
      [{ ip: '203.0.113.7', type: 'api', edge_id: 'edgtcp_1' }, 400, '20032'],
      [{ ip: '203.0.113.7', type: 'nothing' }, 400, '215'],
      [{ type: 'api' }, 400, '20012'],
      [{ ip: '203.0.113.7', edge_id: 'ipp_1' }, 400, '243'],
      [{ ip: '203.0.113.7', edge_id: 'edgtcp_1' }, 404, '7000'],
      [{ ip: '203.0.113.7', route_id: 'edghtsrt_1' }, 404, '7124'],
    ];
    for (const [question, status, code] of cases) {
      const answer = await gatehouse.post('/ip_check', question);
      assert.deepEqual(
        [answer.status, answer.body.error_code],
        [status, `ERR_GATEHOUSE_${code}`],
        JSON.stringify(question),
      );
    }
  });
});
