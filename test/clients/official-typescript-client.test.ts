import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ngrok } from '@ngrok/ngrok-api';

import { newId } from '../../src/lib/ids.ts';
import { visitors } from '../../src/resources/visitors/service.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { errorOf, expectDeleted, startWithClient } from './support/typescript-client.ts';

onAnyDatabase('the official TypeScript client', (newDatabase) => {
  test('creates, reads, lists, updates and deletes API keys', async () => {
    await using world = await startWithClient(await newDatabase());
    const { apiKeys } = world.client;
    const created = await apiKeys.create({ description: 'deploy', metadata: '{"a":1}' });
    assert.match(created.token ?? '', /^\w{27}_\w{43}$/);
    const bot = await world.client.botUsers.create({ name: 'owner' });
    assert.equal((await apiKeys.create({ ownerId: bot.id })).ownerId, bot.id);
    const { token: _shownOnce, ...rest } = created;
    assert.deepEqual(await apiKeys.get(created.id), { ...rest, token: null });
    // The client sends the id in the body too.
    const updated = await apiKeys.update({ id: created.id, description: 'changed' });
    assert.deepEqual([updated.description, updated.metadata, updated.token], ['changed', '{"a":1}', null]);
    assert.ok((await apiKeys.list()).some(({ id }) => id === created.id));
    await expectDeleted(apiKeys.delete(created.id), () => apiKeys.get(created.id));
  });

  test('creates with no argument at all', async () => {
    await using world = await startWithClient(await newDatabase());
    const { apiKeys, ipPolicies } = world.client;
    // JavaScript callers omit the argument, though the types require it.
    const nothing = undefined as unknown as object;
    const key = await apiKeys.create(nothing);
    const policy = await ipPolicies.create(nothing);
    assert.match(key.id, /^ak_/);
    assert.match(policy.id, /^ipp_/);
  });

  test('lists everything beyond one page, newest first, each entry once', async () => {
    await using world = await startWithClient(await newDatabase());
    const { ipPolicies } = world.client;
    const ids: string[] = [];
    for (let count = 0; count < 205; count++) ids.unshift((await world.gatehouse.create('/ip_policies')).id);
    assert.deepEqual(
      (await ipPolicies.list()).map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      (await ipPolicies.list(undefined, '7')).map(({ id }) => id),
      ids,
    );
    assert.deepEqual(
      (await ipPolicies.list(ids[150], '20')).map(({ id }) => id),
      ids.slice(151),
    );
    assert.deepEqual(await ipPolicies.list(ids.at(-1)), []);
  });

  test('works with bot users', async () => {
    await using world = await startWithClient(await newDatabase());
    const { botUsers } = world.client;
    const bot = await botUsers.create({ name: 'robot', active: true });
    assert.deepEqual(await botUsers.get(bot.id), bot);
    const updated = await botUsers.update({ id: bot.id, active: false });
    assert.deepEqual(updated, { ...bot, active: false });
    assert.deepEqual(await botUsers.list(), [updated]);
    assert.equal((await errorOf(botUsers.create({ name: '' }))).errorCode, 'ERR_NGROK_4109');
    await expectDeleted(botUsers.delete(bot.id), () => botUsers.get(bot.id));
  });

  test('works with IP policies, rules and restrictions', async () => {
    await using world = await startWithClient(await newDatabase());
    const { ipPolicies, ipPolicyRules, ipRestrictions } = world.client;
    const policy = await ipPolicies.create({ description: 'office' });
    assert.deepEqual(await ipPolicies.update({ id: policy.id, metadata: 'm' }), { ...policy, metadata: 'm' });
    const rule = await ipPolicyRules.create({ cidr: '192.0.2.0/24', ipPolicyId: policy.id, action: 'allow' });
    assert.deepEqual([rule.cidr, rule.action, rule.ipPolicy.id], ['192.0.2.0/24', 'allow', policy.id]);
    assert.equal((await ipPolicyRules.update({ id: rule.id, cidr: '198.51.100.0/24' })).cidr, '198.51.100.0/24');
    assert.deepEqual(
      (await ipPolicyRules.list()).map(({ id }) => id),
      [rule.id],
    );
    const restriction = await ipRestrictions.create({ type: 'endpoints', ipPolicyIds: [policy.id], enforced: false });
    assert.deepEqual([restriction.enforced, restriction.type], [false, 'endpoints']);
    assert.deepEqual(restriction.ipPolicies, [{ id: policy.id, uri: policy.uri }]);
    const enforced = await ipRestrictions.update({ id: restriction.id, enforced: true, ipPolicyIds: [] });
    assert.deepEqual(enforced, { ...restriction, enforced: true });
    assert.deepEqual(await ipRestrictions.get(restriction.id), enforced);
    assert.equal((await errorOf(ipPolicies.delete(policy.id))).errorCode, 'ERR_NGROK_1420');
    await expectDeleted(ipRestrictions.delete(restriction.id), () => ipRestrictions.get(restriction.id));
    await expectDeleted(ipPolicyRules.delete(rule.id), () => ipPolicyRules.get(rule.id));
    await expectDeleted(ipPolicies.delete(policy.id), () => ipPolicies.get(policy.id));
  });

  test('lists who has signed in at edges, and ends sessions', async () => {
    await using world = await startWithClient(await newDatabase());
    const { client, gatehouse } = world;
    const [row] = await gatehouse.app.context.store.queries.all('SELECT account_id FROM api_keys', []);
    const accountId = String(row?.[0]);
    const kept = gatehouse.app.context.services.get(visitors);
    const now = Math.floor(Date.now() / 1000);
    const one = { id: newId('as'), accountId, edgeId: 'edghts_1', routeId: 'edghtsrt_1', host: 'app.example.com' };
    kept.visitorSeen({
      ...one,
      provider: { name: 'google', url: 'https://accounts.google.com' },
      subject: '42',
      email: 'ada@example.com',
      name: 'Ada',
      groups: [],
      source: '192.0.2.1',
      userAgent: 'Mozilla/5.0',
      signedInAt: now,
      seenAt: now,
      expiresAt: now + 600,
      endsAt: now + 3600,
    });
    await kept.flush();
    const { applicationSessions, applicationUsers } = client;
    const [session, ...more] = await applicationSessions.list();
    assert.ok(session !== undefined && more.length === 0);
    const { browserSession, edge, route, endpoint, publicUrl, applicationUser } = session;
    assert.deepEqual([edge?.id, route?.id, endpoint], [one.edgeId, one.routeId, null]);
    assert.deepEqual([publicUrl, browserSession.ipAddress], ['https://app.example.com', '192.0.2.1']);
    assert.deepEqual(browserSession.userAgent, {
      raw: 'Mozilla/5.0',
      browserName: '',
      browserVersion: '',
      deviceType: '',
      osName: '',
      osVersion: '',
    });
    assert.deepEqual(await applicationSessions.get(session.id), session);
    const user = await applicationUsers.get(applicationUser?.id ?? '');
    assert.deepEqual(
      [user.providerUserId, user.email, user.identityProvider.name],
      ['42', 'ada@example.com', 'google'],
    );
    assert.deepEqual(await applicationUsers.list(), [user]);
    await expectDeleted(applicationSessions.delete(session.id), () => applicationSessions.get(session.id));
    await expectDeleted(applicationUsers.delete(user.id), () => applicationUsers.get(user.id));
  });

  test('reads every error: its code, its status, its message and its details', async () => {
    await using world = await startWithClient(await newDatabase());
    const { client, gatehouse } = world;
    const missing = await errorOf(client.apiKeys.get('ak_000000000000000000000000000'));
    assert.deepEqual([missing.statusCode, missing.msg.includes('ak_000000000000000000000000000')], [404, true]);
    const empty = await errorOf(client.apiKeys.get(''));
    assert.equal(empty.statusCode, 404);
    const long = await errorOf(client.apiKeys.create({ description: 'x'.repeat(256) }));
    assert.deepEqual([long.statusCode, long.errorCode], [400, 'ERR_NGROK_604']);
    const stranger = new Ngrok({ apiToken: 'not-a-token', baseUrl: gatehouse.url });
    const refused = await errorOf(stranger.apiKeys.list());
    assert.deepEqual([refused.statusCode, refused.errorCode], [401, 'ERR_NGROK_202']);
  });

  test('makes one call after the other though it closes the connection each time', async () => {
    await using world = await startWithClient(await newDatabase());
    for (let count = 0; count < 20; count++) assert.equal((await world.client.apiKeys.list()).length, 1);
    await Promise.all(Array.from({ length: 20 }, () => world.client.apiKeys.list()));
  });
});
