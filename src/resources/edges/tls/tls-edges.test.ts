import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClientAuthority } from '../../../../test/support/client-certificates.ts';
import { createAccount, createUser } from '../../../../test/support/people.ts';
import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { minVersionUpstream } from '../../../modules/tls-termination/index.ts';
import { certificatesUnread, httpsEndsUpstream } from '../errors.ts';

const path = '/edges/tls';
const authority = new ClientAuthority('staff');

onGatehousesInTurn(
  'TLS edges',
  (g) => {
    let number = 0;
    const newHostport = () => `t${number++}.example.com:443`;
    const newBackend = async () => (await g().create('/backends/static', { address: 'a:1' })).id;
    const newPolicy = async () => (await g().create('/ip_policies')).id;
    const newAuthority = async () => (await g().create('/certificate_authorities', { ca_pem: authority.pem })).id;
    const refOf = (collection: string, id: string) => ({ id, uri: `${g().url}${collection}/${id}` });
    const lastChange = async (id: string): Promise<string> =>
      (await g().get(`/changes?resource_id=${id}&limit=1`)).body.changes[0].id;

    test('an edge is created with every field, and read back the same', async () => {
      const [backend, policy, ca] = [await newBackend(), await newPolicy(), await newAuthority()];
      const { status, body } = await g().post(path, {
        description: 'database',
        metadata: '{"a":1}',
        hostports: ['DB.example.com:443', '*.db.example.com:443'],
        backend: { backend_id: backend },
        ip_restriction: { enabled: false, ip_policy_ids: [policy] },
        rate_limit: { limit: 5, window_seconds: 60 },
        mutual_tls: { certificate_authority_ids: [ca] },
        tls_termination: { terminate_at: 'edge', min_version: '1.3' },
      });
      assert.equal(status, 201);
      const { id, created_at, ...rest } = body;
      assert.match(id, /^edgtls_[0-9A-Za-z]{27}$/);
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(rest, {
        uri: `${g().url}${path}/${id}`,
        description: 'database',
        metadata: '{"a":1}',
        hostports: ['db.example.com:443', '*.db.example.com:443'],
        backend: { enabled: true, backend: refOf('/backends/static', backend) },
        ip_restriction: { enabled: false, ip_policies: [refOf('/ip_policies', policy)] },
        rate_limit: { enabled: true, limit: 5, window_seconds: 60, by: 'source', header: null, enforced: true },
        mutual_tls: { enabled: true, certificate_authorities: [refOf('/certificate_authorities', ca)] },
        tls_termination: { enabled: true, terminate_at: 'edge', min_version: '1.3' },
        policy: null,
        traffic_policy: null,
      });
      assert.deepEqual((await g().get(`${path}/${id}`)).body, body);
      const listed = (await g().get(`${path}?limit=1`)).body;
      assert.deepEqual(listed.tls_edges, [body]);
      const endpoints = (await g().get('/endpoints?limit=2')).body.endpoints;
      assert.deepEqual(
        endpoints.map(({ proto, edge }: { readonly proto: string; readonly edge: object }) => [proto, edge]),
        [1, 2].map(() => ['tls', refOf(path, id)]),
      );
      for (const used of [`/backends/static/${backend}`, `/ip_policies/${policy}`, `/certificate_authorities/${ca}`])
        assert.equal((await g().delete(used)).status, 409, used);
      assert.equal((await g().delete(`${path}/${id}`)).status, 204);
      for (const free of [`/backends/static/${backend}`, `/ip_policies/${policy}`, `/certificate_authorities/${ca}`])
        assert.equal((await g().delete(free)).status, 204, free);
    });

    test('an edge of nothing has null for hostports and modules', async () => {
      for (const nothing of [undefined, {}, { hostports: null, backend: null, tls_termination: null }]) {
        const { id: _id, uri: _uri, created_at: _at, ...rest } = await g().create(path, nothing);
        const own = ['backend', 'ip_restriction', 'mutual_tls', 'rate_limit', 'tls_termination'];
        const modules = [...own, 'policy', 'traffic_policy'];
        assert.deepEqual(rest, { hostports: null, ...Object.fromEntries(modules.map((name) => [name, null])) });
      }
    });

    test('what is passed on unread has no lowest version, and no certificates of visitors', async () => {
      const { id } = await g().create(path);
      const [own, ca] = [`${path}/${id}`, await newAuthority()];
      const upstream = { terminate_at: 'upstream' };
      const asking = { certificate_authority_ids: [ca] };
      await refuses(
        g(),
        ['PUT', `${own}/tls_termination`, { ...upstream, min_version: '1.2' }],
        400,
        minVersionUpstream.code,
      );
      assert.deepEqual((await g().put(`${own}/tls_termination`, upstream)).body, {
        enabled: true,
        terminate_at: 'upstream',
        min_version: null,
      });
      await refuses(g(), ['PUT', `${own}/mutual_tls`, asking], 400, certificatesUnread.code);
      assert.equal((await g().put(`${own}/mutual_tls`, { ...asking, enabled: false })).status, 200);
      await refuses(g(), ['POST', path, { mutual_tls: asking }], 400, certificatesUnread.code);
      const both = { mutual_tls: asking, tls_termination: {} };
      assert.equal((await g().patch(own, both)).status, 200);
      await refuses(g(), ['PUT', `${own}/tls_termination`, upstream], 400, certificatesUnread.code);
      await refuses(g(), ['PUT', `${own}/tls_termination`, { enabled: false }], 400, certificatesUnread.code);
      await refuses(g(), ['DELETE', `${own}/tls_termination`], 400, certificatesUnread.code);
      await refuses(g(), ['PATCH', own, { tls_termination: upstream }], 400, certificatesUnread.code);
      const entries = [
        { kind: 'certificate_authorities', name: 'visitors', ca_pem: authority.pem },
        { kind: 'tls_edges', name: 'x', mutual_tls: { certificate_authorities: ['visitors'] } },
      ];
      await refuses(g(), ['POST', '/configuration', entries], 400, certificatesUnread.code);
      assert.equal((await g().delete(`${own}/mutual_tls`)).status, 204);
      assert.equal((await g().delete(`${own}/tls_termination`)).status, 204);
    });

    test('TLS of an HTTPS edge ends at the edge', async () => {
      const { id } = await g().create('/edges/https', { tls_termination: { terminate_at: 'edge' } });
      const upstream = { terminate_at: 'upstream' };
      await refuses(g(), ['PUT', `/edges/https/${id}/tls_termination`, upstream], 400, httpsEndsUpstream.code);
      await refuses(g(), ['PATCH', `/edges/https/${id}`, { tls_termination: upstream }], 400, httpsEndsUpstream.code);
      await refuses(g(), ['POST', '/edges/https', { tls_termination: upstream }], 400, httpsEndsUpstream.code);
    });

    test('a host name belongs to one edge, whether of HTTPS or TLS, and not to the installation', async () => {
      const stranger = await createUser(g(), 'admin', await createAccount(g()));
      for (const [first, second] of [
        [path, '/edges/https'],
        ['/edges/https', path],
        [path, path],
      ] as const) {
        const hostports = [newHostport()];
        const { id } = await g().create(first, { hostports });
        assert.ok((await refuses(g(), ['POST', second, { hostports }], 409, 7122)).includes(id));
        assert.doesNotMatch(await refuses(g(), ['POST', second, { hostports }, stranger], 409, 7122), /edg\w+_/);
        const other = await g().create(second, { hostports: [newHostport()] });
        await refuses(g(), ['PATCH', `${second}/${other.id}`, { hostports }], 409, 7122);
        await g().delete(`${first}/${id}`);
        assert.equal((await g().patch(`${second}/${other.id}`, { hostports })).status, 200);
      }
      await g().create(path, { hostports: ['*.shared-tls.example.com:443'] });
      const below = { hostports: ['a.shared-tls.example.com:443'] };
      await refuses(g(), ['POST', '/edges/https', below, stranger], 409, 20030);
      assert.equal((await g().post('/edges/https', below)).status, 201);
      assert.equal((await g().post('/reserved_domains', { domain: 'b.shared-tls.example.com' }, stranger)).status, 409);
      for (const hostport of ['192.0.2.1:443', 'a.*.example.com:443'])
        await refuses(g(), ['POST', path, { hostports: [hostport] }], 400, 7104);
      await refuses(g(), ['POST', path, { hostports: ['a.example.com:8443'] }], 400, 7116);
      assert.equal((await g().post(path, { hostports: ['localhost:443'] })).status, 409);
    });

    test('modules of elsewhere, and those that are not offered, are refused', async () => {
      for (const body of [{ saml: {} }, { request_headers: {} }, { x: 1 }])
        await refuses(g(), ['POST', path, body], 400, 214);
      await refuses(g(), ['POST', path, { traffic_policy: { value: '' } }], 400, 2236);
    });

    test('an address is tried against the module and the restrictions, and certificates are named', async () => {
      const policy = await newPolicy();
      await g().put(`/ip_policies/${policy}/rules`, ['192.0.2.0/24']);
      const { id } = await g().create(path, {
        ip_restriction: { ip_policy_ids: [policy] },
        mutual_tls: { certificate_authority_ids: [await newAuthority()] },
        tls_termination: {},
      });
      const check = async (ip: string) => (await g().post('/ip_check', { ip, edge_id: id })).body;
      const inside = await check('192.0.2.1');
      assert.equal(inside.allowed, true);
      assert.match(inside.explanation, /Then a visitor needs a certificate of .+ \(mutual_tls\)\.$/);
      const outside = await check('198.51.100.1');
      assert.deepEqual([outside.allowed, outside.checks.at(-1).id], [false, id]);
    });

    test('a deleted edge comes back by a revert, and a changed one is what it was', async () => {
      const edge = await g().create(path, { hostports: [newHostport()], tls_termination: { min_version: '1.3' } });
      const own = `${path}/${edge.id}`;
      await g().patch(own, { hostports: [newHostport()], tls_termination: { terminate_at: 'upstream' } });
      assert.equal((await g().post(`/changes/${await lastChange(edge.id)}/revert`)).status, 200);
      assert.deepEqual((await g().get(own)).body, edge);
      await g().delete(own);
      assert.equal((await g().post(`/changes/${await lastChange(edge.id)}/revert`)).status, 200);
      assert.deepEqual((await g().get(own)).body, edge);
    });

    test('files hold TLS edges, and move a name between kinds of edges', async () => {
      const name = newHostport();
      const shared = [
        { kind: 'certificate_authorities', name: 'visitors', ca_pem: authority.pem },
        { kind: 'static_backends', name: 'db', address: '127.0.0.1:5432' },
      ];
      const edge = {
        kind: 'tls_edges',
        name: 'db',
        hostports: [name.toUpperCase()],
        backend: { backend: 'db' },
        rate_limit: { limit: 5, window_seconds: 60, by: 'source', enforced: false },
        mutual_tls: { certificate_authorities: ['visitors'] },
        tls_termination: { min_version: '1.3' },
      };
      const admin = await createUser(g(), 'admin', await createAccount(g()));
      const apply = (entries: readonly object[]) => g().post('/configuration?prune=true', entries, admin);
      const made = await apply([...shared, edge]);
      assert.equal(made.status, 200, made.text);
      assert.equal((await apply([...shared, edge])).body.unchanged, 3);
      const entries = (await g().get('/configuration', admin)).body.entries;
      const exported = entries.find(({ kind }: { readonly kind: string }) => kind === 'tls_edges');
      assert.deepEqual(exported, { ...edge, hostports: [name] });
      const moved = await apply([...shared, { kind: 'https_edges', name: 'db', hostports: [name] }]);
      assert.equal(moved.status, 200, moved.text);
      assert.equal((await apply([...shared, edge])).status, 200);
    });
  },
  { role: 'api' },
);
