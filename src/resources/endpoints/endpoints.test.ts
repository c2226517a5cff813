import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { cloudService } from './cloud.ts';
import { checkPlace } from './conflicts.ts';
import { readPlace } from './read-url.ts';
import { cloudEndpoints } from './table.ts';

const deny = '{"on_http_request":[{"actions":[{"type":"deny"}]}]}';
const denyTcp = 'on_tcp_connect:\n  - actions:\n      - type: deny\n';
let made = 0;

onEachGatehouse('cloud endpoints', (g) => {
  const newName = (): string => `endpoint-${++made}.example.com`;
  async function reserve(): Promise<{ readonly domain: string; readonly id: string; readonly uri: string }> {
    return g().create('/reserved_domains', { domain: newName() });
  }
  const create = (body: object) => g().create('/endpoints', { traffic_policy: deny, ...body });
  const post = (body: object, status: number, code: number, options = {}) =>
    refuses(g(), ['POST', '/endpoints', { traffic_policy: deny, ...body }, options], status, code);

  test('an answer has every field, the policy to the byte, and the URL without a port that goes without saying', async () => {
    const { domain, id: domainId, uri: domainUri } = await reserve();
    const policy = `# mine\n${denyTcp.replace('on_tcp_connect', 'on_http_request')}`;
    const body = {
      url: `https://${domain}:443`,
      type: 'cloud',
      description: 'd',
      metadata: 'm',
      traffic_policy: policy,
    };
    const { id, uri, created_at, updated_at, region, ...rest } = await create(body);
    assert.match(id, /^ep_[0-9A-Za-z]{27}$/);
    assert.deepEqual([uri, updated_at, typeof region], [`${g().url}/endpoints/${id}`, created_at, 'string']);
    assert.deepEqual(rest, {
      type: 'cloud',
      url: `https://${domain}`,
      public_url: `https://${domain}`,
      proto: 'https',
      scheme: 'https',
      hostport: `${domain}:443`,
      host: domain,
      port: 443,
      bindings: ['public'],
      pooling_enabled: false,
      traffic_policy: policy,
      description: 'd',
      metadata: 'm',
      domain: { id: domainId, uri: domainUri },
    });
    assert.deepEqual((await g().get(`/endpoints/${id}`)).body.traffic_policy, policy);
  });

  test('it is listed beside those of edges, in pages, and found by a filter', async () => {
    const { id } = await create({ url: 'http://listed.internal:8080', metadata: 'mine' });
    const edge = await g()
      .create('/edges/https', { hostports: [`${newName()}:${g().httpsPort || 443}`] })
      .catch(() => undefined);
    const { endpoints } = (await g().get('/endpoints')).body;
    assert.ok(endpoints.some((each: { readonly id: string }) => each.id === id));
    const filter = encodeURIComponent("obj.type == 'cloud' && obj.url == 'http://listed.internal:8080'");
    const found = (await g().get(`/endpoints?filter=${filter}`)).body.endpoints;
    assert.deepEqual([found.length, found[0].id, found[0].bindings], [1, id, ['internal']]);
    if (edge !== undefined) await g().delete(`/edges/https/${edge.id}`);
  });

  test('what no endpoint can have is refused with the number of the hosted service', async () => {
    const { domain } = await reserve();
    await post({ url: 'app.example.com' }, 400, 18022);
    await post({ url: 'ftp://app.internal' }, 400, 18001);
    await post({ url: 'https://app.internal/path' }, 400, 18001);
    await post({ url: 'https://app.internal/' }, 400, 18001);
    await post({ url: 'https://a.b.c.d.e.f.internal' }, 400, 18001);
    assert.equal((await create({ url: 'https://a.b.c.d.e.internal' })).url, 'https://a.b.c.d.e.internal');
    await post({ url: 'tcp://db.internal' }, 400, 18003);
    await post({ url: `https://${domain}:444` }, 400, 18023);
    await post({ url: `https://${newName()}` }, 400, 18006);
    await post({ url: 'tcp://localhost:10001', traffic_policy: denyTcp }, 400, 18006);
    await post({ url: 'https://app.internal', bindings: ['public'] }, 400, 18007);
    await post({ url: `https://${domain}`, bindings: ['internal'] }, 400, 18007);
    await post({ url: 'http://a.b', bindings: ['kubernetes'] }, 400, 18007);
    await post({ url: 'https://app.internal', bindings: ['internal', 'public'] }, 400, 18007);
    await post({ url: 'https://app.internal', type: 'agent' }, 400, 248);
    await post({ url: 'https://app.internal', traffic_policy: '' }, 400, 18011);
    await post({ url: 'https://app.internal', traffic_policy: undefined }, 400, 18011);
    await post({ url: undefined }, 400, 18015);
    await post({ url: 'https://app.internal', description: 'd'.repeat(256) }, 400, 18012);
    await post({ url: 'https://app.internal', metadata: 'm'.repeat(4097) }, 400, 18013);
  });

  test('a policy must be acceptable, end every visit, and fit the scheme; the answer has its number', async () => {
    const wrong = async (url: string, traffic_policy: string) => post({ url, traffic_policy }, 400, 18002);
    const rule = (type: string, config: object = {}) => [{ actions: [{ type, config }] }];
    const policy = (phases: object) => JSON.stringify(phases);
    assert.match(
      await wrong('https://app.internal', policy({ on_http_request: rule('nonsense') })),
      /\(ERR_[A-Z]+_2201\)/,
    );
    assert.match(await wrong('https://app.internal', policy({ on_http_request: [] })), /_2235\)/);
    const guarded = { on_http_request: [{ expressions: ["req.method == 'GET'"], actions: [{ type: 'deny' }] }] };
    assert.match(await wrong('https://app.internal', policy(guarded)), /_2235\)/);
    const goesOn = { url: 'https://b.internal', on_error: 'continue' };
    assert.match(
      await wrong('https://app.internal', policy({ on_http_request: rule('forward-internal', goesOn) })),
      /_2235\)/,
    );
    assert.match(await wrong('https://app.internal', policy({ on_tcp_connect: rule('deny') })), /_2262\)/);
    assert.match(await wrong('tcp://db.internal:1', policy({ on_http_request: rule('deny') })), /_2230\)/);
    const ids = { ip_policies: ['ipp_2BYhPwqDBVDyzPqWvTZTTXlUPJG'] };
    const asks = { on_http_request: [...rule('restrict-ips', ids), ...rule('deny')] };
    assert.match(await wrong('https://app.internal', policy(asks)), /_2216\)/);
  });

  test('a URL is taken once, unless all who have it say that they share it', async () => {
    const url = 'https://taken.internal';
    const { id } = await create({ url });
    assert.match(await post({ url }, 409, 18009), new RegExp(id));
    await post({ url, pooling_enabled: true }, 409, 18016);
    assert.equal((await g().patch(`/endpoints/${id}`, { pooling_enabled: true })).status, 200);
    const second = await create({ url: 'HTTPS://Taken.internal:443', pooling_enabled: true });
    assert.equal(second.url, url);
    await refuses(g(), ['PATCH', `/endpoints/${id}`, { pooling_enabled: false }], 409, 18009);
    const other = await createUser(g(), 'admin', await createAccount(g()));
    const theirs = await g().create('/endpoints', { url, traffic_policy: deny }, { token: other.token });
    assert.equal((await g().get(`/endpoints/${theirs.id}`)).status, 404);
  });

  test('names and ports have one owner among edges, agents and endpoints', async () => {
    const { domain, id: domainId } = await reserve();
    const edgeAt = (hostport: string) => g().post('/edges/https', { hostports: [hostport] });
    const endpoint = await create({ url: `https://${domain}` });
    const port = (await edgeAt(`${domain}:1`)).body.msg.match(/port (\d+)/)?.[1] ?? '443';
    assert.equal((await edgeAt(`${domain}:${port}`)).status, 409);
    await post({ url: `tls://${domain}`, traffic_policy: denyTcp }, 409, 18017);
    assert.match(await refuses(g(), ['DELETE', `/reserved_domains/${domainId}`], 409, 446), /endpoint/);
    assert.equal((await g().delete(`/endpoints/${endpoint.id}`)).status, 204);
    assert.equal((await edgeAt(`${domain}:${port}`)).status, 201);
    await post({ url: `https://${domain}` }, 409, 18017);
    const { addr } = await g().create('/reserved_addrs', {});
    const tcp = await create({ url: `tcp://${addr}`, traffic_policy: denyTcp });
    assert.match(tcp.tcp_addr.id, /^ra_/);
    assert.equal((await g().post('/edges/tcp', { hostports: [addr] })).status, 409);
    assert.equal((await g().delete(`/reserved_addrs/${tcp.tcp_addr.id}`)).status, 409);
  });

  test('a wildcard that is reserved stays while an endpoint below it has no reservation of its own', async () => {
    const parent = newName();
    const wildcard = await g().create('/reserved_domains', { domain: `*.${parent}` });
    const { id } = await create({ url: `https://a.${parent}` });
    await refuses(g(), ['DELETE', `/reserved_domains/${wildcard.id}`], 409, 446);
    await g().delete(`/endpoints/${id}`);
    assert.equal((await g().delete(`/reserved_domains/${wildcard.id}`)).status, 204);
  });

  test('a change keeps what it does not name, and the scheme is fixed', async () => {
    const { id, updated_at, ...before } = await create({ url: 'https://changed.internal', description: 'd' });
    const { body } = await g().patch(`/endpoints/${id}`, { url: 'https://moved.internal' });
    assert.deepEqual(
      [body.url, body.description, body.traffic_policy],
      ['https://moved.internal', 'd', before.traffic_policy],
    );
    assert.ok(body.updated_at >= updated_at);
    await refuses(g(), ['PATCH', `/endpoints/${id}`, { url: 'http://moved.internal' }], 400, 18005);
    await refuses(g(), ['PATCH', `/endpoints/${id}`, { traffic_policy: '' }], 400, 18011);
    const changes = (await g().get(`/changes?resource_id=${id}`)).body.changes;
    assert.equal((await g().post(`/changes/${changes[0].id}/revert`)).status, 200);
    assert.equal((await g().get(`/endpoints/${id}`)).body.url, 'https://changed.internal');
  });

  test('pages go through the endpoints of an edge one by one', async () => {
    const refused = await g().post('/edges/https', { hostports: [`${newName()}:1`] });
    const port = refused.body.msg.match(/port (\d+)/)?.[1] ?? '443';
    const edge = await g().create('/edges/https', { hostports: [1, 2, 3].map(() => `${newName()}:${port}`) });
    const all: { readonly id: string; readonly edge?: { readonly id: string } }[] = [];
    for (;;) {
      const before = all.length === 0 ? '' : `&before_id=${all.at(-1)?.id}`;
      const [next] = (await g().get(`/endpoints?limit=1${before}`)).body.endpoints;
      if (next === undefined) break;
      assert.ok(!all.some(({ id }) => id === next.id), 'each is there once');
      all.push(next);
    }
    assert.equal(all.filter((each) => each.edge?.id === edge.id).length, 3);
    await g().delete(`/edges/https/${edge.id}`);
  });

  test('a reserved port is one of the host that gave it, and a policy must fit where the endpoint moves to', async () => {
    const { addr } = await g().create('/reserved_addrs', {});
    const port = addr.split(':').at(-1);
    await post({ url: `tcp://${newName()}:${port}`, traffic_policy: denyTcp }, 400, 18006);
    const { domain } = await reserve();
    const { id } = await create({ url: `https://${domain}`, traffic_policy: denyTcp });
    const move = { url: 'https://moved-inwards.internal', bindings: ['internal'] };
    assert.match(await refuses(g(), ['PATCH', `/endpoints/${id}`, move], 400, 18002), /_2262\)/);
    assert.equal((await g().patch(`/endpoints/${id}`, { ...move, traffic_policy: deny })).status, 200);
  });

  test('as many share a URL as are allowed, and no more', async () => {
    const url = 'https://crowded.internal';
    const { id } = await create({ url, pooling_enabled: true });
    const { store } = g().app.context;
    const first = (await cloudEndpoints.load(store.queries, id)) ?? assert.fail('it was made');
    await store.write({ id: 'host', accountId: first.account_id, operationId: '' }, async (transaction) => {
      for (let at = 0; at < 498; at++)
        await cloudEndpoints.insert(transaction, { ...first, ...cloudEndpoints.newDocument(first.account_id) });
    });
    await create({ url, pooling_enabled: true });
    await post({ url, pooling_enabled: true }, 409, 18020);
    assert.equal((await g().patch(`/endpoints/${id}`, { description: 'still here' })).status, 200);
  });

  test('whoever asks who is at a place reads no document of a pool', async () => {
    const { context } = g().app;
    const { domain } = await reserve();
    const url = `https://${domain}`;
    const { id } = await create({ url, pooling_enabled: true });
    const { account_id } = (await cloudEndpoints.load(context.store.queries, id)) ?? assert.fail('it was made');
    const statements: string[] = [];
    await context.store.write({ id: 'host', accountId: account_id, operationId: '' }, async (transaction) => {
      const all: typeof transaction.all = (sql, ...values) => {
        statements.push(sql);
        return transaction.all(sql, ...values);
      };
      const watched = { ...transaction, all };
      const place = { hostname: domain, port: null };
      const own = { id, scheme: 'https', isPooled: true };
      assert.deepEqual(await cloudService.at(watched, account_id, place), [own]);
      assert.equal((await cloudService.amongst(watched, [{ ...place, account_id }])).size, 1);
      const wanted = { ...cloudEndpoints.newDocument(account_id), pooling_enabled: true };
      await checkPlace(context, watched, { ...wanted, place: readPlace(url, [], context.settings) });
    });
    assert.ok(statements.some((sql) => sql.includes('cloud_endpoints')));
    for (const sql of statements) assert.doesNotMatch(sql, /document\b.*\bcloud_endpoints/s);
  });

  test('places of many agents are looked up by account and place', async () => {
    const { store } = g().app.context;
    const url = 'https://looked-up.internal';
    const { id } = await create({ url });
    const { account_id } = (await cloudEndpoints.load(store.queries, id)) ?? assert.fail('it was made');
    const place = (owner: string, internal: string) => ({ account_id: owner, hostname: null, port: null, internal });
    const others = Array.from({ length: 30 }, (_, at) => place(account_id, `https://other-${at}.internal`));
    const [own, theirs] = [place(account_id, url), place('ac_other', url)];
    for (const places of [
      [own, theirs],
      [own, theirs, ...others],
    ])
      assert.deepEqual([...(await cloudService.amongst(store.queries, places))], [own], `${places.length} places`);
  });

  test('a cloud endpoint is read with the tag that its changes may demand', async () => {
    const { id } = await create({ url: 'https://tagged.internal' });
    const tag = (await g().get(`/endpoints/${id}`)).headers.get('etag') ?? '';
    const change = async (description: string) =>
      (await g().patch(`/endpoints/${id}`, { description }, { headers: { 'if-match': tag } })).status;
    assert.deepEqual([await change('first'), await change('second')], [200, 412]);
  });

  test('an IP policy that a policy names stays while it is named', async () => {
    const { id: policyId } = await g().create('/ip_policies', {});
    const asks = { type: 'restrict-ips', config: { ip_policies: [policyId] } };
    const traffic_policy = JSON.stringify({ on_http_request: [{ actions: [asks, { type: 'deny' }] }] });
    const { id } = await create({ url: 'https://asks.internal', traffic_policy });
    assert.equal((await g().delete(`/ip_policies/${policyId}`)).status, 409);
    const second = await create({ url: 'https://asks-too.internal', traffic_policy });
    await g().patch(`/endpoints/${id}`, { traffic_policy: deny });
    assert.equal((await g().delete(`/ip_policies/${policyId}`)).status, 409);
    assert.equal((await g().delete(`/endpoints/${second.id}`)).status, 204);
    assert.equal((await g().delete(`/ip_policies/${policyId}`)).status, 204);
  });
});
