import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { credentialEndless } from './errors.ts';
import { agentCredentials } from './service.ts';

const path = '/credentials';

onEachGatehouse('credentials', (g) => {
  const authenticate = (token: string) => g().app.context.services.get(agentCredentials).authenticate(token);

  test('a new credential has every field, and a token made of its id and a secret, shown once', async () => {
    const body = { description: 'laptop', metadata: 'm', acl: ['bind:*.example.com'] };
    const { status, body: made } = await g().post(path, body);
    assert.equal(status, 201);
    const { id, uri, created_at, token, owner_id, ...rest } = made;
    assert.match(id, /^cr_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}${path}/${id}`);
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.match(token, new RegExp(`^${id.slice(3)}_[0-9A-Za-z]{43}$`));
    assert.match(owner_id, /^usr_/);
    assert.deepEqual(rest, body);
    assert.deepEqual((await g().get(`${path}/${id}`)).body, { ...made, token: null });
    const secret = token.split('_')[1];
    for (const { text } of [await g().get(path), await g().get('/changes')]) assert.ok(!text.includes(secret));
  });

  test('acl is always shown; [] allows everything and clears on an update', async () => {
    const made = await g().create(path);
    assert.deepEqual(made.acl, []);
    const narrowed = await g().patch(`${path}/${made.id}`, { acl: ['bind:app=shop'] });
    assert.deepEqual(narrowed.body.acl, ['bind:app=shop']);
    assert.deepEqual((await g().patch(`${path}/${made.id}`, { description: 'd' })).body.acl, ['bind:app=shop']);
    assert.deepEqual((await g().patch(`${path}/${made.id}`, { acl: [] })).body.acl, []);
  });

  test('a rule that cannot be read is refused by name', async () => {
    const message = await refuses(g(), ['POST', path, { acl: ['bind:*', 'open:*'] }], 400, 20085);
    assert.match(message, /"open:\*".*"bind:"/);
  });

  test('the token is known by its secret alone, and by none once the credential is deleted', async () => {
    const { id, token, owner_id } = await g().create(path, { acl: ['bind:a.example.com'] });
    const valid = await authenticate(token);
    assert.ok(valid.verdict === 'valid');
    assert.equal(valid.credential.id, id);
    assert.equal(valid.credential.ownerId, owner_id);
    assert.ok(valid.credential.acl.allowsName('a.example.com') && !valid.credential.acl.allowsName('b.example.com'));
    const last = token.at(-1) === 'a' ? 'b' : 'a';
    assert.deepEqual(await authenticate(`${token.slice(0, -1)}${last}`), { verdict: 'unknown' });
    assert.deepEqual(await authenticate('not a token'), { verdict: 'malformed' });
    const hosted = '2aBcDeFgHiJkLmNoPqRsTuVwXyZ_4AbCdEfGhIjKlMnOpQrSt';
    assert.deepEqual(await authenticate(hosted), { verdict: 'unknown' }, 'a proper token of another server');
    assert.equal((await g().delete(`${path}/${id}`)).status, 204);
    assert.deepEqual(await authenticate(token), { verdict: 'unknown' });
  });

  test('a credential opens no API, and an API key is no credential', async () => {
    const { token } = await g().create(path);
    assert.equal((await g().get(path, { token })).status, 401);
    const key = await g().create('/api_keys');
    assert.deepEqual(await authenticate(key.token), { verdict: 'unknown' });
  });

  test('a bot that is inactive has no valid credential, and its deletion deletes them', async () => {
    const bot = await createBot(g());
    const { id, token } = await g().create(path, { owner_id: bot.id });
    await g().patch(`/bot_users/${bot.id}`, { active: false });
    assert.deepEqual(await authenticate(token), { verdict: 'inactive_owner' });
    await g().patch(`/bot_users/${bot.id}`, { active: true });
    assert.equal((await authenticate(token)).verdict, 'valid');
    assert.equal((await g().delete(`/bot_users/${bot.id}`)).status, 204);
    assert.equal((await g().get(`${path}/${id}`)).status, 404);
    assert.deepEqual(await authenticate(token), { verdict: 'unknown' });
  });

  test('a member makes credentials of its own, and writes nobody else', async () => {
    const member = await createUser(g(), 'member');
    const other = await g().create(path);
    const own = await g().create(path, {}, { token: member.token });
    assert.equal(own.owner_id, member.id);
    const as = { token: member.token };
    await refuses(g(), ['POST', path, { owner_id: other.owner_id }, as], 403, 20081);
    await refuses(g(), ['PATCH', `${path}/${other.id}`, { acl: [] }, as], 403, 20084);
    await refuses(g(), ['DELETE', `${path}/${other.id}`, undefined, as], 403, 20084);
    assert.equal((await g().delete(`${path}/${own.id}`, as)).status, 204);
  });

  test('a key with an end, or a token in its overlap, makes none; it changes and deletes those that are there', async () => {
    const end = '2098-01-01T00:00:00Z';
    const { token } = await g().create('/api_keys', { expires_at: end });
    assert.ok((await refuses(g(), ['POST', path, {}, { token }], 403, credentialEndless.code)).includes(end));
    const { id } = await g().create(path, {}, { headers: { 'idempotency-key': 'endless' } });
    const again = { token, headers: { 'idempotency-key': 'endless' } };
    await refuses(g(), ['POST', path, {}, again], 403, credentialEndless.code);
    assert.equal((await g().patch(`${path}/${id}`, { description: 'd' }, { token })).status, 200);
    assert.equal((await g().delete(`${path}/${id}`, { token })).status, 204);
    const rotated = await g().create('/api_keys');
    const { body } = await g().post(`/api_keys/${rotated.id}/rotate`, { overlap_seconds: 600 });
    await refuses(g(), ['POST', path, {}, { token: rotated.token }], 403, credentialEndless.code);
    assert.equal((await g().post(path, {}, { token: body.token })).status, 201);
  });

  test('an owner of another account is as unknown as none', async () => {
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    await refuses(g(), ['POST', path, { owner_id: stranger.id }], 400, 20082);
  });

  test('the owner is checked before the answer to an earlier call is repeated', async () => {
    const bot = await createBot(g());
    const options = { headers: { 'idempotency-key': `for-${bot.id}` } };
    const made = await g().create(path, { owner_id: bot.id }, options);
    assert.equal((await g().post(path, { owner_id: bot.id }, options)).body.id, made.id);
    await g().patch(`/bot_users/${bot.id}`, { active: false });
    await refuses(g(), ['POST', path, { owner_id: bot.id }, options], 400, 20083);
  });
});
