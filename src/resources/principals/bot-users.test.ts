import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser, newName } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse('bot users', (g) => {
  const fault = (body: unknown, code: number) => refuses(g(), ['POST', '/bot_users', body], 400, code);

  test('a new bot has all its fields and is active', async () => {
    const name = newName('bot');
    const { status, body } = await g().post('/bot_users', { name });
    assert.equal(status, 201);
    const { id, uri, created_at, ...rest } = body;
    assert.match(id, /^bot_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/bot_users/${id}`);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(rest, { name, active: true });
    assert.deepEqual((await g().get(`/bot_users/${id}`)).body, body);
    assert.deepEqual((await g().get('/bot_users?limit=1')).body.bot_users, [body]);
  });

  test('a name is kept byte for byte', async () => {
    for (const name of [' spaced ', 'ärger 🤖', 'tab\tand\nline', 'é', 'é'.repeat(127)]) {
      const { id } = await g().create('/bot_users', { name });
      assert.equal((await g().get(`/bot_users/${id}`)).body.name, name);
    }
  });

  test('a name must be text of 1 to 255 bytes that both databases can hold', async () => {
    await fault({}, 4109);
    await fault({ name: '' }, 4109);
    await fault({ name: null }, 4109);
    await fault({ name: 'é'.repeat(128) }, 4110);
    await fault({ name: 'a'.repeat(256) }, 4110);
    await fault({ name: 7 }, 215);
    await fault({ name: ['a'] }, 215);
    await fault({ name: 'a\0b' }, 215);
    await fault({ name: '\ud800' }, 20010);
    await fault({ name: newName('bot'), active: 'yes' }, 215);
    await fault({ name: newName('bot'), description: 'bots have none' }, 214);
  });

  test('a name is unique in its account, and free again when its bot is gone', async () => {
    const name = newName('bot');
    const { id } = await g().create('/bot_users', { name });
    const known = () => g().app.context.store.queries.all('SELECT id FROM principals WHERE id = $1', [id]);
    assert.deepEqual(await known(), [[id]]);
    const message = await refuses(g(), ['POST', '/bot_users', { name }], 409, 4112);
    assert.ok(message.includes(id));
    const other = await g().create('/bot_users', { name: newName('bot') });
    await refuses(g(), ['PATCH', `/bot_users/${other.id}`, { name }], 409, 4112);
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    await g().create('/bot_users', { name }, { token: stranger.token });
    await g().delete(`/bot_users/${id}`);
    assert.deepEqual(await known(), [], 'nothing is left of it');
    assert.equal((await g().patch(`/bot_users/${other.id}`, { name })).status, 200);
  });

  test('of many bots that want one name at the same time, one gets it', async () => {
    const name = newName('wanted');
    const answers = await Promise.all(Array.from({ length: 8 }, () => g().post('/bot_users', { name })));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409, 409, 409, 409],
    );
  });

  test('an update changes what it names', async () => {
    const { id, ...made } = await g().create('/bot_users', { name: newName('bot') });
    const patch = async (body: unknown) => (await g().patch(`/bot_users/${id}`, body)).body;
    assert.deepEqual(await patch({}), { id, ...made });
    assert.deepEqual(await patch({ id, active: false }), { id, ...made, active: false });
    assert.deepEqual(await patch({ name: null, active: null }), { id, ...made, active: false });
    const name = newName('bot');
    assert.deepEqual(await patch({ name }), { id, ...made, name, active: false });
    assert.deepEqual((await g().get(`/bot_users/${id}`)).body, { id, ...made, name, active: false });
    await refuses(g(), ['PATCH', `/bot_users/${id}`, { name: '' }], 400, 4109);
  });

  test('keys of an inactive bot answer 403 from the moment of the answer, and work again when it is active', async () => {
    const bot = await createBot(g());
    const status = async () => (await g().get('/api_keys', { token: bot.token })).status;
    assert.equal(await status(), 200);
    await g().patch(`/bot_users/${bot.id}`, { active: false });
    await refuses(g(), ['GET', '/api_keys', undefined, { token: bot.token }], 403, 636);
    await g().patch(`/bot_users/${bot.id}`, { active: true });
    assert.equal(await status(), 200);
  });

  test('a deleted bot takes its keys with it', async () => {
    const bot = await createBot(g());
    const second = await g().create('/api_keys', { owner_id: bot.id });
    for (const token of [bot.token, second.token]) assert.equal((await g().get('/api_keys', { token })).status, 200);
    assert.equal((await g().delete(`/bot_users/${bot.id}`)).status, 204);
    for (const token of [bot.token, second.token]) assert.equal((await g().get('/api_keys', { token })).status, 401);
    assert.equal((await g().get(`/api_keys/${second.id}`)).status, 404);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      assert.equal((await g().call(method, `/bot_users/${bot.id}`)).status, 404);
    }
    await refuses(g(), ['POST', '/api_keys', { owner_id: bot.id }], 400, 634);
  });

  test('a key that is made while its owner is being deleted does not survive', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await g().create('/bot_users', { name: newName('bot') });
      const [made, deleted] = await Promise.all([
        g().post('/api_keys', { owner_id: id }),
        g().delete(`/bot_users/${id}`),
        g().post('/api_keys', { owner_id: id }),
      ]);
      assert.equal(deleted.status, 204);
      assert.ok([201, 400, 409].includes(made.status), made.text);
      const owners = (await g().get('/api_keys')).body.keys.map((key: { owner_id: string }) => key.owner_id);
      assert.ok(!owners.includes(id));
    }
  });

  test('only admins write bots; all of the account read them', async () => {
    const member = await createUser(g(), 'member');
    const bot = await createBot(g());
    for (const { token } of [member, bot]) {
      await refuses(g(), ['POST', '/bot_users', { name: newName('bot') }, { token }], 403, 4111);
      await refuses(g(), ['PATCH', `/bot_users/${bot.id}`, { active: true }, { token }], 403, 4111);
      await refuses(g(), ['DELETE', `/bot_users/${bot.id}`, undefined, { token }], 403, 4111);
      assert.equal((await g().get(`/bot_users/${bot.id}`, { token })).status, 200);
      assert.equal((await g().get('/bot_users', { token })).status, 200);
    }
  });

  test('another account’s bots answer as if they did not exist', async () => {
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    const bot = await createBot(g());
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      await refuses(g(), [method, `/bot_users/${bot.id}`, undefined, { token }], 404, 222);
    }
    assert.deepEqual((await g().get('/bot_users', { token })).body.bot_users, []);
    assert.equal((await g().get('/api_keys', { token: bot.token })).status, 200);
  });
});
