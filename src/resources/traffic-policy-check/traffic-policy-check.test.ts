import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';

const visit = { url: 'https://shop.example.com/cart', ip: '203.0.113.7' };

onEachDatabase('traffic policy check', (newDatabase) => {
  let gatehouse: Gatehouse;
  let office: { id: string };
  before(async () => {
    gatehouse = await Gatehouse.start(await newDatabase());
    office = await gatehouse.create('/ip_policies');
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '203.0.113.0/24', action: 'allow' });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '203.0.113.66/32', action: 'deny' });
  });
  after(() => gatehouse[Symbol.asyncDispose]());
  const check = (policy: object | string, request?: object) =>
    gatehouse.post('/traffic_policy_check', {
      policy: typeof policy === 'string' ? policy : JSON.stringify(policy),
      request,
    });

  test('without a visit only the text is checked, and a fault is told with its place', async () => {
    const { status, body } = await check('on_http_request: []\n');
    assert.deepEqual([status, body.verdict, body.rules, body.upstream, body.answer], [200, 'valid', [], null, null]);
    const refused = await check('on_http_request:\n- actions:\n  - type: denny\n');
    assert.deepEqual([refused.status, refused.body.error_code], [400, 'ERR_GATEHOUSE_2201']);
    assert.match(refused.body.msg, /^line 3, column 5: .*on_http_request\[0\]\.actions\[0\].*did you mean deny\?/);
    const unknown = await check({ on_http_request: [restrict('ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng')] });
    assert.deepEqual([unknown.status, unknown.body.error_code], [400, 'ERR_GATEHOUSE_2216']);
    const other = await check({ on_http_request: [restrict('edghts_1')] });
    assert.equal(other.status, 400);
  });

  const restrict = (id: string) => ({ actions: [{ type: 'restrict-ips', config: { ip_policies: [id] } }] });

  test('IP policies are asked about the address, with what denies it', async () => {
    const policy = { on_http_request: [restrict(office.id)] };
    const verdicts = [];
    for (const ip of ['203.0.113.7', '203.0.113.66', '198.51.100.1'])
      verdicts.push((await check(policy, { ...visit, ip })).body.verdict);
    assert.deepEqual(verdicts, ['passes', 'refuses', 'refuses']);
  });

  test('the answer tells rules, headers and end', async () => {
    const policy = {
      on_http_request: [
        { expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] },
        { name: 7, actions: [{ type: 'add-headers', config: { headers: { who: 'ä ${conn.client_ip}' } } }] },
      ],
    };
    const { status, body } = await check(policy, { ...visit, headers: { 'user-agent': 'x' } });
    assert.equal(status, 200);
    assert.deepEqual(body.upstream, {
      url: visit.url,
      headers: [
        { name: 'host', value: 'shop.example.com' },
        { name: 'user-agent', value: 'x' },
        { name: 'who', value: 'ä 203.0.113.7' },
      ],
    });
    assert.deepEqual(
      body.rules.map(({ name, result }: { name: string; result: string }) => [name, result]),
      [
        [null, 'does_not_match'],
        ['7', 'matches'],
      ],
    );
    const put = await check(policy, { ...visit, method: 'PUT' });
    assert.deepEqual([put.body.verdict, put.body.answer.status_code, put.body.upstream], ['refuses', 403, null]);
  });

  test('a visit that could not come is refused', async () => {
    const refusals: readonly (readonly [object, RegExp])[] = [
      [{ ...visit, ip: 'x' }, /not an IPv4 or IPv6/],
      [{ ...visit, url: 'shop.example.com' }, /scheme/],
      [{ ...visit, url: 'https://*.example.com/' }, /"\*"/],
      [{ ...visit, url: 'https://a.example.com/%2f' }, /encoded slash/],
      [{ ...visit, headers: { 'a b': 'c' } }, /header "a b" of the described request/],
      [{ ...visit, response: { status_code: 200, headers: { a: 'b\nc' } } }, /header "a" of the described answer/],
    ];
    for (const [request, words] of refusals) {
      const { status, body } = await check('{}', request);
      assert.equal(status, 400, JSON.stringify(request));
      assert.match(body.msg, words);
    }
    const tcp = { url: 'tcp://tcp.example.com:5432', ip: '203.0.113.7' };
    const http = await check({ on_http_request: [{ actions: [{ type: 'deny' }] }] }, tcp);
    assert.deepEqual([http.status, http.body.error_code], [400, 'ERR_GATEHOUSE_2230']);
    const closed = await check({ on_tcp_connect: [{ actions: [{ type: 'deny' }] }] }, tcp);
    assert.equal(closed.body.verdict, 'closes');
  });

  test('the value of a secret is never told', async () => {
    const vault = await gatehouse.create('/vaults', { name: 'shop' });
    await gatehouse.create('/vault_secrets', { vault_id: vault.id, name: 'key', value: 'swordfish' });
    const headers = { key: "${secrets.get('shop', 'key')}" };
    const { body } = await check(
      { on_http_request: [{ actions: [{ type: 'add-headers', config: { headers } }] }] },
      visit,
    );
    assert.deepEqual(body.depends_on, ['the secret key of the vault shop']);
    assert.doesNotMatch(JSON.stringify(body), /swordfish/);
  });

  test('secrets that are missing are named, those of other accounts among them', async () => {
    const { token } = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
    const foreign = await gatehouse.create('/vaults', { name: 'theirs' }, { token });
    await gatehouse.create('/vault_secrets', { vault_id: foreign.id, name: 'key', value: 'swordfish' }, { token });
    await gatehouse.create('/vaults', { name: 'empty' });
    const bodyOf = (name: string) => ({ body: `\${secrets.get(${name})}` });
    for (const [named, told] of [
      ["'theirs', 'key'", 'vault named "theirs"'],
      ["'empty', 'key'", 'secret named "key" in the vault "empty"'],
    ] as const)
      for (const request of [undefined, visit]) {
        const actions = [{ type: 'custom-response', config: bodyOf(named) }];
        const { status, body } = await check({ on_http_request: [{ actions }] }, request);
        assert.deepEqual([status, body.error_code], [400, 'ERR_GATEHOUSE_24009']);
        assert.ok(body.msg.includes(told), body.msg);
      }
  });

  test('POST /ip_check does not tell that a route lets in whom its policy may refuse', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['policy.example.com:443'] });
    const value = JSON.stringify({
      on_http_request: [{ expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] }],
    });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      traffic_policy: { value },
    });
    const { body } = await gatehouse.post('/ip_check', { ip: '203.0.113.7', route_id: route.id });
    assert.deepEqual(body.further_checks, [
      {
        module: 'traffic_policy',
        by: 'all that its rules name',
        asks: 'must satisfy the rules of the traffic policy (deny)',
      },
    ]);
    assert.match(body.explanation, /not refused for its address\. Then a visitor must satisfy the rules/);
  });

  test('POST /ip_check asks the policy of a cloud endpoint, by the id of the endpoint', async () => {
    const traffic_policy = JSON.stringify({
      on_http_request: [
        { actions: [{ type: 'restrict-ips', config: { allow: ['203.0.113.0/24'] } }] },
        { actions: [{ type: 'custom-response', config: { body: 'in' } }] },
      ],
    });
    const endpoint = await gatehouse.create('/endpoints', { url: 'https://asked.internal', traffic_policy });
    const ask = async (ip: string) => (await gatehouse.post('/ip_check', { ip, edge_id: endpoint.id })).body;
    const [inside, outside] = [await ask('203.0.113.7'), await ask('198.51.100.1')];
    assert.deepEqual([inside.allowed, inside.further_checks, inside.routes], [true, [], null]);
    assert.deepEqual([outside.allowed, outside.checks[0].module], [false, 'traffic_policy']);
    const edge = await gatehouse.create('/edges/https', { hostports: ['asked.example.com:443'] });
    const { endpoints } = (await gatehouse.get('/endpoints')).body;
    const { id } = endpoints.find((each: { edge?: { id: string } }) => each.edge?.id === edge.id);
    assert.equal((await gatehouse.post('/ip_check', { ip: '203.0.113.7', edge_id: id })).status, 404);
  });
});
