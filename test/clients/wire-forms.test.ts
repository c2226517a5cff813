import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sendBytes } from '../contract/support/raw-http.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import {
  clientOnTheWire,
  followLinks,
  goHead,
  makeRoute,
  pythonHead,
  startWithVendor,
  typescriptHead,
} from './support/wire.ts';

onAnyDatabase('what the Go client sends', (newDatabase) => {
  test('is understood: empty objects for what is not given, nothing on DELETE', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const key = await go.create('/api_keys', '{}');
    assert.equal((await go.send('PATCH', `/api_keys/${key.id}`, '{}')).status, 200);
    assert.equal((await go.send('PATCH', `/api_keys/${key.id}`, '{"description":""}')).status, 200);
    assert.equal((await go.send('DELETE', `/api_keys/${key.id}`)).status, 204);
    // An empty id must not be answered with the list.
    const empty = await go.send('GET', '/api_keys/');
    assert.deepEqual([empty.status, empty.body.status_code], [404, 404]);
    const policy = await go.create('/ip_policies', '{}');
    // The client never sends `false` on create.
    const restriction = await go.send('POST', '/ip_restrictions', `{"type":"agent","ip_policy_ids":["${policy.id}"]}`);
    assert.equal(restriction.body.enforced, false);
    const path = `/ip_restrictions/${restriction.body.id}`;
    assert.equal((await go.send('PATCH', path, '{"enforced":true}')).body.enforced, true);
    assert.equal((await go.send('PATCH', path, '{"enforced":false}')).body.enforced, false);
  });

  test('keeps the TLS of a backend, for which it sends {} on every update', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const plain = await go.create('/backends/static', '{"address":"app.internal:80","tls":{}}');
    assert.equal((await go.send('GET', `/backends/static/${plain.id}`)).body.tls.enabled, false);
    const secure = await go.create('/backends/static', '{"address":"app.internal:443","tls":{"enabled":true}}');
    const updated = await go.send('PATCH', `/backends/static/${secure.id}`, '{"description":"d","tls":{}}');
    assert.deepEqual(updated.body.tls, { enabled: true });
  });

  test('sets modules, flat; an empty one is {}', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const { edge, route } = await makeRoute(go);
    const headers = await go.send('PUT', `${route}/request_headers`, '{"add":{"X-A":"b"},"remove":["X-C"]}');
    assert.deepEqual(headers.body, { enabled: true, add: { 'x-a': 'b' }, remove: ['x-c'] });
    assert.deepEqual((await go.send('PUT', `${route}/request_headers`, '{}')).body, {
      enabled: true,
      add: {},
      remove: [],
    });
    assert.equal((await go.send('PUT', `${route}/ip_restriction`, '{}')).body.error_code, 'ERR_NGROK_7025');
    assert.equal((await go.send('PUT', `${route}/backend`, '{}')).status, 400);
    // Controllers built on the client delete modules that were never set, and treat any error as a failure.
    for (const name of ['ip_restriction', 'backend', 'request_headers', 'response_headers', 'request_headers']) {
      assert.equal((await go.send('DELETE', `${route}/${name}`)).status, 204, name);
    }
    const read = await go.send('GET', `/edges/https/${edge.id}`);
    assert.deepEqual([read.body.routes[0].backend, read.body.hostports], [null, null]);
  });

  test('sets every module of edges and routes, without what is zero, and gets no secret back', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const { edge, route } = await makeRoute(go);
    const { id: authority } = await go.create(
      '/certificate_authorities',
      JSON.stringify({ ca_pem: new ClientAuthority('staff').pem }),
    );
    const set = async (path: string, given: object, shown: object) => {
      const { status, text, body } = await go.send('PUT', path, JSON.stringify(given));
      assert.equal(status, 200, text);
      assert.deepEqual({ ...body, ...shown }, body, path);
      assert.deepEqual((await go.send('GET', path)).body, body);
      return body;
    };
    const on = { enabled: true };
    const breaker = { tripped_duration: 10, rolling_window: 20, num_buckets: 5, error_threshold_percentage: 0.5 };
    await set(`${route}/circuit_breaker`, breaker, { ...on, ...breaker });
    await set(`${route}/circuit_breaker`, {}, on);
    await set(`${route}/compression`, {}, on);
    await set(`${route}/websocket_tcp_converter`, {}, on);
    await set(`${route}/user_agent_filter`, { deny: ['^curl/'] }, { ...on, allow: [], deny: ['^curl/'] });
    const webhook = await set(
      `${route}/webhook_verification`,
      { provider: 'github', secret: 'for github' },
      { ...on, provider: 'github' },
    );
    assert.ok(!('secret' in webhook));
    // What the client has read, without a secret, and writes back.
    await set(`${route}/webhook_verification`, webhook, webhook);
    const oidc = { issuer: 'https://id.example.com', client_id: 'a', client_secret: 'b', scopes: ['openid'] };
    const { client_secret: _secret, ...withoutSecret } = oidc;
    await set(`${route}/oidc`, oidc, { ...on, ...withoutSecret, options_passthrough: false, inactivity_timeout: 0 });
    await set(`${route}/oidc`, withoutSecret, withoutSecret);
    assert.equal((await go.send('DELETE', `${route}/oidc`)).status, 204);
    const google = { client_id: 'a', client_secret: 'b', email_domains: ['example.com'] };
    const { provider } = await set(`${route}/oauth`, { provider: { google }, maximum_duration: 60 }, on);
    assert.deepEqual([provider.google.email_domains, provider.github], [['example.com'], null]);
    const asking = { certificate_authority_ids: [authority] };
    for (const kind of ['https', 'tls']) {
      const { id } = kind === 'https' ? edge : await go.create('/edges/tls', '{"hostports":["db.example.com:443"]}');
      const path = `/edges/${kind}/${id}`;
      await set(`${path}/tls_termination`, { min_version: '1.3' }, { terminate_at: 'edge', min_version: '1.3' });
      await set(`${path}/tls_termination`, {}, { ...on, terminate_at: 'edge', min_version: null });
      const { certificate_authorities: shown } = await set(`${path}/mutual_tls`, asking, on);
      assert.deepEqual(shown, [{ id: authority, uri: `${gatehouse.url}/certificate_authorities/${authority}` }]);
      for (const name of ['mutual_tls', 'tls_termination', 'mutual_tls'])
        assert.equal((await go.send('DELETE', `${path}/${name}`)).status, 204);
      const { body } = await go.send('PATCH', path, `{"id":"${id}","description":"d"}`);
      assert.deepEqual([body.mutual_tls, body.tls_termination, body.description], [null, null, 'd']);
    }
  });

  test('pages by the last id until a page is empty, as older ones do, or by the link', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const made: string[] = [];
    for (let count = 0; count < 101; count++) made.unshift((await gatehouse.create('/ip_policies')).id);
    const byId: string[] = [];
    for (let query = '?limit=100'; ; query = `?before_id=${byId.at(-1)}&limit=100`) {
      const { body } = await go.send('GET', `/ip_policies${query}`);
      if (body.ip_policies.length === 0) break;
      for (const { id } of body.ip_policies) byId.push(id);
    }
    assert.deepEqual(byId, made);
    assert.deepEqual(await followLinks(go, '/ip_policies'), made);
  });

  test('finds the entries of every list under the name that it reads', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const lists: Readonly<Record<string, string>> = {
      '/api_keys': 'keys',
      '/app/sessions': 'application_sessions',
      '/app/users': 'application_users',
      '/backends/failover': 'backends',
      '/backends/http_response': 'backends',
      '/backends/static': 'backends',
      '/backends/tunnel_group': 'backends',
      '/backends/weighted': 'backends',
      '/bot_users': 'bot_users',
      '/certificate_authorities': 'certificate_authorities',
      '/credentials': 'credentials',
      '/edges/https': 'https_edges',
      '/edges/tcp': 'tcp_edges',
      '/edges/tls': 'tls_edges',
      '/endpoints': 'endpoints',
      '/ip_policies': 'ip_policies',
      '/ip_policy_rules': 'ip_policy_rules',
      '/ip_restrictions': 'ip_restrictions',
      '/kubernetes_operators': 'operators',
      '/reserved_addrs': 'reserved_addrs',
      '/reserved_domains': 'reserved_domains',
      '/service_users': 'service_users',
      '/tls_certificates': 'tls_certificates',
      '/tunnel_sessions': 'tunnel_sessions',
      '/tunnels': 'tunnels',
      '/vault_secrets': 'secrets',
      '/vaults': 'vaults',
    };
    const { id } = await gatehouse.create('/vaults', { name: 'keys' });
    const go = clientOnTheWire(gatehouse, goHead);
    for (const [path, key] of [...Object.entries(lists), [`/vaults/${id}/secrets`, 'secrets'] as const])
      assert.deepEqual(
        Object.keys((await go.send('GET', path)).body).toSorted(),
        [key, 'next_page_uri', 'uri'].toSorted(),
        path,
      );
  });

  test('gets errors whose details are texts, so that it can decode them', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    for (const target of ['/api_keys/ak_nothing', '/nothing', '/ip_policies?limit=0', '/edges/tcp/x/backend']) {
      const { body, status } = await go.send('GET', target);
      assert.deepEqual(Object.keys(body), ['error_code', 'status_code', 'msg', 'details']);
      assert.equal(body.status_code, status);
      for (const value of Object.values(body.details)) assert.equal(typeof value, 'string');
    }
  });
});

