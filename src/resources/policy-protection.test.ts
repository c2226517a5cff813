import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { createBot, createUser } from '../../test/support/people.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onEachGatehouse } from '../../test/support/shared-gatehouse.ts';

const allowLockout = { headers: { 'gatehouse-allow-lockout': 'true' } };

interface Made {
  readonly policy: string;
  readonly rule: string;
}

/** A policy that lets the caller in, with one rule. */
async function makePolicy(g: Gatehouse): Promise<Made> {
  const { id: policy } = await g.create('/ip_policies');
  const { id: rule } = await g.create('/ip_policy_rules', {
    ip_policy_id: policy,
    cidr: '127.0.0.0/8',
    action: 'allow',
  });
  return { policy, rule };
}

/** Every call that writes the policy or its rules. */
function writesOf({ policy, rule }: Made): readonly (readonly [method: string, path: string, body?: unknown])[] {
  return [
    ['POST', '/ip_policy_rules', { ip_policy_id: policy, cidr: '0.0.0.0/0', action: 'allow' }],
    ['POST', '/ip_policy_rules', { ip_policy_id: policy, cidr: '127.0.0.1/32', action: 'deny' }],
    ['PATCH', `/ip_policy_rules/${rule}`, { cidr: '126.0.0.0/7' }],
    ['PATCH', `/ip_policy_rules/${rule}`, {}],
    ['PUT', `/ip_policies/${policy}/rules`, ['0.0.0.0/0']],
    ['PUT', `/ip_policies/${policy}/rules`, ['127.0.0.0/8']],
    ['PATCH', `/ip_policies/${policy}`, { description: 'mine' }],
    ['PATCH', `/ip_policies/${policy}`, {}],
    ['DELETE', `/ip_policy_rules/${rule}`],
    ['DELETE', `/ip_policies/${policy}`],
  ];
}

