import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse('IP policies', (g) => {
  test('a policy is created, read, listed, updated and deleted', async () => {
    const made = await g().create('/ip_policies', { description: 'offices', metadata: 'm' });
    const { id, uri, created_at, ...texts } = made;
    assert.match(id, /^ipp_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/ip_policies/${id}`);
    assert.match(created_at, /Z$/);
    assert.deepEqual(texts, { description: 'offices', metadata: 'm' });
    assert.deepEqual((await g().get(`/ip_policies/${id}`)).body, made);
    assert.deepEqual((await g().get('/ip_policies?limit=1')).body.ip_policies, [made]);
    const { description: _gone, ...cleared } = made;
    assert.deepEqual((await g().patch(`/ip_policies/${id}`, { description: '' })).body, cleared);
    assert.deepEqual((await g().patch(`/ip_policies/${id}`, {})).body, cleared);
    assert.equal((await g().delete(`/ip_policies/${id}`)).status, 204);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      await refuses(g(), [method, `/ip_policies/${id}`], 404, 222);
    }
  });

  test('an empty body makes a policy without texts', async () => {
    const { status, body } = await g().post('/ip_policies');
    assert.equal(status, 201);
    assert.deepEqual(Object.keys(body).toSorted(), ['created_at', 'id', 'uri']);
  });

  test('a policy has no action of its own', async () => {
    await refuses(g(), ['POST', '/ip_policies', { action: 'allow' }], 400, 214);
  });

  test('a policy that a restriction uses is not deleted, and the answer says who uses it', async () => {
    const { id } = await g().create('/ip_policies');
    const users = await Promise.all(
      ['endpoints', 'agent'].map((type) => g().create('/ip_restrictions', { type, ip_policy_ids: [id] })),
    );
    const message = await refuses(g(), ['DELETE', `/ip_policies/${id}`], 409, 1420);
    for (const user of users) assert.ok(message.includes(user.id));
    const other = await g().create('/ip_policies');
    await g().patch(`/ip_restrictions/${users[0].id}`, { ip_policy_ids: [other.id] });
    await refuses(g(), ['DELETE', `/ip_policies/${id}`], 409, 1420);
    await g().delete(`/ip_restrictions/${users[1].id}`);
    assert.equal((await g().delete(`/ip_policies/${id}`)).status, 204);
    await refuses(g(), ['DELETE', `/ip_policies/${other.id}`], 409, 1420);
  });

  test('of a deletion and a use at the same time, exactly one wins', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await g().create('/ip_policies');
      const [used, deleted] = await Promise.all([
        g().post('/ip_restrictions', { type: 'agent', ip_policy_ids: [id] }),
        g().delete(`/ip_policies/${id}`),
      ]);
      const won = [used.status === 201, deleted.status === 204];
      assert.equal(won.filter(Boolean).length, 1, `${used.text} ${deleted.text}`);
      assert.equal((await g().get(`/ip_policies/${id}`)).status, won[0] ? 200 : 404);
    }
  });

  test('a deleted policy takes its rules with it, also out of memory', async () => {
    const { id } = await g().create('/ip_policies');
    const rule = await g().create('/ip_policy_rules', { ip_policy_id: id, cidr: '10.0.0.0/8', action: 'allow' });
    assert.equal((await g().get(`/ip_policy_rules/${rule.id}`)).status, 200);
    await g().delete(`/ip_policies/${id}`);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      await refuses(g(), [method, `/ip_policy_rules/${rule.id}`], 404, 1404);
    }
    const listed = (await g().get('/ip_policy_rules')).body.ip_policy_rules;
    assert.ok(listed.every((each: { id: string }) => each.id !== rule.id));
  });

  test('members and bots write policies', async () => {
    for (const { token } of [await createUser(g(), 'member'), await createBot(g())]) {
      const { id } = await g().create('/ip_policies', {}, { token });
      assert.equal((await g().patch(`/ip_policies/${id}`, { metadata: 'x' }, { token })).status, 200);
      assert.equal((await g().delete(`/ip_policies/${id}`, { token })).status, 204);
    }
  });

  test('another account’s policies answer as if they did not exist', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const { id } = await g().create('/ip_policies', { description: 'ours' });
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      await refuses(g(), [method, `/ip_policies/${id}`, undefined, { token }], 404, 222);
    }
    await refuses(g(), ['PUT', `/ip_policies/${id}/rules`, [], { token }], 404, 222);
    const rule = { ip_policy_id: id, cidr: '10.0.0.0/8', action: 'allow' };
    await refuses(g(), ['POST', '/ip_policy_rules', rule, { token }], 400, 1402);
    await refuses(g(), ['POST', '/ip_restrictions', { type: 'api', ip_policy_ids: [id] }, { token }], 400, 1801);
    assert.deepEqual((await g().get('/ip_policies', { token })).body.ip_policies, []);
  });
});
