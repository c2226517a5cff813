import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../../test/support/people.ts';
import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { httpsEdgesResource } from './index.ts';

const path = '/edges/https';
const emptyEdge = { hostports: null, mutual_tls: null, rate_limit: null, tls_termination: null, routes: [] };

onGatehousesInTurn(
  'HTTPS edges',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
    let names = 0;
    const newName = () => `n${names++}.example.com`;

    test('an edge that an older release has stored is read, and gets modules', async () => {
      const { id } = await g().create('/edges/https', {});
      const one = `/edges/https/${id}`;
      const sql = `UPDATE https_edges SET document = REPLACE(document, ',"modules":{}', '') WHERE id = $1`;
      await g().app.context.store.writeUnlogged((writer) => writer.run(sql, [id]));
      const listed = (await g().get('/edges/https?limit=1')).body.https_edges[0];
      assert.deepEqual([listed.id, listed.mutual_tls], [id, null]);
      assert.equal((await g().put(`${one}/tls_termination`, { min_version: '1.3' })).status, 200);
      assert.equal((await g().get(one)).body.tls_termination.min_version, '1.3');
      await refuses(g(), ['PUT', `${one}/tls_termination`, { min_version: '1.1' }], 400, 215);
    });

    test('an edge is created with every field, names in lower case, and read back the same', async () => {
      const hostports = ['B.Example.com:443', '*.Wild.example.com:443', 'a.example.com:443', 'xn--mnchen-3ya.de:443'];
      const { status, body } = await g().post(path, { description: 'shop', metadata: '{"a":1}', hostports });
      assert.equal(status, 201);
      const { id, created_at, ...rest } = body;
      assert.match(id, /^edghts_[0-9A-Za-z]{27}$/);
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(rest, {
        ...emptyEdge,
        uri: `${g().url}${path}/${id}`,
        description: 'shop',
        metadata: '{"a":1}',
        hostports: hostports.map((hostport) => hostport.toLowerCase()),
      });
      assert.deepEqual((await g().get(`${path}/${id}`)).body, body);
    });

    test('an edge of nothing has null for hostports, no routes and no texts', async () => {
      for (const nothing of [undefined, {}, { description: '', metadata: '', hostports: [] }, { hostports: null }]) {
        const { id, uri, created_at, ...rest } = await g().create(path, nothing);
        assert.deepEqual(rest, emptyEdge);
        assert.ok(id && uri && created_at);
      }
    });

    test('texts and unknown fields', async () => {
      await refuses(g(), ['POST', path, { description: 'x'.repeat(256) }], 400, 7073);
      await refuses(g(), ['POST', path, { metadata: 'x'.repeat(4097) }], 400, 7074);
      for (const body of [{ tls_termination: { min: '1.2' } }, { routes: [] }]) {
        await refuses(g(), ['POST', path, body], 400, 214);
      }
    });

    test('PATCH changes what is given and keeps the rest', async () => {
      const hostports = [`${newName()}:443`, `${newName()}:443`];
      const created = await g().create(path, { description: 'd', hostports });
      const one = `${path}/${created.id}`;
      const { version } = g().app.context.store;
      for (const nothing of [undefined, {}, { hostports: null }, { hostports }, { id: created.id, description: 'd' }]) {
        const { status, body } = await g().patch(one, nothing);
        assert.equal(status, 200);
        assert.deepEqual(body, created);
      }
      assert.equal(g().app.context.store.version, version, 'a PATCH of nothing has written something');
      const { description: _gone, ...kept } = created;
      const reversed = await g().patch(one, { hostports: hostports.toReversed(), description: '', metadata: 'm' });
      assert.deepEqual(reversed.body, { ...kept, hostports: hostports.toReversed(), metadata: 'm' });
      assert.deepEqual((await g().get(one)).body, reversed.body);
      assert.equal((await g().patch(one, { hostports: [] })).body.hostports, null);
      assert.equal((await g().post(path, { hostports })).status, 201);
    });

    test('edges are listed newest first, each with its own routes', async () => {
      const stranger = await newStranger();
      const made = [];
      for (const count of [1, 2, 0, 1]) {
        const { id } = await g().create(path);
        const foreign = await g().create(path, {}, stranger);
        await g().create(`${path}/${foreign.id}/routes`, { match: '/', match_type: 'exact_path' }, stranger);
        for (let at = 0; at < count; at++) {
          await g().create(`${path}/${id}/routes`, { match: `/${at}`, match_type: 'path_prefix' });
        }
        made.push((await g().get(`${path}/${id}`)).body);
      }
      assert.deepEqual(
        made.map(({ routes }) => routes.length),
        [1, 2, 0, 1],
      );
      assert.deepEqual(
        made[1].routes.map(({ match }: { match: string }) => match),
        ['/0', '/1'],
      );
      const { body } = await g().get(`${path}?limit=3`);
      assert.deepEqual(body.https_edges, [made[3], made[2], made[1]]);
      assert.deepEqual((await g().get(body.next_page_uri)).body.https_edges[0], made[0]);
    });

    test('deleting an edge deletes its routes, frees its names and what its routes used', async () => {
      const hostports = [`${newName()}:443`];
      const backend = (await g().create('/backends/static', { address: 'a:1' })).id;
      const policy = (await g().create('/ip_policies')).id;
      const edge = await g().create(path, { hostports });
      const routes = [];
      for (const match of ['/a', '/b']) {
        const modules = { backend: { backend_id: backend }, ip_restriction: { ip_policy_ids: [policy] } };
        routes.push(await g().create(`${path}/${edge.id}/routes`, { match, match_type: 'path_prefix', ...modules }));
      }
      const { store } = g().app.context;
      const { version } = store;
      assert.equal((await g().delete(`${path}/${edge.id}`)).status, 204);
      const changes = await store.queries.all('SELECT kind, resource_id, after FROM change_log WHERE version > $1', [
        version,
      ]);
      assert.deepEqual(
        changes.map(([kind, id, after]) => [kind, id, after]),
        [...routes.map(({ id }) => ['https_edge_route', id, null]), ['https_edge', edge.id, null]],
      );
      for (const { id } of routes) await refuses(g(), ['GET', `${path}/${edge.id}/routes/${id}`], 404, 7124);
      await refuses(g(), ['GET', `${path}/${edge.id}`], 404, 7000);
      assert.equal((await g().delete(`/backends/static/${backend}`)).status, 204);
      assert.equal((await g().delete(`/ip_policies/${policy}`)).status, 204);
      assert.equal((await g().post(path, { hostports })).status, 201);
    });

    test('the gateway is told names and routes, and again when a route changes', async () => {
      const backend_id = (await g().create('/backends/static', { address: 'a:1' })).id;
      const hostports = [`${newName()}:443`];
      const { id } = await g().create(path, { hostports });
      const body = { match: '/a', match_type: 'exact_path', backend: { backend_id } };
      const route = await g().create(`${path}/${id}/routes`, body);
      const { context } = g().app;
      const [compiler] = httpsEdgesResource.compilers?.(context) ?? [];
      assert.ok(compiler);
      const [entry, ...others] = await compiler.load(context.store.queries, [id, 'edghts_gone']);
      assert.deepEqual(others, []);
      assert.ok(entry?.kind === 'https_edge' && entry.accountId.startsWith('ac_'));
      assert.deepEqual(entry.hostports, hostports);
      const modules = { backend: { enabled: true, backend_id } };
      assert.deepEqual(entry.routes, [{ id: route.id, matchType: 'exact_path', match: '/a', modules }]);
      const all = await compiler.load(context.store.queries, undefined);
      assert.deepEqual(
        all.find((each) => each.id === id),
        entry,
      );
      const change = { accountId: '', kind: 'https_edge_route', id: route.id, cascades: false };
      const stored = JSON.stringify({ id: route.id, edge_id: id });
      assert.deepEqual(compiler.affectedIds({ ...change, before: null, after: stored }), [id]);
      assert.deepEqual(compiler.affectedIds({ ...change, before: stored, after: null }), [id]);
      assert.deepEqual(compiler.affectedIds({ ...change, kind: 'tcp_edge', before: null, after: null }), []);
    });
  },
  { role: 'api' },
);
