import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { endsAfterCaller, replacedToken } from './errors.ts';

const hour = { overlap_seconds: 3_600 };

onEachGatehouse('rotation of API keys', (g) => {
  const codeOf = async (token: string) => {
    const { status, body } = await g().get('/api_keys?limit=1', { token });
    return status === 200 ? 200 : body.error_code;
  };
  const unknown = 'ERR_GATEHOUSE_203';
  const rotate = async (id: string, body: object = {}, token = g().token) => {
    const answer = await g().post(`/api_keys/${id}/rotate`, body, { token });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  test('a new token is shown once, the key stays as it is, and the old token ends at once', async () => {
    const { token: old, ...key } = await g().create('/api_keys', { description: 'd', metadata: 'm' });
    for (const body of [undefined, {}, { overlap_seconds: 0 }, { overlap_seconds: null }]) {
      const before = (await g().create('/api_keys')).token;
      const id = `ak_${before.slice(0, 27)}`;
      const { body: answer, status } = await g().post(`/api_keys/${id}/rotate`, body);
      assert.equal(status, 200);
      assert.deepEqual([await codeOf(before), await codeOf(answer.token)], [unknown, 200]);
    }
    const { token, rotated_at, ...rest } = await rotate(key.id);
    assert.deepEqual(rest, key);
    assert.ok(Math.abs(Date.parse(rotated_at) - Date.now()) < 60_000);
    assert.match(token, new RegExp(`^${key.id.slice(3)}_[0-9A-Za-z]{43}$`));
    assert.notEqual(token, old);
    assert.deepEqual([await codeOf(old), await codeOf(token)], [unknown, 200]);
    const read = await g().get(`/api_keys/${key.id}`);
    assert.deepEqual([read.body.token, read.body.rotated_at], [null, rotated_at]);
    assert.ok(!read.text.includes(token.slice(28)));
  });

  test('during an overlap both tokens are valid, and a second rotation ends the oldest', async () => {
    const { id, token: first } = await g().create('/api_keys');
    const { token: second, previous_token_expires_at: end } = await rotate(id, hour);
    assert.ok(Math.abs(Date.parse(end) - Date.now() - 3_600_000) < 60_000, end);
    assert.equal((await g().get(`/api_keys/${id}`)).body.previous_token_expires_at, end);
    assert.deepEqual([await codeOf(first), await codeOf(second)], [200, 200]);
    const { token: third } = await rotate(id, hour, second);
    assert.deepEqual([await codeOf(first), await codeOf(second), await codeOf(third)], [unknown, 200, 200]);
    const last = await rotate(id, {}, third);
    assert.equal(last.previous_token_expires_at, undefined);
    assert.deepEqual([await codeOf(second), await codeOf(third), await codeOf(last.token)], [unknown, unknown, 200]);
  });

  test('the old token ends with the overlap, without a write', async () => {
    const { id, token: old } = await g().create('/api_keys');
    const { token, previous_token_expires_at: end } = await rotate(id, { overlap_seconds: 2 });
    const early = await codeOf(old);
    assert.ok(early === 200 || Date.now() >= Date.parse(end), String(early));
    const { version } = g().app.context.store;
    while (Date.now() < Date.parse(end)) await sleep(Date.parse(end) - Date.now());
    assert.deepEqual([await codeOf(old), await codeOf(token)], [unknown, 200]);
    assert.equal(g().app.context.store.version, version);
    assert.equal((await g().get(`/api_keys/${id}`)).body.previous_token_expires_at, undefined);
  });

  test('in the overlap the old token does not rotate, nor does a call with it that began before the rotation', async () => {
    const { id, token: old } = await g().create('/api_keys');
    const spare = await g().create('/api_keys');
    const { token } = await rotate(id, hour, old);
    const message = await refuses(
      g(),
      ['POST', `/api_keys/${id}/rotate`, hour, { token: old }],
      403,
      replacedToken.code,
    );
    assert.match(message, /replaced by a rotation.*Use its new token/);
    // Other ways to a token that outlives the overlap.
    await refuses(g(), ['POST', `/api_keys/${spare.id}/rotate`, {}, { token: old }], 403, endsAfterCaller.code);
    await refuses(g(), ['POST', '/api_keys', {}, { token: old }], 403, endsAfterCaller.code);
    assert.deepEqual([await codeOf(old), await codeOf(token)], [200, 200]);
    const both = await Promise.all([1, 2].map(() => g().post(`/api_keys/${id}/rotate`, hour, { token })));
    assert.deepEqual(
      both.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 403],
    );
    const winner = both.find(({ status }) => status === 200);
    assert.equal(await codeOf(winner?.body.token), 200);
    // A lost answer can still be asked for again with the token that the call was made with.
    const options = { token: winner?.body.token, headers: { 'idempotency-key': `once-${id}` } };
    const first = await g().post(`/api_keys/${id}/rotate`, hour, options);
    const repeated = await g().post(`/api_keys/${id}/rotate`, hour, options);
    assert.deepEqual(repeated.body, { ...first.body, token: null });
  });

  test('deletion ends both tokens', async () => {
    const { id, token: old } = await g().create('/api_keys');
    const { token } = await rotate(id, hour);
    assert.equal((await g().delete(`/api_keys/${id}`, { token: old })).status, 204);
    assert.deepEqual([await codeOf(old), await codeOf(token)], [unknown, unknown]);
  });

  test('limits hold for both tokens', async () => {
    const { id, token: old } = await g().create('/api_keys', { read_only: true });
    const { token, read_only } = await rotate(id, hour);
    assert.equal(read_only, true);
    for (const each of [old, token]) await refuses(g(), ['POST', '/ip_policies', {}, { token: each }], 403, 20070);
  });

  test('the owner and admins rotate a key, and a key rotates itself', async () => {
    const [member, bot] = [await createUser(g(), 'member'), await createBot(g())];
    const admins = await g().create('/api_keys');
    const members = await g().create('/api_keys', {}, { token: member.token });
    for (const { token } of [member, bot]) {
      await refuses(g(), ['POST', `/api_keys/${admins.id}/rotate`, hour, { token }], 403, 20006);
    }
    await refuses(g(), ['POST', `/api_keys/${members.id}/rotate`, {}, { token: bot.token }], 403, 20006);
    await rotate(members.id, {}, member.token);
    const { token } = await rotate(members.id);
    assert.equal(await codeOf((await rotate(members.id, {}, token)).token), 200);
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    await refuses(g(), ['POST', `/api_keys/${admins.id}/rotate`, {}, { token: stranger.token }], 404, 222);
  });

  test('an overlap that is no number of seconds up to a week is refused', async () => {
    const { id } = await g().create('/api_keys');
    for (const overlap_seconds of [-1, 604_801, 1.5, '60', true, []]) {
      await refuses(g(), ['POST', `/api_keys/${id}/rotate`, { overlap_seconds }], 400, 215);
    }
    await refuses(g(), ['POST', `/api_keys/${id}/rotate`, { token: 'mine' }], 400, 214);
    await rotate(id, { overlap_seconds: 604_800 });
  });

  test('a repeated call with an Idempotency-Key rotates once, shows no token, and is still for the owner alone', async () => {
    const member = await createUser(g(), 'member');
    const { id } = await g().create('/api_keys');
    const options = { headers: { 'idempotency-key': `rotate-${id}` } };
    const first = await g().post(`/api_keys/${id}/rotate`, hour, options);
    assert.equal(await codeOf(first.body.token), 200);
    const { version } = g().app.context.store;
    const repeated = await g().post(`/api_keys/${id}/rotate`, hour, options);
    assert.deepEqual(repeated.body, { ...first.body, token: null });
    assert.match(repeated.headers.get('gatehouse-idempotent-replay') ?? '', /^true; the token/);
    assert.equal(g().app.context.store.version, version);
    assert.equal(await codeOf(first.body.token), 200);
    await refuses(g(), ['POST', `/api_keys/${id}/rotate`, hour, { ...options, token: member.token }], 403, 20006);
    await g().delete(`/api_keys/${id}`);
    await refuses(g(), ['POST', `/api_keys/${id}/rotate`, hour, options], 404, 222);
  });

  test('a rotation fits If-Match, changes the tag, and is one change of the log without a secret', async () => {
    const { id } = await g().create('/api_keys', { description: 'tagged', expires_at: '2099-01-01T00:00:00Z' });
    const tag = (await g().get(`/api_keys/${id}`)).headers.get('etag') ?? '';
    const ifMatch = { headers: { 'if-match': tag } };
    const rotated = await g().post(`/api_keys/${id}/rotate`, hour, ifMatch);
    assert.equal(rotated.status, 200);
    assert.notEqual(rotated.headers.get('etag'), tag);
    assert.equal(rotated.headers.get('etag'), (await g().get(`/api_keys/${id}`)).headers.get('etag'));
    await refuses(g(), ['POST', `/api_keys/${id}/rotate`, {}, ifMatch], 412, 20020);
    await rotate(id, hour);
    const { version } = g().app.context.store;
    assert.equal((await g().patch(`/api_keys/${id}`, { description: 'tagged' })).status, 200);
    assert.equal(g().app.context.store.version, version, 'an update that changes nothing has written something');
    const changes = await g().get(`/changes?resource_id=${id}`);
    assert.deepEqual(
      changes.body.changes.map(({ action }: { action: string }) => action),
      ['update', 'update', 'create'],
    );
    const { queries } = g().app.context.store;
    const stored = JSON.stringify([
      await queries.all('SELECT * FROM api_keys WHERE id = $1', [id]),
      await queries.all('SELECT * FROM change_log WHERE resource_id = $1', [id]),
      await queries.all('SELECT * FROM idempotency_keys'),
    ]);
    assert.ok(!stored.includes(rotated.body.token.slice(28)));
  });
});