onAnyDatabase('what Terraform writes', (newDatabase) => {
  /** The provider's 0.7 writes by the Go client and reads what it has written; a difference would be planned again. */
  const plansNothing = async (go: ReturnType<typeof clientOnTheWire>, path: string, body: object) => {
    const { id } = await go.create(path, JSON.stringify(body));
    const { body: read } = await go.send('GET', `${path}/${id}`);
    for (const [field, written] of Object.entries(body)) assert.deepEqual(read[field], written, field);
    return id;
  };

  test('is read as it was written, so that a second plan is empty', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const go = clientOnTheWire(gatehouse, goHead);
    const texts = { description: 'acme', metadata: '{"environment": "staging"}' };
    const teapot = await plansNothing(go, '/backends/http_response', {
      ...texts,
      body: "I'm a teapot",
      headers: { 'Content-Type': 'text/plain', 'X-a': '1' },
      status_code: 418,
    });
    const agents = await plansNothing(go, '/backends/tunnel_group', { ...texts, labels: { app: 'a', Env: 'b' } });
    const failover = await plansNothing(go, '/backends/failover', { ...texts, backends: [agents, teapot] });
    await plansNothing(go, '/backends/weighted', { ...texts, backends: { [teapot]: 0, [failover]: 10_000 } });
    // An update names the id too, and only what is set.
    const path = `/backends/failover/${failover}`;
    const turned = `{"id":"${failover}","description":"acme","backends":["${teapot}","${agents}"]}`;
    assert.deepEqual((await go.send('PATCH', path, turned)).body.backends, [teapot, agents]);
    const { pem } = new ClientAuthority('staff');
    const authority = await plansNothing(go, '/certificate_authorities', { ...texts, ca_pem: pem });
    // The provider leaves blanks at the ends out of account.
    const again = await go.create('/certificate_authorities', JSON.stringify({ ca_pem: `\n${pem.trim()}\n\n` }));
    const { body: read } = await go.send('GET', `/certificate_authorities/${again.id}`);
    assert.equal(read.ca_pem.trim(), pem.trim());
    assert.equal((await go.send('DELETE', `/certificate_authorities/${authority}`)).status, 204);
  });
});

