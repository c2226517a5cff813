import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import { Gatehouse } from '../../test/support/gatehouse.ts';
import { createUser } from '../../test/support/people.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onEachGatehouse } from '../../test/support/shared-gatehouse.ts';
import { migrations } from '../start/open-context.ts';
import { openStore } from '../store/store.ts';
import { toTimestamp } from '../lib/ids.ts';

onEachGatehouse('preconditions and repeated requests', (g) => {
  const tagOf = async (path: string) => (await g().get(path)).headers.get('etag') ?? '';
  const withTag = (tag: string) => ({ headers: { 'if-match': tag } });

  test('every way to see a resource gives the same tag, and a change gives another', async () => {
    const created = await g().post('/ip_policies', { description: 'one' });
    const path = `/ip_policies/${created.body.id}`;
    const tag = created.headers.get('etag');
    assert.match(tag ?? '', /^"[\w-]{22}"$/);
    assert.equal(await tagOf(path), tag);
    assert.equal((await g().patch(path, {})).headers.get('etag'), tag);
    const changed = await g().patch(path, { description: 'two' });
    assert.notEqual(changed.headers.get('etag'), tag);
    assert.equal(await tagOf(path), changed.headers.get('etag'));
  });

  test('PATCH and DELETE with an old tag change nothing; with the new one, a list or * they do', async () => {
    const { id } = await g().create('/ip_policies', { description: 'one' });
    const path = `/ip_policies/${id}`;
    const old = await tagOf(path);
    await g().patch(path, { description: 'two' });
    await refuses(g(), ['PATCH', path, { description: 'three' }, withTag(old)], 412, 20020);
    await refuses(g(), ['DELETE', path, undefined, withTag(old)], 412, 20020);
    const now = await tagOf(path);
    assert.equal((await g().patch(path, { description: 'three' }, withTag(`${old}, ${now}`))).status, 200);
    assert.equal((await g().patch(path, { description: 'four' }, withTag('*'))).status, 200);
    assert.equal((await g().delete(path, withTag(await tagOf(path)))).status, 204);
  });

  test('a module has a tag of its own, and one that is not set matches nothing', async () => {
    const policy = await g().create('/ip_policies');
    const edge = await g().create('/edges/tcp');
    const path = `/edges/tcp/${edge.id}/ip_restriction`;
    const settings = { ip_policy_ids: [policy.id] };
    await refuses(g(), ['PUT', path, settings, withTag('*')], 412, 20020);
    const tag = (await g().put(path, settings)).headers.get('etag') ?? '';
    await g().patch(`/edges/tcp/${edge.id}`, { description: 'another field' });
    assert.equal(await tagOf(path), tag);
    await g().put(path, { ...settings, enabled: false });
    await refuses(g(), ['PUT', path, settings, withTag(tag)], 412, 20020);
    await refuses(g(), ['DELETE', path, undefined, withTag(tag)], 412, 20020);
    assert.equal((await g().delete(path, withTag(await tagOf(path)))).status, 204);
  });

  test('the tag of an HTTPS edge stands for its routes too', async () => {
    const { id } = await g().create('/edges/https');
    const tag = await tagOf(`/edges/https/${id}`);
    await g().create(`/edges/https/${id}/routes`, { match_type: 'exact_path', match: '/' });
    await refuses(g(), ['DELETE', `/edges/https/${id}`, undefined, withTag(tag)], 412, 20020);
  });

  test('two updates from one reading: the second one is told, and overwrites nothing', async () => {
    const { id } = await g().create('/ip_policies', { description: 'start' });
    const path = `/ip_policies/${id}`;
    const tag = await tagOf(path);
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((description) => g().patch(path, { description }, withTag(tag))),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 412, 412],
    );
  });

  test('a repeated POST with one Idempotency-Key makes one thing and answers alike', async () => {
    const headers = { 'idempotency-key': 'make-one' };
    const bodies = await Promise.all(
      Array.from({ length: 5 }, () => g().post('/ip_policies', { description: 'once' }, { headers })),
    );
    assert.deepEqual(
      bodies.map(({ status }) => status),
      [201, 201, 201, 201, 201],
    );
    assert.equal(new Set(bodies.map(({ body }) => body.id)).size, 1);
    await refuses(g(), ['POST', '/ip_policies', { description: 'another' }, { headers }], 409, 20042);
    await refuses(g(), ['POST', '/bot_users', { name: 'x' }, { headers }], 409, 20042);
  });

  test('a repeated key creation does not show the token again, and says so', async () => {
    const headers = { 'idempotency-key': 'make-a-key' };
    const first = await g().post('/api_keys', {}, { headers });
    const second = await g().post('/api_keys', {}, { headers });
    assert.deepEqual({ ...second.body, token: first.body.token }, first.body);
    assert.equal(second.body.token, null);
    assert.match(second.headers.get('gatehouse-idempotent-replay') ?? '', /not shown again/);
    const rows = await g().app.context.store.queries.all('SELECT answer FROM idempotency_keys');
    assert.ok(!JSON.stringify(rows).includes(first.body.token.split('_')[1]), 'the token was stored');
  });

  test('a refused POST leaves its Idempotency-Key free', async () => {
    const headers = { 'idempotency-key': 'try-again' };
    await refuses(g(), ['POST', '/bot_users', { name: '' }, { headers }], 400, 4109);
    assert.equal((await g().post('/bot_users', { name: 'second try' }, { headers })).status, 201);
  });

  test('an Idempotency-Key of another form is refused', async () => {
    for (const key of ['a b', 'x'.repeat(256)]) {
      await refuses(g(), ['POST', '/ip_policies', {}, { headers: { 'idempotency-key': key } }], 400, 20041);
    }
  });

  test('an Idempotency-Key belongs to one principal: what another one does with it is a call of its own', async () => {
    const headers = { 'idempotency-key': 'taken-by-two' };
    const member = await createUser(g(), 'member');
    const ofAdmin = await g().post('/api_keys', { description: 'mine' }, { headers });
    const ofMember = await g().post('/api_keys', { description: 'mine' }, { headers, token: member.token });
    assert.notEqual(ofMember.body.id, ofAdmin.body.id);
    assert.equal(ofMember.body.owner_id, member.id);
    assert.equal(typeof ofMember.body.token, 'string');
    const again = await g().post('/api_keys', { description: 'mine' }, { headers, token: member.token });
    assert.equal(again.body.id, ofMember.body.id);
  });

  test('an Idempotency-Key opens nothing that the caller may not do', async () => {
    const headers = { 'idempotency-key': 'for-a-bot' };
    const bot = await g().create('/bot_users', { name: 'owner of a key' });
    const member = await createUser(g(), 'member');
    const body = { owner_id: bot.id };
    assert.equal((await g().post('/api_keys', body, { headers })).status, 201);
    await refuses(g(), ['POST', '/api_keys', body, { headers, token: member.token }], 403, 630);
    // An owner that has become inactive since: the checks of the first call hold for its repetition.
    await g().patch(`/bot_users/${bot.id}`, { active: false });
    await refuses(g(), ['POST', '/api_keys', body, { headers }], 400, 20022);
  });

  test('an Idempotency-Key is forgotten after a day', async () => {
    const headers = { 'idempotency-key': 'yesterday' };
    const first = await g().post('/ip_policies', {}, { headers });
    await g().app.context.store.writeUnlogged(async (notes) =>
      notes.run(`UPDATE idempotency_keys SET created_at = '2000-01-01T00:00:00Z' WHERE idempotency_key = $1`, [
        'yesterday',
      ]),
    );
    const second = await g().post('/ip_policies', {}, { headers });
    assert.notEqual(second.body.id, first.body.id);
  });
});

