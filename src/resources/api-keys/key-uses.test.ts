import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { authenticator, keyUses } from './service.ts';

const flush = ({ app: { context } }: Gatehouse) => context.services.get(keyUses).flush();

async function storedUse({ app: { context } }: Gatehouse, id: string): Promise<string | undefined> {
  const [row] = await context.store.queries.all('SELECT last_used_at FROM api_key_uses WHERE key_id = $1', [id]);
  return row && String(row[0]);
}

/** Moves the stored use of a key. */
async function setUse({ app: { context } }: Gatehouse, id: string, ms: number): Promise<string> {
  const text = toTimestamp(ms);
  const sql = 'UPDATE api_key_uses SET last_used_at = $2 WHERE key_id = $1';
  await context.store.writeUnlogged(async (notes) => notes.run(sql, [id, text]));
  return text;
}

/** Waits until the field is shown. */
async function shownUse(gatehouse: Gatehouse, id: string, expected?: string): Promise<string> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    const { last_used_at } = (await gatehouse.get(`/api_keys/${id}`)).body;
    if (last_used_at !== undefined && (expected === undefined || last_used_at === expected)) return last_used_at;
    assert.ok(performance.now() < deadline, `last_used_at is ${last_used_at}`);
    await sleep(50);
  }
}

onDatabasesInTurn('the last use of an API key', (newDatabase) => {
  test('is shown by itself soon after a call, in GET and lists, and survives a restart', async () => {
    const database = await newDatabase();
    let used: string;
    let keyId: string;
    {
      await using gatehouse = await Gatehouse.start(database);
      const unused = await gatehouse.create('/api_keys');
      const { id, token } = await gatehouse.create('/api_keys', { description: 'used' });
      keyId = id;
      assert.equal((await gatehouse.get(`/api_keys/${id}`)).body.last_used_at, undefined);
      const before = Math.floor(Date.now() / 1000) * 1000;
      const { version } = gatehouse.app.context.store;
      const etag = (await gatehouse.get(`/api_keys/${id}`)).headers.get('etag');
      await gatehouse.get('/ip_policies', { token });
      used = await shownUse(gatehouse, id);
      assert.ok(Date.parse(used) >= before && Date.parse(used) <= Date.now(), used);
      const byId = new Map((await gatehouse.get('/api_keys')).body.keys.map((key: { id: string }) => [key.id, key]));
      assert.deepEqual(byId.get(id), (await gatehouse.get(`/api_keys/${id}`)).body);
      assert.ok(!('last_used_at' in (byId.get(unused.id) as object)));
      assert.equal(gatehouse.app.context.store.version, version, 'an observation has no version');
      assert.equal((await gatehouse.get(`/api_keys/${id}`)).headers.get('etag'), etag);
      assert.equal((await gatehouse.patch(`/api_keys/${id}`, { description: 'again' })).body.last_used_at, used);
      const changes = await gatehouse.app.context.store.queries.all('SELECT before, after FROM change_log');
      assert.ok(!JSON.stringify(changes).includes('last_used_at'));
    }
    await using restarted = await Gatehouse.start(database);
    assert.equal((await restarted.get(`/api_keys/${keyId}`)).body.last_used_at, used);
  });

  test('is not moved by looking again whether a key still lets in, as an open stream does', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const { id, token } = await gatehouse.create('/api_keys');
    const keys = gatehouse.app.context.services.get(authenticator);
    const identity = await keys.authenticateAgain(id, keys.hashOf(token), false);
    await identity.again(false);
    await flush(gatehouse);
    assert.equal(await storedUse(gatehouse, id), undefined);
    await identity.again(true);
    await flush(gatehouse);
    assert.ok(await storedUse(gatehouse, id));
  });

  test('is not lost when the process stops at once', async () => {
    const database = await newDatabase();
    let keyId: string;
    {
      await using gatehouse = await Gatehouse.start(database);
      const { id, token } = await gatehouse.create('/api_keys');
      keyId = id;
      await gatehouse.get('/ip_policies', { token });
    }
    await using restarted = await Gatehouse.start(database);
    assert.ok(await storedUse(restarted, keyId));
  });

  test('is written at most once a minute, by one process and by several', async () => {
    const database = await newDatabase();
    await using first = await Gatehouse.start(database);
    await using second = await Gatehouse.start(database);
    const { id, token } = await first.create('/api_keys');
    const use = async (gatehouse: Gatehouse) => {
      for (let count = 0; count < 5; count++) {
        assert.equal((await gatehouse.get('/ip_policies', { token })).status, 200);
      }
      await flush(gatehouse);
    };
    await use(first);
    // This process has written it, so it does not again, however old it seems.
    const old = await setUse(first, id, Date.now() - 90_000);
    await use(first);
    assert.equal(await storedUse(first, id), old);
    // The other one has not, and it is more than a minute old.
    await use(second);
    assert.ok(Date.parse((await storedUse(first, id)) ?? '') > Date.parse(old));
    await using third = await Gatehouse.start(database);
    const recent = await setUse(first, id, Date.now() - 20_000);
    await use(third);
    assert.equal(await storedUse(first, id), recent, 'a third process writes within the minute');
  });

  test('is shown as another process has written it', async () => {
    const database = await newDatabase();
    await using first = await Gatehouse.start(database);
    await using second = await Gatehouse.start(database);
    const { id, token } = await first.create('/api_keys');
    await first.get('/ip_policies', { token });
    await flush(first);
    await shownUse(second, id);
    const moved = await setUse(second, id, Date.now() - 3_600_000);
    assert.equal(await shownUse(first, id, moved), moved);
  });

  test('of hundreds of keys at once is written in parts, and that of a deleted key is left out', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const keys = await Promise.all(Array.from({ length: 250 }, () => gatehouse.create('/api_keys')));
    const statuses = await Promise.all(keys.map(({ token }) => gatehouse.get('/ip_policies?limit=1', { token })));
    assert.ok(statuses.every(({ status }) => status === 200));
    const [gone, ...left] = keys;
    await gatehouse.delete(`/api_keys/${gone?.id}`);
    await flush(gatehouse);
    const { queries } = gatehouse.app.context.store;
    const written = new Set((await queries.all('SELECT key_id FROM api_key_uses')).map(([id]) => String(id)));
    assert.ok(left.every(({ id }) => written.has(id)));
    assert.ok(!written.has(gone?.id));
    const { status } = await gatehouse.delete(`/api_keys/${left[0]?.id}`);
    assert.equal(status, 204);
    assert.equal(await storedUse(gatehouse, left[0]?.id), undefined, 'the use goes with its key');
  });
});
