import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { hasLabels } from '../labels.ts';

const path = '/backends/tunnel_group';

test('a tunnel has the labels of a group if it has all of them', () => {
  assert.ok(hasLabels({ app: 'shop', tier: 'web' }, { app: 'shop' }));
  assert.ok(!hasLabels({ app: 'shop' }, { app: 'shop', tier: 'web' }));
  assert.ok(!hasLabels({ app: 'Shop' }, { app: 'shop' }));
  assert.ok(!hasLabels({}, { toString: 'x' }) && !hasLabels({}, { constructor: '' }));
});

onGatehousesInTurn(
  'tunnel group backends',
  (g) => {
    test('a backend is created with labels, and read back the same', async () => {
      const body = { description: 'd', metadata: 'm', labels: { app: 'shop', tier: 'web' } };
      const { status, body: made } = await g().post(path, body);
      assert.equal(status, 201);
      const { id, uri, created_at, ...rest } = made;
      assert.match(id, /^bkdtg_[0-9A-Za-z]{27}$/);
      assert.ok(uri.endsWith(`${path}/${id}`) && created_at);
      assert.deepEqual(rest, { ...body, tunnels: [] });
      assert.deepEqual((await g().get(`${path}/${id}`)).body, made);
      const moved = await g().patch(`${path}/${id}`, { labels: { app: 'blog' } });
      assert.deepEqual(moved.body.labels, { app: 'blog' });
      const described = await g().patch(`${path}/${id}`, { description: 'e', labels: {} });
      assert.deepEqual(
        [described.status, described.body.labels, described.body.description],
        [200, { app: 'blog' }, 'e'],
      );
      assert.deepEqual((await g().get(path)).body.backends[0].id, id);
    });

    test('labels are needed, few, short and of texts', async () => {
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`l${at}`, 'v']));
      for (const labels of [undefined, {}, { '': 'v' }, { a: 'v'.repeat(1025) }, { ['n'.repeat(256)]: 'v' }, many]) {
        await refuses(g(), ['POST', path, { labels }], 400, 20091);
      }
      assert.equal((await g().post(path, { labels: { a: 1 } })).status, 400);
      assert.equal((await g().post(path, { labels: ['a=b'] })).status, 400);
    });

    test('edges and routes name it as their backend, and it stays while they do', async () => {
      const { id } = await g().create(path, { labels: { app: 'shop' } });
      const edge = await g().create('/edges/tcp', { backend: { backend_id: id } });
      assert.deepEqual(edge.backend, { enabled: true, backend: { id, uri: `${g().url}${path}/${id}` } });
      const message = await refuses(g(), ['DELETE', `${path}/${id}`], 409, 20090);
      assert.ok(message.includes(edge.id));
      await g().delete(`/edges/tcp/${edge.id}`);
      assert.equal((await g().delete(`${path}/${id}`)).status, 204);
    });

    test('another account cannot name it', async () => {
      const { id } = await g().create(path, { labels: { app: 'shop' } });
      const { token } = await createUser(g(), 'admin', await createAccount(g()));
      await refuses(g(), ['POST', '/edges/tcp', { backend: { backend_id: id } }, { token }], 400, 6501);
    });
  },
  { role: 'api' },
);