onEachDatabase('an Idempotency-Key that an older version has stored', (_newDatabase, newEmpty) => {
  test('is refused to everybody for the rest of its day, and creates nothing', async () => {
    const url = await newEmpty();
    const older = migrations.filter(({ name }) => name !== 'idempotency 0002 principals');
    assert.equal(older.length, migrations.length - 1);
    const insert = `INSERT INTO idempotency_keys (account_id, idempotency_key, request_hash, answer, created_at)
      VALUES ($1, $2, 'hash', '{"id":"ipp_old"}', $3)`;
    const now = Date.now();
    {
      await using store = await openStore({ url, migrations: older, onFeedFault: () => {} });
      await store.writeUnlogged(async (writer) => {
        await writer.run(insert, ['ac_old', 'recent', toTimestamp(now)]);
        await writer.run(insert, ['ac_old', 'old', toTimestamp(now - 25 * 3_600_000)]);
      });
    }
    await using gatehouse = await Gatehouse.start(url);
    const { store } = gatehouse.app.context;
    // The account exists only after the first start.
    const [account] = await store.queries.all('SELECT id FROM accounts');
    await store.writeUnlogged(async (writer) => {
      await writer.run('UPDATE idempotency_keys SET account_id = $1', [String(account?.[0])]);
    });
    const post = (key: string) => ['POST', '/ip_policies', {}, { headers: { 'idempotency-key': key } }] as const;
    await refuses(gatehouse, post('recent'), 409, 20042);
    assert.equal((await gatehouse.call(...post('old'))).status, 201);
  });
});
