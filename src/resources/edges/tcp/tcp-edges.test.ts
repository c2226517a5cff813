import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { tcpEdgesResource } from './index.ts';

const path = '/edges/tcp';

onGatehousesInTurn(
  'TCP edges',
  (g) => {
    let nextPort = 10_000;
    const newHostport = (host = 'tcp.example.com') => `${host}:${nextPort++}`;
    const newBackend = async () => (await g().create('/backends/static', { address: 'a:1' })).id;
    const newPolicy = async () => (await g().create('/ip_policies')).id;
    const refOf = (collection: string, id: string) => ({ id, uri: `${g().url}${collection}/${id}` });

    test('an edge is created with every field, and read back the same', async () => {
      const [backend, first, second] = [await newBackend(), await newPolicy(), await newPolicy()];
      const hostports = [newHostport('B.example.com'), newHostport('[2001:db8::1]'), newHostport('192.0.2.1')];
      const { status, body } = await g().post(path, {
        description: 'ssh',
        metadata: '{"a":1}',
        hostports,
        backend: { enabled: false, backend_id: backend },
        ip_restriction: { ip_policy_ids: [second, first] },
      });
      assert.equal(status, 201);
      const { id, created_at, ...rest } = body;
      assert.match(id, /^edgtcp_[0-9A-Za-z]{27}$/);
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(rest, {
        uri: `${g().url}${path}/${id}`,
        description: 'ssh',
        metadata: '{"a":1}',
        hostports,
        backend: { enabled: false, backend: refOf('/backends/static', backend) },
        ip_restriction: { enabled: true, ip_policies: [refOf('/ip_policies', second), refOf('/ip_policies', first)] },
        policy: null,
        rate_limit: null,
        traffic_policy: null,
      });
      assert.deepEqual((await g().get(`${path}/${id}`)).body, body);
    });

    test('an edge of nothing has null for hostports and modules, and no texts', async () => {
      for (const nothing of [
        undefined,
        {},
        { description: '', metadata: '', hostports: [] },
        { description: null, metadata: null, hostports: null, backend: null, ip_restriction: null },
      ]) {
        const { id, uri, created_at, ...rest } = await g().create(path, nothing);
        assert.deepEqual(rest, {
          hostports: null,
          backend: null,
          ip_restriction: null,
          policy: null,
          rate_limit: null,
          traffic_policy: null,
        });
        assert.ok(id && uri && created_at);
      }
    });

    test('texts, unknown fields and modules that are not offered', async () => {
      await refuses(g(), ['POST', path, { description: 'x'.repeat(256) }], 400, 7073);
      await refuses(g(), ['POST', path, { metadata: 'x'.repeat(4097) }], 400, 7074);
      await refuses(g(), ['POST', path, { description: '\uD800' }], 400, 20010);
      for (const body of [{ saml: {} }, { request_headers: {} }, { x: 1 }])
        await refuses(g(), ['POST', path, body], 400, 214);
      await refuses(g(), ['POST', path, { traffic_policy: { enabled: true, value: '' } }], 400, 2236);
    });

    test('PATCH changes what is given and keeps the rest', async () => {
      const backend_id = await newBackend();
      const ip_policy_ids = [await newPolicy()];
      const created = await g().create(path, {
        description: 'd',
        hostports: [newHostport(), newHostport()],
        backend: { backend_id },
        ip_restriction: { enabled: false, ip_policy_ids },
      });
      const one = `${path}/${created.id}`;
      const { version } = g().app.context.store;
      const hostports = created.hostports;
      for (const nothing of [
        undefined,
        {},
        { hostports: null, backend: null, ip_restriction: null },
        { hostports, backend: { backend_id }, ip_restriction: { enabled: false, ip_policy_ids } },
        { id: created.id },
      ]) {
        const { status, body } = await g().patch(one, nothing);
        assert.equal(status, 200);
        assert.deepEqual(body, created);
      }
      assert.equal(g().app.context.store.version, version, 'a PATCH of nothing has written something');

      const reversed = await g().patch(one, { hostports: hostports.toReversed(), description: '' });
      const { description: _gone, ...kept } = created;
      assert.deepEqual(reversed.body, { ...kept, hostports: hostports.toReversed() });
      // A module is replaced whole: what the new one leaves out takes its default.
      const replaced = await g().patch(one, { ip_restriction: { ip_policy_ids }, hostports: [hostports[0]] });
      assert.equal(replaced.body.ip_restriction.enabled, true);
      assert.deepEqual(replaced.body.backend, created.backend);
      assert.deepEqual((await g().get(one)).body, replaced.body);
      assert.equal((await g().patch(one, { hostports: [] })).body.hostports, null);
      assert.equal((await g().post(path, { hostports })).status, 201);
    });

    test('edges are listed newest first, and gone after their deletion', async () => {
      const made = [await g().create(path), await g().create(path, { hostports: [newHostport()] })];
      const { body } = await g().get(`${path}?limit=2`);
      assert.deepEqual(body.tcp_edges, made.toReversed());
      assert.equal(body.next_page_uri, `${g().url}${path}?before_id=${made[0].id}&limit=2`);
      const one = `${path}/${made[1].id}`;
      assert.equal((await g().delete(one)).status, 204);
      await refuses(g(), ['DELETE', one], 404, 7000);
      for (const suffix of ['', '/backend']) await refuses(g(), ['GET', `${one}${suffix}`], 404, 7000);
    });

    test('the gateway is told ports and modules', async () => {
      const backend_id = await newBackend();
      const hostport = newHostport();
      const { id } = await g().create(path, { hostports: [hostport], backend: { backend_id } });
      const { context } = g().app;
      const [compiler] = tcpEdgesResource.compilers?.(context) ?? [];
      const [entry, ...others] = (await compiler?.load(context.store.queries, [id, 'edgtcp_gone'])) ?? [];
      assert.deepEqual(others, []);
      assert.ok(entry?.kind === 'tcp_edge' && entry.accountId.startsWith('ac_'));
      assert.deepEqual(entry.ports, [Number(hostport.split(':')[1])]);
      assert.deepEqual(entry.modules, { backend: { enabled: true, backend_id } });
      const all = await compiler?.load(context.store.queries, undefined);
      assert.ok(all?.some((each) => each.id === id) && all.length > 1);
    });
  },
  { role: 'api' },
);
