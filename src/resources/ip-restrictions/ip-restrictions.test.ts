import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse('IP restrictions', (g) => {
  const newPolicy = async (): Promise<string> => (await g().create('/ip_policies')).id;
  const fault = (body: unknown, code: number) => refuses(g(), ['POST', '/ip_restrictions', body], 400, code);
  const refs = (ids: readonly string[]) => ids.map((id) => ({ id, uri: `${g().url}/ip_policies/${id}` }));

  test('a restriction is created, read, listed, updated and deleted', async () => {
    const policies = [await newPolicy(), await newPolicy()];
    const texts = { description: 'offices only', metadata: '{"a":1}' };
    const sent = { ...texts, enforced: true, type: 'endpoints', ip_policy_ids: policies };
    const { status, body } = await g().post('/ip_restrictions', sent);
    assert.equal(status, 201);
    const { id, uri, created_at, ...rest } = body;
    assert.match(id, /^ipx_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/ip_restrictions/${id}`);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(rest, { ...texts, enforced: true, type: 'endpoints', ip_policies: refs(policies) });
    assert.deepEqual((await g().get(`/ip_restrictions/${id}`)).body, body);
    assert.deepEqual((await g().get('/ip_restrictions?limit=1')).body.ip_restrictions, [body]);
    const changed = { ...body, enforced: false, metadata: 'm' };
    assert.deepEqual((await g().patch(`/ip_restrictions/${id}`, { enforced: false, metadata: 'm' })).body, changed);
    assert.deepEqual((await g().get(`/ip_restrictions/${id}`)).body, changed);
    assert.equal((await g().delete(`/ip_restrictions/${id}`)).status, 204);
    for (const method of ['GET', 'PATCH', 'DELETE']) await refuses(g(), [method, `/ip_restrictions/${id}`], 404, 222);
  });

  test('every type is possible, and only warns unless it is said to be enforced', async () => {
    const ip_policy_ids = [await newPolicy()];
    for (const type of ['dashboard', 'api', 'agent', 'endpoints']) {
      const { body } = await g().post('/ip_restrictions', { type, ip_policy_ids, enforced: null });
      assert.equal(body.type, type);
      assert.equal(body.enforced, false);
      assert.deepEqual(Object.keys(body).toSorted(), ['created_at', 'enforced', 'id', 'ip_policies', 'type', 'uri']);
      await g().delete(`/ip_restrictions/${body.id}`);
    }
  });

  test('several restrictions of one type are possible', async () => {
    const body = { type: 'agent', ip_policy_ids: [await newPolicy()], enforced: true };
    const [first, second] = [await g().create('/ip_restrictions', body), await g().create('/ip_restrictions', body)];
    assert.notEqual(first.id, second.id);
  });

  test('policies come back in the order of the request', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, newPolicy));
    for (const order of [ids, ids.toReversed(), [ids[2], ids[0], ids[4]]].map((list) =>
      list.filter((id) => id !== undefined),
    )) {
      const made = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: order });
      assert.deepEqual(made.ip_policies, refs(order));
      const turned = await g().patch(`/ip_restrictions/${made.id}`, { ip_policy_ids: order.toReversed() });
      assert.deepEqual(turned.body.ip_policies, refs(order.toReversed()));
      assert.deepEqual((await g().get(`/ip_restrictions/${made.id}`)).body.ip_policies, refs(order.toReversed()));
    }
  });

  test('type and at least one policy are required, and must be known', async () => {
    const policy = await newPolicy();
    const whole = { type: 'agent', ip_policy_ids: [policy] };
    assert.ok((await fault({ ip_policy_ids: [policy] }, 20012)).includes('"type"'));
    await fault({ ...whole, type: null }, 20012);
    for (const type of ['', 'API', 'web', 7, ['api']]) await fault({ ...whole, type }, 1803);
    await fault({ type: 'agent' }, 1804);
    await fault({ type: 'agent', ip_policy_ids: null }, 1804);
    await fault({ type: 'agent', ip_policy_ids: [] }, 1804);
    assert.ok(
      (await fault({ ...whole, ip_policy_ids: [policy, 'ipp_000000000000000000000000000'] }, 1801)).includes('ipp_000'),
    );
    for (const id of ['', 'x', 'ipx_000000000000000000000000000', 'ipp_', 'ipp_\0', 'ipp_a b']) {
      await fault({ ...whole, ip_policy_ids: [policy, id] }, 229);
    }
    assert.ok((await fault({ ...whole, ip_policy_ids: [policy, policy] }, 20009)).includes(policy));
    for (const ip_policy_ids of [policy, { 0: policy }, [[policy]], [7], [null], true]) {
      await fault({ ...whole, ip_policy_ids }, 215);
    }
    for (const enforced of ['true', 1, 0, 'no', []]) await fault({ ...whole, enforced }, 215);
    await fault({ ...whole, description: 'é'.repeat(128) }, 20011);
    await fault({ ...whole, metadata: 'é'.repeat(2049) }, 20011);
    await fault({ ...whole, ip_policies: [policy] }, 214);
  });

  test('an update keeps what it leaves out, and [] counts as left out', async () => {
    const [first, second] = [await newPolicy(), await newPolicy()];
    const made = await g().create('/ip_restrictions', {
      type: 'agent',
      enforced: true,
      ip_policy_ids: [first],
      metadata: 'm',
    });
    const patch = async (body: unknown) => (await g().patch(`/ip_restrictions/${made.id}`, body)).body;
    const { version } = g().app.context.store;
    for (const body of [{}, { ip_policy_ids: [] }, { ip_policy_ids: null, enforced: null }, { id: made.id }]) {
      assert.deepEqual(await patch(body), made);
    }
    assert.equal(g().app.context.store.version, version);
    assert.deepEqual(await patch({ ip_policy_ids: [second] }), { ...made, ip_policies: refs([second]) });
    assert.equal((await g().delete(`/ip_policies/${first}`)).status, 204);
    await refuses(g(), ['DELETE', `/ip_policies/${second}`], 409, 1420);
  });

  test('an update takes no type, and refuses what a creation refuses', async () => {
    const policy = await newPolicy();
    const made = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] });
    const path = `/ip_restrictions/${made.id}`;
    await refuses(g(), ['PATCH', path, { type: 'dashboard' }], 400, 20190);
    await refuses(g(), ['PATCH', path, { ip_policy_ids: [policy, policy] }], 400, 20009);
    await refuses(g(), ['PATCH', path, { ip_policy_ids: ['ipp_000000000000000000000000000'] }], 400, 1801);
    await refuses(g(), ['PATCH', path, { ip_policy_ids: ['nonsense'] }], 400, 229);
    await refuses(g(), ['PATCH', path, { enforced: 'false' }], 400, 215);
    assert.deepEqual((await g().get(path)).body, made);
  });

  test('only admins write restrictions; all of the account read them', async () => {
    const made = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [await newPolicy()] });
    for (const { token } of [await createUser(g(), 'member'), await createBot(g())]) {
      const body = { type: 'agent', ip_policy_ids: [await newPolicy()] };
      await refuses(g(), ['POST', '/ip_restrictions', body, { token }], 403, 20007);
      await refuses(g(), ['PATCH', `/ip_restrictions/${made.id}`, {}, { token }], 403, 20007);
      await refuses(g(), ['DELETE', `/ip_restrictions/${made.id}`, undefined, { token }], 403, 20007);
      assert.deepEqual((await g().get(`/ip_restrictions/${made.id}`, { token })).body, made);
      assert.equal((await g().get('/ip_restrictions', { token })).status, 200);
    }
  });

  test('another account’s restrictions answer as if they did not exist', async () => {
    const made = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [await newPolicy()] });
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      await refuses(g(), [method, `/ip_restrictions/${made.id}`, undefined, { token }], 404, 222);
    }
    await refuses(g(), ['GET', `/ip_restrictions/${made.id}/warnings`, undefined, { token }], 404, 222);
    assert.deepEqual((await g().get('/ip_restrictions', { token })).body.ip_restrictions, []);
  });
});
