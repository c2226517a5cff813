import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

const [weighted, failover, fixed] = ['/backends/weighted', '/backends/failover', '/backends/http_response'];

onGatehousesInTurn(
  'backends that stand for others',
  (g) => {
    const newStatic = async (): Promise<string> => (await g().create('/backends/static', { address: 'a:1' })).id;
    const newFailover = async (...backends: readonly string[]): Promise<string> =>
      (await g().create(failover, { backends })).id;

    test('are created with weights or an order, read back the same, and changed', async () => {
      const [a, b] = [await newStatic(), (await g().create('/backends/tunnel_group', { labels: { app: 'x' } })).id];
      const made = await g().create(weighted, { description: 'd', backends: { [a]: 90, [b]: 0 } });
      assert.match(made.id, /^bkdwd_[0-9A-Za-z]{27}$/);
      assert.deepEqual(made.backends, { [a]: 90, [b]: 0 });
      assert.deepEqual((await g().get(`${weighted}/${made.id}`)).body, made);
      const order = await g().create(failover, { backends: [b, made.id] });
      assert.match(order.id, /^bkdfo_/);
      assert.deepEqual(order.backends, [b, made.id]);
      const { body } = await g().patch(`${failover}/${order.id}`, { backends: [a, b] });
      assert.deepEqual(body.backends, [a, b]);
      // As official clients send what was not given.
      assert.deepEqual((await g().patch(`${failover}/${order.id}`, { backends: [] })).body.backends, [a, b]);
      assert.deepEqual((await g().patch(`${weighted}/${made.id}`, { backends: {} })).body, made);
      assert.equal((await g().get(weighted)).body.backends[0].id, made.id);
    });

    test('name other backends of the account, each once, and something with a weight', async () => {
      const a = await newStatic();
      for (const path of [weighted, failover]) await refuses(g(), ['POST', path, {}], 400, 20287);
      await refuses(g(), ['POST', weighted, { backends: {} }], 400, 20287);
      await refuses(g(), ['POST', failover, { backends: ['ipp_x'] }], 400, 20288);
      await refuses(g(), ['POST', failover, { backends: ['bkdsc_gone'] }], 400, 20289);
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      await refuses(g(), ['POST', weighted, { backends: { [a]: 1 } }, { token }], 400, 20289);
      await refuses(g(), ['POST', failover, { backends: [a, a] }], 400, 20009);
      await refuses(g(), ['POST', weighted, { backends: { [a]: 0 } }], 400, 20293);
      for (const weight of [-1, 10_001, 1.5, '1']) {
        assert.equal((await g().post(weighted, { backends: { [a]: weight } })).status, 400);
      }
      const many = await Promise.all(Array.from({ length: 101 }, newStatic));
      await refuses(g(), ['POST', failover, { backends: many }], 400, 20290);
    });

    test('never lead back to themselves, and not over more than five steps', async () => {
      const a = await newStatic();
      const first = await newFailover(a);
      const second = (await g().create(weighted, { backends: { [first]: 1 } })).id;
      const third = await newFailover(second);
      await refuses(g(), ['PATCH', `${failover}/${first}`, { backends: [first] }], 400, 20291);
      await refuses(g(), ['PATCH', `${failover}/${first}`, { backends: [a, third] }], 400, 20291);
      const fourth = await newFailover(third);
      const fifth = await newFailover(fourth);
      await refuses(g(), ['POST', failover, { backends: [fifth] }], 400, 20292);
      const alone = await newFailover(a);
      await refuses(g(), ['PATCH', `${failover}/${first}`, { backends: [alone] }], 400, 20292);
      assert.deepEqual((await g().get(`${failover}/${first}`)).body.backends, [a]);
    });

    test('stay while they are named, and so do their members', async () => {
      const a = await newStatic();
      const inner = await newFailover(a);
      const outer = await newFailover(inner);
      const edge = await g().create('/edges/tcp', { backend: { backend_id: outer } });
      assert.equal(edge.backend.backend.uri, `${g().url}${failover}/${outer}`);
      assert.ok((await refuses(g(), ['DELETE', `/backends/static/${a}`], 409, 20013)).includes(inner));
      const b = await newStatic();
      await g().patch(`${failover}/${inner}`, { backends: [b] });
      assert.equal((await g().delete(`/backends/static/${a}`)).status, 204);
      assert.ok((await refuses(g(), ['DELETE', `/backends/static/${b}`], 409, 20013)).includes(inner));
      assert.ok((await refuses(g(), ['DELETE', `${failover}/${inner}`], 409, 20013)).includes(outer));
      assert.ok((await refuses(g(), ['DELETE', `${failover}/${outer}`], 409, 20013)).includes(edge.id));
      await g().delete(`/edges/tcp/${edge.id}`);
      for (const path of [`${failover}/${outer}`, `${failover}/${inner}`, `/backends/static/${b}`])
        assert.equal((await g().delete(path)).status, 204);
    });

    test('a fixed answer has a status, headers and a body', async () => {
      const made = await g().create(fixed, { headers: { 'Retry-After': '60' }, body: 'Grüße' });
      assert.match(made.id, /^bkdhr_/);
      assert.deepEqual([made.status_code, made.headers, made.body], [200, { 'Retry-After': '60' }, 'Grüße']);
      const { body } = await g().patch(`${fixed}/${made.id}`, { status_code: 503, headers: {} });
      assert.deepEqual([body.status_code, body.headers], [503, { 'Retry-After': '60' }]);
      await refuses(g(), ['POST', fixed, { headers: { 'content-length': '1' } }], 400, 20017);
      await refuses(g(), ['POST', fixed, { headers: { a: 'b\r\nc: d' } }], 400, 7024);
      for (const wrong of [{ status_code: 199 }, { status_code: 600 }, { body: 'x'.repeat(65_537) }])
        assert.equal((await g().post(fixed, wrong)).status, 400);
    });

    test('files make them in the order in which they need each other, and unmake them in the other', async () => {
      const entries = [
        { kind: 'weighted_backends', name: 'split', backends: { primary: 90, maintenance: 10 } },
        { kind: 'failover_backends', name: 'outer', backends: ['split', 'maintenance'] },
        { kind: 'failover_backends', name: 'primary', backends: ['app', 'inner'] },
        { kind: 'weighted_backends', name: 'inner', backends: { app: 1 } },
        { kind: 'static_backends', name: 'app', address: 'app.internal:80' },
        { kind: 'http_response_backends', name: 'maintenance', status_code: 503, body: 'Later.' },
        { kind: 'https_edges', name: 'site', routes: { '/': { backend: { backend: 'outer' } } } },
      ];
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      const apply = async (list: readonly object[], query = '') => {
        const { status, body } = await g().post(`/configuration${query}`, list, { token });
        assert.equal(status, 200, JSON.stringify(body));
        return body;
      };
      await apply(entries, '?dry_run=true');
      assert.equal((await apply(entries)).created, 7);
      assert.equal((await apply(entries)).unchanged, 7);
      const exported = (await g().get('/configuration', { token })).body.entries;
      assert.deepEqual(exported.find(({ name }: { name: string }) => name === 'split').backends, {
        primary: 90,
        maintenance: 10,
      });
      assert.equal((await apply(exported)).unchanged, 7);
      const changed = entries.map((entry) => (entry.name === 'split' ? { ...entry, backends: { primary: 1 } } : entry));
      assert.deepEqual((await apply(changed)).steps[0].fields, [
        { field: 'backends', before: { primary: 90, maintenance: 10 }, after: { primary: 1 } },
      ]);
      assert.equal((await apply([], '?prune=true')).deleted, 7);
    });
  },
  { role: 'api' },
);
