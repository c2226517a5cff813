import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onAnyGatehouse } from '../support/shared-gatehouse.ts';
import { refuses } from '../support/refusals.ts';

onAnyGatehouse(
  'forms that clients of the hosted service send',
  (g) => {
    const newRoute = async (more: object = {}) => {
      const edge = await g().create('/edges/https');
      const routes = `/edges/https/${edge.id}/routes`;
      const route = await g().create(routes, { match: '/', match_type: 'path_prefix', ...more });
      return { edge: `/edges/https/${edge.id}`, routes, path: `${routes}/${route.id}`, route };
    };

    test('"" keeps description and metadata of a route, and clears them elsewhere', async () => {
      const { path, edge } = await newRoute({ description: 'd', metadata: 'm' });
      const emptied = { match_type: '', match: '', description: '', metadata: '' };
      const { body } = await g().patch(path, emptied);
      assert.deepEqual([body.description, body.metadata, body.match], ['d', 'm', '/']);
      assert.equal((await g().patch(path, { ...emptied, description: 'new' })).body.description, 'new');
      await g().patch(edge, { description: 'of the edge' });
      assert.equal((await g().patch(edge, { description: '' })).body.description, undefined);
    });

    test('null is accepted for every key that a resource shows', async () => {
      const { edge, path } = await newRoute();
      const key = await g().create('/api_keys', { token: null, uri: null, created_at: null, id: null });
      for (const one of [edge, path, `/api_keys/${key.id}`]) {
        const shown = (await g().get(one)).body;
        const nulls = Object.fromEntries(Object.keys(shown).map((name) => [name, null]));
        assert.deepEqual((await g().patch(one, nulls)).body, shown);
      }
      await refuses(g(), ['PATCH', edge, { colour: null }], 400, 214);
    });

    test('what was read can be sent back whole; what cannot be changed is named', async () => {
      const policy = (await g().create('/ip_policies')).id;
      const backend = await g().create('/backends/static', { address: '127.0.0.1:9' });
      const modules = { backend: { backend_id: backend.id }, ip_restriction: { ip_policy_ids: [policy] } };
      const { edge, path } = await newRoute({ ...modules, request_headers: { add: { a: 'b' } } });
      const tcp = await g().create('/edges/tcp', modules);
      const restriction = await g().create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [policy] });
      const bot = await g().create('/bot_users', { name: `bot ${policy}` });
      const paths = [
        edge,
        path,
        `/edges/tcp/${tcp.id}`,
        `/ip_policies/${policy}`,
        `/ip_restrictions/${restriction.id}`,
        `/backends/static/${backend.id}`,
        `/bot_users/${bot.id}`,
      ];
      for (const one of paths) {
        const shown = (await g().get(one)).body;
        const { status, body } = await g().patch(one, shown);
        assert.deepEqual([status, body], [200, shown], one);
        const message = await refuses(
          g(),
          ['PATCH', one, { ...shown, created_at: '2001-01-01T00:00:00Z' }],
          400,
          20190,
        );
        assert.match(message, /The field "created_at" cannot be changed: it is "20/);
      }
      const { ip_restriction } = (await g().get(path)).body;
      for (const changed of [{ ip_policies: [] }, { ...ip_restriction, enabled: false }]) {
        const message = await refuses(g(), ['PATCH', path, { ip_restriction: changed }], 400, 20190);
        assert.match(
          message,
          /"ip_restriction" cannot be changed: it is here as answers show it.* by ids.*"ip_policy_ids"/,
        );
      }
      await refuses(g(), ['PATCH', `/ip_restrictions/${restriction.id}`, { type: 'agent' }], 400, 20190);
    });

    test('a module that is not offered can be deleted, on what exists, and nothing else', async () => {
      const { edge, path } = await newRoute();
      assert.equal((await g().delete(`${path}/saml`)).status, 204);
      assert.match(await refuses(g(), ['PUT', `${path}/saml`, {}], 404, 20191), /^Gatehouse has no /);
      await refuses(g(), ['DELETE', `${edge}/routes/edghtsrt_gone/oauth`], 404, 7124);
      await refuses(g(), ['DELETE', '/edges/tcp/edgtcp_gone/policy'], 404, 7000);
      await refuses(g(), ['DELETE', '/edges/https/edghts_gone/mutual_tls'], 404, 7000);
      await refuses(g(), ['DELETE', `${path}/frobnicate`], 404, 20001);
    });

    test('the routes of an edge are a list in pages, newest first', async () => {
      const { routes, route } = await newRoute();
      await newRoute();
      const second = await g().create(routes, { match: '/b', match_type: 'exact_path' });
      const all = (await g().get(routes)).body;
      assert.deepEqual(all.routes, [second, route]);
      assert.equal(all.next_page_uri, null);
      const first = (await g().get(`${routes}?limit=1`)).body;
      assert.deepEqual(first.routes, [second]);
      assert.deepEqual((await g().get(first.next_page_uri)).body.routes, [route]);
      await refuses(g(), ['GET', '/edges/https/edghts_gone/routes'], 404, 7000);
    });

    test('service users are bot users under another name', async () => {
      const made = await g().create('/service_users', { name: `service ${g().url}` });
      assert.equal(made.uri, `${g().url}/service_users/${made.id}`);
      const asBot = (await g().get(`/bot_users/${made.id}`)).body;
      assert.deepEqual({ ...asBot, uri: made.uri }, made);
      const list = (await g().get('/service_users?limit=1')).body;
      assert.deepEqual(list.service_users, [made]);
      assert.equal(list.uri, `${g().url}/service_users`);
      await refuses(g(), ['POST', '/bot_users', { name: made.name }], 409, 4112);
      assert.equal((await g().delete(`/service_users/${made.id}`)).status, 204);
      assert.equal((await g().get(`/bot_users/${made.id}`)).status, 404);
    });

    test("a vendor's version header names the setting that makes it known", async () => {
      const headers = { 'service-version': undefined, 'acme-version': '2' };
      const { status, body } = await g().get('/api_keys', { headers });
      assert.deepEqual([status, body.error_code], [400, 'ERR_GATEHOUSE_218']);
      assert.match(
        body.msg,
        /Acme-Version is not known here: start Gatehouse with GATEHOUSE_VENDOR=acme, or send "Service-Version: 2"/,
      );
      const none = await g().get('/api_keys', { headers: { 'service-version': undefined } });
      assert.equal(none.body.msg, 'The version header is missing. Send "Service-Version: 2".');
    });

    test('a path of the hosted service that is not here says so, with what to use', async () => {
      for (const [path, said] of [['/ssh_credentials/x', /\/credentials/]] as const) {
        assert.match(await refuses(g(), ['GET', path], 404, 20191), said);
      }
    });

    test('a path that is nearly right is answered with the right one', async () => {
      for (const [path, meant] of [
        ['/ip_policy', '/ip_policies'],
        ['/v2/api_keys', '/api_keys'],
        ['/api/ip_restrictions', '/ip_restrictions'],
        ['/api_keys/', '/api_keys'],
        ['/api_key/ak_1', '/api_keys/ak_1'],
        ['/edges/http', '/edges/https'],
      ]) {
        const message = await refuses(g(), ['GET', path ?? ''], 404, 20001);
        assert.ok(message.includes(`Did you mean "${meant}"?`), `${path}: ${message}`);
      }
      assert.doesNotMatch(await refuses(g(), ['GET', '/frobnicate'], 404, 20001), /Did you mean/);
      const doubled = await fetch(`${g().url}//api_keys`);
      assert.match(await doubled.text(), /starts with two slashes: take the slash at the end of the base URL/);
    });

    test('a field that is nearly right, or belongs elsewhere, is answered with where it belongs', async () => {
      for (const [path, body, said] of [
        ['/ip_policies', { descripton: 'x' }, /Did you mean "description"\?/],
        ['/ip_policies', { action: 'allow' }, /"action".*belongs to the rules of the policy: POST \/ip_policy_rules/],
        ['/edges/https', { backend: {} }, /"backend".*belongs to a route: POST \/edges\/https\/\{id\}\/routes/],
      ] as const) {
        assert.match(await refuses(g(), ['POST', path, body], 400, 214), said);
      }
      const metadata = await refuses(g(), ['POST', '/ip_policies', { metadata: { a: 1 } }], 400, 215);
      assert.match(metadata, /send JSON as text/);
    });

    test('another spelling of an IPv6 network is answered as it was sent, and is the same network', async () => {
      const ip_policy_id = (await g().create('/ip_policies')).id;
      const rule = { ip_policy_id, action: 'allow' };
      const made = await g().create('/ip_policy_rules', { ...rule, cidr: ' 2001:0DB8:0005::/48\t' });
      assert.equal(made.cidr, '2001:0db8:0005::/48');
      const one = `/ip_policy_rules/${made.id}`;
      assert.deepEqual((await g().get(one)).body, made);
      await refuses(g(), ['POST', '/ip_policy_rules', { ...rule, cidr: '2001:db8:5::/48' }], 409, 1408);
      assert.equal((await g().patch(one, { cidr: '2001:db8:5:0::/48' })).body.cidr, '2001:db8:5:0::/48');
      assert.equal((await g().patch(one, { cidr: '2001:db8:5::/48' })).body.cidr, '2001:db8:5::/48');
      assert.equal((await g().create('/ip_policy_rules', { ...rule, cidr: ' 10.4.0.0/16' })).cidr, '10.4.0.0/16');
      const zero = await refuses(g(), ['POST', '/ip_policy_rules', { ...rule, cidr: '010.0.0.0/8' }], 400, 1406);
      assert.match(zero, /leading zero/);
      assert.match(await refuses(g(), ['POST', '/ip_policy_rules', { ...rule, cidr: '' }], 400, 1406), /is empty/);
    });

    test('a header value with variables is answered with a warning that they are not filled in', async () => {
      const { path, routes } = await newRoute();
      const module = { add: { 'X-Client': '${conn.client_ip}', 'x-plain': '$5 {a}' } };
      const said = 'variables in the value of x-client are not filled in: it is sent as it is';
      const put = await g().put(`${path}/request_headers`, module);
      assert.deepEqual([put.status, put.headers.get('gatehouse-warning')], [200, said]);
      const made = await g().post(routes, { match: '/v', match_type: 'exact_path', response_headers: module });
      assert.deepEqual([made.status, made.headers.get('gatehouse-warning')], [201, said]);
      const plain = await g().put(`${path}/request_headers`, { add: { 'x-plain': 'a' } });
      assert.equal(plain.headers.get('gatehouse-warning'), null);
    });

    test('near misses of hostports and addresses are answered with what was meant', async () => {
      for (const [path, body, code, said] of [
        ['/backends/static', { address: 'http://127.0.0.1:9000' }, 6506, /write 127\.0\.0\.1:9000\.$/],
        ['/backends/static', { address: 'https://a.test' }, 6506, /write a\.test:443, and set tls\.enabled to true\.$/],
        ['/edges/https', { hostports: ['https://app.example.com'] }, 7104, /write app\.example\.com:443\.$/],
        ['/edges/https', { hostports: ['app.example.com'] }, 7104, /did you mean "app\.example\.com:443"\?$/],
        [
          '/edges/https',
          { hostports: ['app.example.com:8443'] },
          7116,
          /wherever the gateway itself listens.*https_port/,
        ],
        ['/edges/https', { hostports: ['münchen.example:443'] }, 7104, /"xn--mnchen-3ya\.example:443"/],
        ['/edges/https', { hostports: ['*.*.x.test:443'] }, 7104, /one "\*" only/],
      ] as const) {
        assert.match(await refuses(g(), ['POST', path, body], 400, code), said);
      }
      const { routes } = await newRoute();
      const star = { match: '/blog/*', match_type: 'path_prefix' };
      assert.match(await refuses(g(), ['POST', routes, star], 400, 7131), /"\*" has no meaning/);
    });
  },
  { role: 'api' },
);