onEachDatabase('rotation over several processes and starts', (newDatabase) => {
  test('a token that the operator chose is rotated like any other, and stays ended after a restart', async () => {
    const database = await newDatabase();
    let token: string;
    {
      await using gatehouse = await Gatehouse.start(database);
      const [{ id }] = (await gatehouse.get('/api_keys')).body.keys;
      token = (await gatehouse.post(`/api_keys/${id}/rotate`, hour)).body.token;
      assert.match(token, /^\w{27}_\w{43}$/);
      for (const each of [token, gatehouse.token]) {
        assert.equal((await gatehouse.get('/api_keys', { token: each })).status, 200);
      }
      token = (await gatehouse.post(`/api_keys/${id}/rotate`, {}, { token })).body.token;
      assert.equal((await gatehouse.get('/api_keys')).body.error_code, 'ERR_GATEHOUSE_202');
    }
    await using restarted = await Gatehouse.start(database);
    assert.equal((await restarted.get('/api_keys')).body.error_code, 'ERR_GATEHOUSE_202');
    assert.equal((await restarted.get('/api_keys', { token })).status, 200);
  });

  test('another process takes the new token and refuses the old one soon after the answer', async () => {
    const database = await newDatabase();
    await using rotating = await Gatehouse.start(database);
    await using using = await Gatehouse.start(database);
    const { id, token: old } = await rotating.create('/api_keys');
    const statusOf = async (token: string) => (await using.get('/ip_policies', { token })).status;
    while ((await statusOf(old)) !== 200) await sleep(20);
    const { token } = (await rotating.post(`/api_keys/${id}/rotate`)).body;
    const deadline = performance.now() + 120_000;
    while ((await statusOf(old)) !== 401 || (await statusOf(token)) !== 200) {
      assert.ok(performance.now() < deadline, 'the other process does not follow');
      await sleep(20);
    }
  });
});
