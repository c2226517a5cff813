import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../../test/support/people.ts';
import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { modulesFor } from '../../../modules/index.ts';

const match_type = 'path_prefix';
const unsetModules = {
  backend: null,
  ip_restriction: null,
  circuit_breaker: null,
  compression: null,
  request_headers: null,
  response_headers: null,
  webhook_verification: null,
  oauth: null,
  saml: null,
  oidc: null,
  websocket_tcp_converter: null,
  user_agent_filter: null,
  policy: null,
  traffic_policy: null,
  // Modules that the public service does not have.
  ...Object.fromEntries(modulesFor('https_route').map(({ name }) => [name, null])),
};

onGatehousesInTurn(
  'HTTPS edge routes',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
    /** Routes of a new edge for each test: matches are unique in an edge. */
    const newRoutes = async () => `/edges/https/${(await g().create('/edges/https')).id}/routes`;
    const refOf = (collection: string, id: string) => ({ id, uri: `${g().url}${collection}/${id}` });

    test('a route is created with every field, and read back the same', async () => {
      const routes = await newRoutes();
      const backend = (await g().create('/backends/static', { address: 'a:1' })).id;
      const policy = (await g().create('/ip_policies')).id;
      const { status, body } = await g().post(routes, {
        description: 'd',
        metadata: 'm',
        match: '/blog',
        match_type,
        backend: { backend_id: backend },
        ip_restriction: { enabled: false, ip_policy_ids: [policy] },
        request_headers: { add: { 'X-A': '1' }, remove: null },
        response_headers: { remove: ['X-B'] },
        compression: { enabled: false },
      });
      assert.equal(status, 201);
      const { id, created_at, ...rest } = body;
      assert.match(id, /^edghtsrt_[0-9A-Za-z]{27}$/);
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(rest, {
        ...unsetModules,
        edge_id: routes.split('/')[3],
        uri: `${g().url}${routes}/${id}`,
        description: 'd',
        metadata: 'm',
        match: '/blog',
        match_type,
        backend: { enabled: true, backend: refOf('/backends/static', backend) },
        ip_restriction: { enabled: false, ip_policies: [refOf('/ip_policies', policy)] },
        request_headers: { enabled: true, add: { 'x-a': '1' }, remove: [] },
        response_headers: { enabled: true, add: {}, remove: ['x-b'] },
        compression: { enabled: false },
      });
      assert.deepEqual((await g().get(`${routes}/${id}`)).body, body);
      assert.deepEqual((await g().get(routes.replace('/routes', ''))).body.routes, [body]);
    });

    test('only match and match_type are needed; modules are null, texts are left out', async () => {
      const routes = await newRoutes();
      const edge_id = routes.split('/')[3];
      const body = { match: '/', match_type: 'exact_path', description: '', metadata: '', backend: null, edge_id };
      const { id, uri, created_at, ...rest } = await g().create(routes, body);
      assert.deepEqual(rest, { ...unsetModules, edge_id, match: '/', match_type: 'exact_path' });
      assert.ok(id && uri && created_at);
      await refuses(g(), ['POST', routes, { ...body, match: '/x', edge_id: 'edghts_other' }], 400, 20015);
    });

    test('texts, unknown fields, modules that are not offered, and modules that are refused', async () => {
      const routes = await newRoutes();
      const body = { match: '/', match_type };
      await refuses(g(), ['POST', routes, { ...body, description: 'x'.repeat(256) }], 400, 7073);
      await refuses(g(), ['POST', routes, { ...body, metadata: 'x'.repeat(4097) }], 400, 7074);
      for (const field of ['saml', 'hostports']) {
        await refuses(g(), ['POST', routes, { ...body, [field]: {} }], 400, 214);
      }
      await refuses(g(), ['POST', routes, { ...body, backend: { backend_id: 'bkdsc_gone' } }], 400, 6501);
      await refuses(g(), ['POST', routes, { ...body, backend: {} }], 400, 20018);
      await refuses(g(), ['POST', routes, { ...body, backend: { backend: 'x' } }], 400, 214);
      await refuses(g(), ['POST', routes, { ...body, ip_restriction: {} }], 400, 7025);
      await refuses(g(), ['POST', routes, { ...body, ip_restriction: { ip_policy_ids: ['ipp_gone'] } }], 400, 7007);
      await refuses(g(), ['POST', routes, { ...body, request_headers: { add: { x: '\n' } } }], 400, 7024);
      assert.deepEqual((await g().get(routes.replace('/routes', ''))).body.routes, []);
    });

    test('PATCH changes what is given and keeps the rest', async () => {
      const routes = await newRoutes();
      const backend_id = (await g().create('/backends/static', { address: 'a:1' })).id;
      const headers = { enabled: false, add: { 'x-a': '1' }, remove: [] };
      const created = await g().create(routes, {
        match: '/a',
        match_type,
        metadata: 'm',
        backend: { backend_id },
        request_headers: headers,
      });
      const one = `${routes}/${created.id}`;
      const { version } = g().app.context.store;
      for (const nothing of [
        undefined,
        {},
        { match: '', match_type: '' },
        { match: null, match_type: null, backend: null, request_headers: null },
        { id: created.id, edge_id: created.edge_id, match: '/a', request_headers: headers },
      ]) {
        const { status, body } = await g().patch(one, nothing);
        assert.equal(status, 200);
        assert.deepEqual(body, created);
      }
      assert.equal(g().app.context.store.version, version, 'a PATCH of nothing has written something');

      const changed = await g().patch(one, {
        match: '/b',
        match_type: 'exact_path',
        description: 'd',
        metadata: '',
      });
      // The metadata stays: an official client sends "" for what was not given.
      const kept = created;
      assert.deepEqual(changed.body, { ...kept, match: '/b', match_type: 'exact_path', description: 'd' });
      assert.deepEqual((await g().get(one)).body, changed.body);
      const replaced = await g().patch(one, { request_headers: { remove: ['x-b'] } });
      assert.deepEqual(replaced.body.request_headers, { enabled: true, add: {}, remove: ['x-b'] });
      assert.deepEqual(replaced.body.backend, created.backend);
      await refuses(g(), ['PATCH', one, { match: 'b' }], 400, 7131);
      await refuses(g(), ['PATCH', one, { match_type: 'regex' }], 400, 7130);
      await refuses(g(), ['PATCH', one, { id: 'edghtsrt_other' }], 400, 20015);
      assert.deepEqual((await g().get(one)).body, replaced.body);
    });

    test('a route is found below its own edge only, and gone after its deletion', async () => {
      const [routes, others] = [await newRoutes(), await newRoutes()];
      const body = { match: '/', match_type };
      const { id } = await g().create(routes, body);
      const stranger = await newStranger();
      for (const wrong of [others, '/edges/https/edghts_gone/routes']) {
        await refuses(g(), ['GET', `${wrong}/${id}`], 404, 7124);
        await refuses(g(), ['PATCH', `${wrong}/${id}`, { match: '/x' }], 404, 7124);
        await refuses(g(), ['DELETE', `${wrong}/${id}`], 404, 7124);
      }
      await refuses(g(), ['POST', '/edges/https/edghts_gone/routes', body], 404, 7000);
      await refuses(g(), ['POST', routes, { ...body, match: '/y' }, stranger], 404, 7000);
      await refuses(g(), ['DELETE', `${routes}/${id}`, undefined, stranger], 404, 7124);
      await refuses(g(), ['PUT', routes], 405, 20002);
      assert.equal((await g().delete(`${routes}/${id}`)).status, 204);
      await refuses(g(), ['DELETE', `${routes}/${id}`], 404, 7124);
      assert.equal((await g().post(routes, body)).status, 201);
    });
  },
  { role: 'api' },
);