onEachGatehouse('policies that decide who may call', (g) => {
  for (const type of ['api', 'dashboard']) {
    test(`members and bots write no policy of an enforced ${type} restriction, nor its rules`, async () => {
      const made = await makePolicy(g());
      const { id } = await g().create('/ip_restrictions', { type, enforced: true, ip_policy_ids: [made.policy] });
      for (const { token } of [await createUser(g(), 'member'), await createBot(g())]) {
        for (const [method, path, body] of writesOf(made)) {
          const message = await refuses(g(), [method, path, body, { token }], 403, 20067);
          for (const word of [made.policy, id, type, 'only an admin']) assert.ok(message.includes(word), message);
        }
        await refuses(
          g(),
          ['DELETE', `/ip_policies/${made.policy}`, undefined, { token, ...allowLockout }],
          403,
          20067,
        );
      }
      await g().delete(`/ip_restrictions/${id}`);
    });
  }

  test('an admin writes them, and deletes a policy once nothing uses it', async () => {
    const made = await makePolicy(g());
    const { id } = await g().create('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [made.policy] });
    const spare = await makePolicy(g());
    await g().patch(`/ip_restrictions/${id}`, { ip_policy_ids: [made.policy, spare.policy] });
    assert.equal((await g().put(`/ip_policies/${made.policy}/rules`, ['127.0.0.0/8', '10.0.0.0/8'])).status, 200);
    assert.equal((await g().patch(`/ip_policies/${made.policy}`, { description: 'x' })).status, 200);
    assert.equal((await g().delete(`/ip_policy_rules/${made.rule}`)).status, 204);
    await refuses(g(), ['DELETE', `/ip_policies/${made.policy}`], 409, 1420);
    await g().delete(`/ip_restrictions/${id}`);
    assert.equal((await g().delete(`/ip_policies/${made.policy}`)).status, 204);
  });

  test('members write policies of restrictions that only warn or are of other traffic', async () => {
    const { token } = await createUser(g(), 'member');
    for (const [type, enforced] of [
      ['api', false],
      ['dashboard', false],
      ['agent', true],
      ['endpoints', true],
    ] as const) {
      const made = await makePolicy(g());
      await g().create('/ip_restrictions', { type, enforced, ip_policy_ids: [made.policy] });
      const statuses: number[] = [];
      for (const [method, path, body] of writesOf(made)) {
        statuses.push((await g().call(method, path, body, { token })).status);
      }
      // The replacement drops the first rule; a policy in use is not deleted.
      assert.deepEqual(statuses, [201, 201, 200, 200, 200, 200, 200, 200, 404, 409], `${type} ${enforced}`);
    }
  });

  test('a policy is free again once the restriction is not enforced, has other policies, or is gone', async () => {
    const { token } = await createUser(g(), 'member');
    const [made, other] = [await makePolicy(g()), await makePolicy(g())];
    const { id } = await g().create('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [made.policy] });
    const write = async () => (await g().patch(`/ip_policies/${made.policy}`, {}, { token })).status;
    const change = (body: object) => g().patch(`/ip_restrictions/${id}`, body);
    assert.equal(await write(), 403);
    await change({ enforced: false });
    assert.equal(await write(), 200);
    await change({ enforced: true });
    assert.equal(await write(), 403);
    await change({ ip_policy_ids: [other.policy] });
    assert.equal(await write(), 200);
    await change({ ip_policy_ids: [other.policy, made.policy] });
    assert.equal(await write(), 403);
    await g().delete(`/ip_restrictions/${id}`);
    assert.equal(await write(), 200);
  });

  test('a rule is not moved into such a policy, and a repeated call with an Idempotency-Key is checked again', async () => {
    const { token } = await createUser(g(), 'member');
    const [made, own] = [await makePolicy(g()), await makePolicy(g())];
    const body = { ip_policy_id: made.policy, cidr: '10.0.0.0/8', action: 'allow' };
    const options = { token, headers: { 'idempotency-key': `rule of ${made.policy}`.replaceAll(' ', '-') } };
    assert.equal((await g().post('/ip_policy_rules', body, options)).status, 201);
    const enforced = { type: 'api', enforced: true, ip_policy_ids: [made.policy] };
    const { id } = await g().create('/ip_restrictions', enforced);
    await refuses(g(), ['POST', '/ip_policy_rules', body, options], 403, 20067);
    const moved = ['PATCH', `/ip_policy_rules/${own.rule}`, { ip_policy_id: made.policy }, { token }] as const;
    await refuses(g(), moved, 400, 214);
    await g().delete(`/ip_restrictions/${id}`);
    assert.equal((await g().post('/ip_policy_rules', body, options)).status, 201);
  });

  test('ids of no policy, and of no policy of the account, are answered as before', async () => {
    const { token } = await createUser(g(), 'member');
    const rule = (ip_policy_id: string) => ({ ip_policy_id, cidr: '10.0.0.0/8', action: 'allow' });
    await refuses(g(), ['POST', '/ip_policy_rules', rule('ipp_\0'), { token }], 400, 1414);
    await refuses(g(), ['POST', '/ip_policy_rules', rule(`ipp_${'0'.repeat(27)}`), { token }], 400, 1402);
  });
});

onEachDatabase('a restriction that is enforced while a member writes its policy', (newDatabase) => {
  test('counts from the moment it is stored, whichever process stores it', async () => {
    const database = await newDatabase();
    await using enforcing = await Gatehouse.start(database);
    await using writing = await Gatehouse.start(database);
    const { token } = await createUser(enforcing, 'member');
    const versionOf = async (id: string) => {
      const sql = 'SELECT max(version) FROM change_log WHERE resource_id = $1';
      return Number((await enforcing.app.context.store.queries.all(sql, [id]))[0]?.[0]);
    };
    for (let round = 0; round < 15; round++) {
      const { policy } = await makePolicy(enforcing);
      const trial = await enforcing.create('/ip_restrictions', { type: 'dashboard', ip_policy_ids: [policy] });
      const through = round % 2 === 0 ? writing : enforcing;
      const rules = Array.from({ length: 4 }, (_, at) => ({
        ip_policy_id: policy,
        cidr: `10.${at}.0.0/16`,
        action: 'deny',
      }));
      const [enforced, ...written] = await Promise.all([
        enforcing.patch(`/ip_restrictions/${trial.id}`, { enforced: true }),
        ...rules.map((rule) => through.post('/ip_policy_rules', rule, { token })),
      ]);
      assert.equal(enforced.status, 200);
      const enforcedAt = await versionOf(trial.id);
      for (const { status, body, text } of written) {
        if (status === 201)
          assert.ok((await versionOf(body.id)) < enforcedAt, 'a rule was written after it was enforced');
        else assert.equal(body.error_code, 'ERR_GATEHOUSE_20067', text);
      }
      const late = { ip_policy_id: policy, cidr: '10.9.0.0/16', action: 'deny' };
      assert.equal((await through.post('/ip_policy_rules', late, { token })).status, 403);
    }
  });
});
