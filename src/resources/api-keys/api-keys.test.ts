import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser, newName } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse('API keys', (g) => {
  test('a new key has every field of the specification, and a token made of its id and 256 bits', async () => {
    const texts = { description: 'made by the pipeline', metadata: '{"environment":"staging"}' };
    const { status, body } = await g().post('/api_keys', texts);
    assert.equal(status, 201);
    const { id, uri, created_at, token, owner_id, ...rest } = body;
    assert.match(id, /^ak_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/api_keys/${id}`);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.ok(Math.abs(Date.parse(created_at) - Date.now()) < 60_000);
    assert.match(token, new RegExp(`^${id.slice(3)}_[0-9A-Za-z]{43}$`));
    assert.match(owner_id, /^usr_/);
    assert.deepEqual(rest, texts);
  });

  test('the token works at once and is shown in no later answer', async () => {
    const { id, token } = await g().create('/api_keys', { description: 'once' });
    const read = await g().get(`/api_keys/${id}`, { token });
    assert.equal(read.status, 200);
    assert.equal(read.body.token, null);
    assert.equal((await g().patch(`/api_keys/${id}`, { metadata: 'm' })).body.token, null);
    const list = await g().get('/api_keys');
    assert.ok(list.body.keys.every((key: { token: unknown }) => key.token === null));
    const secret = token.split('_')[1];
    for (const { text } of [read, list]) assert.ok(!text.includes(secret));
  });

  test('two keys never share a token', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => g().create('/api_keys')));
    const secrets = made.map(({ token }) => token.split('_')[1]);
    assert.equal(new Set(secrets).size, 20);
  });

  test('unset texts are left out, and "" counts as unset', async () => {
    for (const body of [{}, { description: '', metadata: '' }, { description: null, metadata: null }]) {
      const key = await g().create('/api_keys', body);
      assert.deepEqual(Object.keys(key).toSorted(), ['created_at', 'id', 'owner_id', 'token', 'uri']);
    }
  });

  test('an update changes what it names, keeps what it leaves out, and clears what is ""', async () => {
    const { id } = await g().create('/api_keys', { description: 'd', metadata: 'm' });
    const patch = async (body: unknown) => {
      const answer = await g().patch(`/api_keys/${id}`, body);
      assert.equal(answer.status, 200);
      assert.deepEqual((await g().get(`/api_keys/${id}`)).body, answer.body);
      return [answer.body.description, answer.body.metadata];
    };
    assert.deepEqual(await patch({ description: 'D' }), ['D', 'm']);
    assert.deepEqual(await patch({}), ['D', 'm']);
    assert.deepEqual(await patch({ id, description: null }), ['D', 'm']);
    assert.deepEqual(await patch({ description: '' }), [undefined, 'm']);
    assert.deepEqual(await patch({ metadata: 'M' }), [undefined, 'M']);
  });

  test('an update that changes nothing writes nothing', async () => {
    const { id } = await g().create('/api_keys', { description: 'same' });
    const { version } = g().app.context.store;
    assert.equal((await g().patch(`/api_keys/${id}`, { description: 'same' })).status, 200);
    assert.equal((await g().patch(`/api_keys/${id}`, {})).status, 200);
    assert.equal(g().app.context.store.version, version);
  });

  test('an update takes no other owner, token or date, and takes those that are stored', async () => {
    const { id, owner_id } = await g().create('/api_keys');
    for (const [field, value] of Object.entries({ owner_id: 'usr_x', token: 'x', uri: 'x', created_at: 'x' })) {
      const answer = await g().patch(`/api_keys/${id}`, { [field]: value });
      assert.equal(answer.body.error_code, 'ERR_GATEHOUSE_20190', field);
      assert.ok(answer.body.msg.includes(`"${field}" cannot be changed`));
    }
    assert.equal((await g().patch(`/api_keys/${id}`, { owner_id, token: null })).status, 200);
  });

  test('a deleted key is gone, and its token is refused from the moment of the answer', async () => {
    const { id, token } = await g().create('/api_keys');
    assert.equal((await g().get('/api_keys', { token })).status, 200);
    const deleted = await g().delete(`/api_keys/${id}`);
    assert.equal(deleted.status, 204);
    assert.equal(deleted.text, '');
    assert.equal((await g().get('/api_keys', { token })).status, 401);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      assert.equal((await g().call(method, `/api_keys/${id}`)).status, 404);
    }
  });

  test('a key may delete itself', async () => {
    const { id, token } = await g().create('/api_keys');
    assert.equal((await g().delete(`/api_keys/${id}`, { token })).status, 204);
    assert.equal((await g().get(`/api_keys/${id}`, { token })).status, 401);
  });

  test('the owner is the caller unless an admin names a user or bot of the account', async () => {
    const member = await createUser(g(), 'member');
    const bot = await createBot(g());
    assert.equal((await g().create('/api_keys', {}, { token: bot.token })).owner_id, bot.id);
    assert.equal((await g().create('/api_keys', { owner_id: member.id })).owner_id, member.id);
    assert.equal((await g().create('/api_keys', { owner_id: bot.id })).owner_id, bot.id);
    assert.equal((await g().create('/api_keys', { owner_id: member.id }, { token: member.token })).owner_id, member.id);
    assert.equal((await g().create('/api_keys', { owner_id: '' }, { token: bot.token })).owner_id, bot.id);
  });

  test('a key that an admin makes for another owner has that owner’s rights', async () => {
    const member = await createUser(g(), 'member');
    const { token } = await g().create('/api_keys', { owner_id: member.id });
    assert.equal((await g().post('/bot_users', { name: newName('bot') }, { token })).status, 403);
  });

  test('members and bots may not name another owner, not even one that does not exist', async () => {
    const member = await createUser(g(), 'member');
    const bot = await createBot(g());
    for (const token of [member.token, bot.token]) {
      for (const owner_id of [(await g().create('/api_keys')).owner_id, 'bot_none', 'nonsense']) {
        const answer = await g().post('/api_keys', { owner_id }, { token });
        assert.equal(answer.body.error_code, 'ERR_GATEHOUSE_630');
        assert.equal(answer.status, 403);
      }
    }
  });

  test('an owner must be an active user or bot of the same account', async () => {
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    const idle = await g().create('/bot_users', { name: newName('bot'), active: false });
    const codeFor = async (owner_id: unknown) => {
      const { status, body } = await g().post('/api_keys', { owner_id });
      assert.equal(status, 400);
      return body.error_code;
    };
    assert.equal(await codeFor(stranger.id), 'ERR_GATEHOUSE_634');
    assert.equal(await codeFor('usr_000000000000000000000000000'), 'ERR_GATEHOUSE_634');
    assert.equal(await codeFor(idle.id), 'ERR_GATEHOUSE_20022');
    assert.equal(await codeFor('ak_000000000000000000000000000'), 'ERR_GATEHOUSE_243');
    assert.equal(await codeFor('usr_\0'), 'ERR_GATEHOUSE_243');
    assert.equal(await codeFor(7), 'ERR_GATEHOUSE_215');
  });

  test('members and bots see every key of the account but change only their own', async () => {
    const member = await createUser(g(), 'member');
    const bot = await createBot(g());
    const admins = await g().create('/api_keys', { description: 'admin' });
    for (const { id, token } of [member, bot]) {
      assert.equal((await g().get(`/api_keys/${admins.id}`, { token })).status, 200);
      const refusal = await g().patch(`/api_keys/${admins.id}`, { description: 'mine' }, { token });
      assert.equal(refusal.body.error_code, 'ERR_GATEHOUSE_20006');
      assert.equal((await g().delete(`/api_keys/${admins.id}`, { token })).status, 403);
      const own = await g().create('/api_keys', {}, { token });
      assert.equal(own.owner_id, id);
      assert.equal((await g().patch(`/api_keys/${own.id}`, { description: 'mine' }, { token })).status, 200);
      assert.equal((await g().delete(`/api_keys/${own.id}`, { token })).status, 204);
    }
    assert.equal((await g().get(`/api_keys/${admins.id}`)).body.description, 'admin');
  });

  test('an admin changes and deletes keys of others', async () => {
    const member = await createUser(g(), 'member');
    const key = await g().create('/api_keys', {}, { token: member.token });
    assert.equal((await g().patch(`/api_keys/${key.id}`, { description: 'seen' })).body.description, 'seen');
    assert.equal((await g().delete(`/api_keys/${key.id}`)).status, 204);
  });

  test('another account’s keys answer as if they did not exist, and are in no list', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const key = await g().create('/api_keys', { description: 'ours' });
    const missing = await g().get('/api_keys/ak_000000000000000000000000000', { token });
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const answer = await g().call(method, `/api_keys/${key.id}`, undefined, { token });
      assert.equal(answer.status, 404);
      assert.equal(answer.body.msg.replace(key.id, ''), missing.body.msg.replace('ak_000000000000000000000000000', ''));
    }
    const listed = (await g().get('/api_keys', { token })).body.keys.map(({ id }: { id: string }) => id);
    assert.equal(listed.length, 1);
    assert.ok(!listed.includes(key.id));
    assert.equal((await g().get(`/api_keys/${key.id}`)).body.description, 'ours');
  });

  test('an id of another kind is no key, also when it is in memory', async () => {
    const { owner_id } = await g().create('/api_keys');
    const bot = await createBot(g());
    assert.equal((await g().get(`/bot_users/${bot.id}`)).status, 200);
    for (const id of [owner_id, bot.id]) {
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        assert.equal((await g().call(method, `/api_keys/${id}`)).status, 404, `${method} ${id}`);
      }
    }
  });

  test('neither the database nor the change log holds a token or its secret', async () => {
    const { id, token } = await g().create('/api_keys', { description: 'secret' });
    const { queries } = g().app.context.store;
    const rows = [
      ...(await queries.all('SELECT * FROM api_keys WHERE id = $1', [id])),
      ...(await queries.all('SELECT * FROM change_log WHERE resource_id = $1', [id])),
    ];
    assert.ok(rows.length >= 2);
    assert.ok(!JSON.stringify(rows).includes(token.split('_')[1]));
  });
});