onAnyDatabase('what the Python client sends', (newDatabase) => {
  test('is understood: empty texts and lists for what is not given', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const python = clientOnTheWire(gatehouse, pythonHead);
    const nothing = '{"description": "", "metadata": ""}';
    const key = await python.create('/api_keys', nothing);
    assert.ok(!('description' in key) && !('metadata' in key));
    assert.equal((await python.send('PATCH', `/api_keys/${key.id}`, '{}')).status, 200);
    const deleted = await python.send('DELETE', `/api_keys/${key.id}`);
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    const policy = await python.create('/ip_policies', nothing);
    const given = `{"description": "", "metadata": "", "enforced": true, "type": "agent", "ip_policy_ids": ["${policy.id}"]}`;
    const restriction = await python.create('/ip_restrictions', given);
    const updated = await python.send('PATCH', `/ip_restrictions/${restriction.id}`, '{"ip_policy_ids": []}');
    assert.deepEqual(updated.body, restriction);
    const none = await python.send(
      'POST',
      '/ip_restrictions',
      '{"type": "agent", "enforced": false, "ip_policy_ids": []}',
    );
    assert.equal(none.body.error_code, 'ERR_NGROK_1804');
    const backend = await python.create(
      '/backends/static',
      '{"description": "", "metadata": "", "address": "a.internal:80"}',
    );
    const kept = await python.send('PATCH', `/backends/static/${backend.id}`, '{"address": "", "tls": null}');
    assert.deepEqual(kept.body, backend);
  });

  test('keeps a route, for which it sends four empty texts on every update', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const python = clientOnTheWire(gatehouse, pythonHead);
    const { route } = await makeRoute(python);
    const before = (await python.send('GET', route)).body;
    const empty = '"match_type": "", "match": "", "description": "", "metadata": ""';
    const { status, body } = await python.send(
      'PATCH',
      route,
      `{${empty}, "request_headers": {"add": {"a": "b"}, "remove": null, "enabled": null}}`,
    );
    assert.equal(status, 200);
    assert.deepEqual([body.match, body.match_type], [before.match, before.match_type]);
    assert.deepEqual(body.request_headers, { enabled: true, add: { a: 'b' }, remove: [] });
  });

  test('replaces a module by nothing at all', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const python = clientOnTheWire(gatehouse, pythonHead);
    const { route } = await makeRoute(python);
    const { status, body } = await python.send('PUT', `${route}/response_headers`);
    assert.deepEqual([status, body], [200, { enabled: true, add: {}, remove: [] }]);
    assert.equal((await python.send('PUT', `${route}/ip_restriction`)).body.error_code, 'ERR_NGROK_7025');
  });

  test('follows links as they are, with its token, so they lead back to where it came from', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const python = clientOnTheWire(gatehouse, pythonHead);
    const made: string[] = [];
    for (let count = 0; count < 5; count++)
      made.unshift((await python.create('/bot_users', `{"name": "${count}"}`)).id);
    assert.deepEqual(await followLinks(python, '/bot_users?limit=2'), made);
  });
});

