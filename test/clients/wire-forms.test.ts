import assert from 'node:assert/strict';
import { test } from 'node:test';

import { sendBytes } from '../contract/support/raw-http.ts';
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
