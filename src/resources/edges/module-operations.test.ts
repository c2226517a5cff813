import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { fieldReferences } from '../../modules/module.ts';
import { modulesFor } from '../../modules/index.ts';
import { shownNotTaken } from './errors.ts';

/** The number for a holder that does not exist. */
const missing = (path: string) => (path.startsWith('/edges/tcp/') ? 7000 : 7124);

onAnyGatehouse(
  'modules',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
    let edge: string;
    let route: string;
    const newPolicy = async () => (await g().create('/ip_policies')).id;
    const newBackend = async () => (await g().create('/backends/static', { address: 'a:1' })).id;
    const refOf = (collection: string, id: string) => ({ id, uri: `${g().url}${collection}/${id}` });
    const unchanged = async (work: () => Promise<void>) => {
      const { version } = g().app.context.store;
      await work();
      assert.equal(g().app.context.store.version, version, 'something was written');
    };

    before(async () => {
      edge = `/edges/tcp/${(await g().create('/edges/tcp')).id}`;
      const routes = `/edges/https/${(await g().create('/edges/https')).id}/routes`;
      route = `${routes}/${(await g().create(routes, { match: '/', match_type: 'path_prefix' })).id}`;
    });

    test('each kind of holder has the paths of its modules and no others', async () => {
      for (const name of ['backend', 'ip_restriction']) await refuses(g(), ['GET', `${edge}/${name}`], 404, 20008);
      for (const { name } of modulesFor('https_route')) {
        await refuses(g(), ['GET', `${route}/${name}`], 404, 20008);
      }
      await refuses(g(), ['GET', `${edge}/request_headers`], 404, 20001);
      await refuses(g(), ['GET', `${edge}/compression`], 404, 20001);
      await refuses(g(), ['GET', `${route}/saml`], 404, 20191);
      await refuses(g(), ['DELETE', `${route}${'a'.repeat(600)}/saml`], 404, 20191);
      await refuses(g(), ['POST', `${route}/backend`], 405, 20002);
      const range = await refuses(
        g(),
        ['PUT', `${route}/circuit_breaker`, { error_threshold_percentage: 50 }],
        400,
        215,
      );
      assert.match(range, /it is 50, where a number from 0 to 1 belongs\.$/);
      const form = await refuses(g(), ['PUT', `${route}/oauth`, { provider: 'github' }], 400, 215);
      assert.match(form, /it is "github", where a value of type object belongs, such as \{"github":\{"client_id":/);
      const short = await refuses(
        g(),
        ['PUT', `${route}/basic_auth`, { credentials: [{ username: 'ada', password: 'short' }] }],
        400,
        215,
      );
      assert.match(short, /"credentials\.0\.password" is not acceptable: it is too short: at least 8 characters/);
    });

    test('a module that was never set can be deleted, again and again', async () => {
      await unchanged(async () => {
        for (const path of [`${edge}/backend`, `${edge}/ip_restriction`, `${route}/response_headers`]) {
          assert.equal((await g().delete(path)).status, 204);
          assert.equal((await g().delete(path)).status, 204);
        }
      });
    });

    test('an unknown edge, route or route of another edge has no modules', async () => {
      const otherEdge = `/edges/https/${(await g().create('/edges/https')).id}`;
      const routeId = route.split('/').at(-1);
      const strangers = [
        '/edges/tcp/edgtcp_gone/backend',
        '/edges/tcp/%00/backend',
        `${otherEdge}/routes/${routeId}/request_headers`,
        `/edges/https/edghts_gone/routes/${routeId}/request_headers`,
        `${route}x/request_headers`,
      ];
      const module = { backend_id: await newBackend() };
      for (const path of strangers) {
        const body = path.endsWith('backend') ? module : {};
        await refuses(g(), ['PUT', path, body], 404, missing(path));
        await refuses(g(), ['GET', path], 404, missing(path));
        await refuses(g(), ['DELETE', path], 404, missing(path));
      }
    });

    test("another account's edges and routes have no modules", async () => {
      const stranger = await newStranger();
      for (const path of [`${edge}/ip_restriction`, `${route}/request_headers`]) {
        const body = path.endsWith('headers') ? {} : { ip_policy_ids: ['ipp_x'] };
        await refuses(g(), ['PUT', path, body, stranger], 404, missing(path));
        await refuses(g(), ['GET', path, undefined, stranger], 404, missing(path));
        await refuses(g(), ['DELETE', path, undefined, stranger], 404, missing(path));
      }
    });

    test('a module is taken flat, wrapped, with the ids of the path, and empty where that is enough', async () => {
      const [, , , edge_id, , id] = route.split('/');
      const path = `${route}/request_headers`;
      const module = { add: { 'X-One': '1' }, remove: ['X-Two'] };
      const shown = { enabled: true, add: { 'x-one': '1' }, remove: ['x-two'] };
      for (const body of [
        module,
        { ...module, id, edge_id },
        { module },
        { module, id, edge_id },
        { module: { ...module, enabled: null }, id },
      ]) {
        const { status, body: answer } = await g().put(path, body);
        assert.equal(status, 200);
        assert.deepEqual(answer, shown);
        assert.deepEqual((await g().get(path)).body, shown);
      }
      for (const body of [
        undefined,
        {},
        { module: {} },
        { module: null },
        { id, edge_id },
        { add: null, remove: null },
      ]) {
        const { status, body: answer } = await g().put(path, body);
        assert.equal(status, 200);
        assert.deepEqual(answer, { enabled: true, add: {}, remove: [] });
      }
      await refuses(g(), ['PUT', path, { ...module, id: 'edghtsrt_other' }], 400, 20015);
      await refuses(g(), ['PUT', path, { module, edge_id: 'edghts_other' }], 400, 20015);
      await refuses(g(), ['PUT', path, { module: [] }], 400, 214);
      await refuses(g(), ['PUT', path, { ...module, order: 1 }], 400, 214);
      await refuses(g(), ['PUT', path, { ...module, enabled: 'true' }], 400, 215);
      await refuses(g(), ['PUT', path, [module]], 400, 213);
    });

    test('PUT replaces all of a module, an equal one changes nothing, DELETE takes it away', async () => {
      for (const holder of [edge, route]) {
        const path = `${holder}/ip_restriction`;
        const [first, second] = [await newPolicy(), await newPolicy()];
        const body = { enabled: false, ip_policy_ids: [second, first] };
        const shown = { enabled: false, ip_policies: [refOf('/ip_policies', second), refOf('/ip_policies', first)] };
        assert.deepEqual((await g().put(path, body)).body, shown);
        await unchanged(async () => {
          assert.deepEqual((await g().put(path, body)).body, shown);
        });
        assert.deepEqual((await g().get(path)).body, shown);
        assert.deepEqual((await g().get(holder)).body.ip_restriction, shown);
        const replaced = await g().put(path, { ip_policy_ids: [first] });
        assert.deepEqual(replaced.body, { enabled: true, ip_policies: [refOf('/ip_policies', first)] });
        assert.equal((await g().delete(path)).status, 204);
        assert.equal((await g().get(holder)).body.ip_restriction, null);
        await refuses(g(), ['GET', path], 404, 20008);
      }
    });

    test('a module is written back as it was read, with what it refers to', async () => {
      const authority = await g().create('/certificate_authorities', { ca_pem: new ClientAuthority('staff').pem });
      const policy = await newPolicy();
      const login = { network: 'or_login', ip_policy_ids: [policy] };
      const secret = { client_id: 'us', client_secret: 'a long secret' };
      const httpsEdge = route.split('/routes/')[0] ?? '';
      for (const [module, body, shownField, ids] of [
        [`${edge}/backend`, { backend_id: await newBackend() }, 'backend', 'backend_id'],
        [`${route}/ip_restriction`, { ip_policy_ids: [policy] }, 'ip_policies', 'ip_policy_ids'],
        [`${route}/oidc`, { issuer: 'https://id.example.com', ...secret, ...login }, 'ip_policies', 'ip_policy_ids'],
        [`${route}/oauth`, { provider: { gitlab: secret }, ...login }, 'ip_policies', 'ip_policy_ids'],
        [
          `${httpsEdge}/mutual_tls`,
          { certificate_authority_ids: [authority.id] },
          'certificate_authorities',
          'certificate_authority_ids',
        ],
      ] as const) {
        const shown = (await g().put(module, body)).body;
        await unchanged(async () => {
          assert.deepEqual((await g().put(module, shown)).body, shown);
          assert.deepEqual((await g().put(module, { module: shown })).body, shown);
        });
        const off = { ...shown, enabled: false };
        assert.deepEqual((await g().put(module, off)).body, off);
        // Ids that are given beside it are what counts.
        assert.deepEqual((await g().put(module, { ...off, ...body, enabled: true })).body, shown);
        const other = shownField === 'backend' ? {} : [];
        const message = await refuses(g(), ['PUT', module, { ...shown, [shownField]: other }], 400, shownNotTaken.code);
        assert.match(message, new RegExp(`"${shownField}".*"${ids}"`));
        assert.deepEqual((await g().get(module)).body, shown);
        await g().delete(module);
        await refuses(g(), ['PUT', module, shown], 400, shownNotTaken.code);
      }
    });

    test('a module shows nothing that it does not take but what it refers to', () => {
      for (const target of ['tcp_edge', 'tls_edge', 'https_edge', 'https_route'] as const) {
        for (const module of modulesFor(target)) {
          const { name, input, view } = module;
          const [taken, shown] = [input, view].map((schema) => Object.keys(Object(schema).properties));
          const referring = fieldReferences(module).map(({ nameField }) => nameField);
          assert.deepEqual(
            shown?.filter((field) => !taken?.includes(field)),
            referring,
            name,
          );
        }
      }
    });

    test('compression is on or off, and nothing else', async () => {
      const path = `${route}/compression`;
      for (const [body, enabled] of [
        [undefined, true],
        [{ enabled: false }, false],
        [{ module: {} }, true],
      ] as const) {
        assert.deepEqual((await g().put(path, body)).body, { enabled });
        assert.deepEqual((await g().get(path)).body, { enabled });
        assert.deepEqual((await g().get(route)).body.compression, { enabled });
      }
      await refuses(g(), ['PUT', path, { level: 9 }], 400, 214);
      await refuses(g(), ['PUT', path, { enabled: 'no' }], 400, 215);
      assert.equal((await g().delete(path)).status, 204);
      assert.equal((await g().get(route)).body.compression, null);
    });

    test('modules are set and taken away each on its own', async () => {
      for (const holder of [edge, route]) {
        const backend = (await g().put(`${holder}/backend`, { backend_id: await newBackend() })).body;
        const restriction = (await g().put(`${holder}/ip_restriction`, { ip_policy_ids: [await newPolicy()] })).body;
        const both = (await g().get(holder)).body;
        assert.deepEqual([both.backend, both.ip_restriction], [backend, restriction]);
        await g().delete(`${holder}/ip_restriction`);
        const one = (await g().get(holder)).body;
        assert.deepEqual([one.backend, one.ip_restriction], [backend, null]);
        await g().delete(`${holder}/backend`);
      }
    });
  },
  { role: 'api' },
);