onAnyDatabase('what the TypeScript client sends', (newDatabase) => {
  test('is understood: a type without a body, ids in bodies, wrapped modules, beforeId', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const typescript = clientOnTheWire(gatehouse, typescriptHead);
    const created = await typescript.send('POST', '/ip_policies');
    assert.equal(created.status, 201);
    const { id } = created.body;
    const next = await typescript.create('/ip_policies', '{}');
    const page = await typescript.send('GET', `/ip_policies?beforeId=${next.id}&limit=100`);
    assert.deepEqual(page.body.ip_policies, [created.body]);
    assert.equal(
      (await typescript.send('PATCH', `/ip_policies/${id}`, `{"id":"${id}","description":"d"}`)).status,
      200,
    );
    assert.equal((await typescript.send('DELETE', `/ip_policies/${id}`)).status, 204);
    const { edge, route, routeId } = await makeRoute(typescript);
    const wrapped = `{"edge_id":"${edge.id}","id":"${routeId}","module":{"ip_policy_ids":["${next.id}"]}}`;
    const set = await typescript.send('PUT', `${route}/ip_restriction`, wrapped);
    assert.deepEqual(set.body, { enabled: true, ip_policies: [{ id: next.id, uri: next.uri }] });
  });
});

onAnyDatabase('on the wire', (newDatabase) => {
  test('one connection takes a DELETE with a length of nothing and the next call', async () => {
    await using gatehouse = await startWithVendor(await newDatabase());
    const { id } = await gatehouse.create('/ip_policies');
    const head = `HTTP/1.1\r\nHost: x\r\nauthorization: bearer ${gatehouse.token}\r\nNGROK-VERSION: 2\r\n`;
    const answer = await sendBytes(
      gatehouse.url,
      `DELETE /ip_policies/${id} ${head}Content-Length: 0\r\n\r\nGET /api_keys ${head}Connection: close\r\n\r\n`,
    );
    assert.equal(answer.status, 204);
    assert.match(answer.text, /^HTTP\/1\.1 200 /);
  });

  test("the vendor's version header counts only where the vendor is set", async () => {
    await using plain = await Gatehouse.start(await newDatabase());
    await using vendor = await startWithVendor(await newDatabase());
    const withHeaders = (gatehouse: Gatehouse, headers: Record<string, string | undefined>) =>
      gatehouse.get('/api_keys', { headers: { 'service-version': undefined, ...headers } });
    const refused = await withHeaders(plain, { 'ngrok-version': '2' });
    assert.deepEqual([refused.status, refused.body.error_code], [400, 'ERR_GATEHOUSE_218']);
    assert.equal(refused.headers.get('ngrok-operation-id'), null);
    assert.equal((await withHeaders(vendor, { 'ngrok-version': '2' })).status, 200);
    assert.equal((await withHeaders(vendor, { 'service-version': '2' })).status, 200);
    assert.equal((await withHeaders(vendor, { 'service-version': '2', 'ngrok-version': '1' })).status, 400);
    assert.equal((await withHeaders(vendor, {})).body.error_code, 'ERR_NGROK_218');
  });
});
