import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connectPostgres } from '../../support/postgres-client.ts';
import { rounds } from '../../support/long-form.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { killListeners, listenersOf } from './support/listeners.ts';
import { Running } from './support/running.ts';
import { until } from './support/waiting.ts';

const kills = rounds(2, 50);

test(`the listening connections are killed ${kills} times: every change arrives all the same, and they are made anew`, async () => {
  await using owner = new AsyncDisposableStack();
  const database = await usePostgres(owner);
  await using writer = await Running.start(database);
  await using reader = await Running.start(database);
  const { id } = await writer.create('/ip_policies', { description: 'never changed' });
  const readDescription = async () => (await reader.call('GET', `/ip_policies/${id}`)).body?.description;
  for (let kill = 0; kill < kills; kill++) {
    // The reader now has it in its cache and must be notified to drop it.
    await until('the reader has it', async () => (await readDescription()) !== undefined);
    const old = await listenersOf(database);
    assert.equal(old.size, 2, 'one of each process');
    const description = `change ${kill}`;
    await Promise.all([killListeners(database), writer.call('PATCH', `/ip_policies/${id}`, { description })]);
    await until('the change has arrived', async () => (await readDescription()) === description);
    await until('both listen again', async () => {
      const now = await listenersOf(database);
      return now.size === 2 && now.isDisjointFrom(old);
    });
  }
});

test('the version cannot be read: each authentication asks the database, and a key revoked meanwhile is refused', async () => {
  await using owner = new AsyncDisposableStack();
  const database = await usePostgres(owner);
  await using running = await Running.start(database);
  const [revoked, kept] = [await running.create('/api_keys'), await running.create('/api_keys')];
  const use = async ({ token }: { token: string }) =>
    (await running.call('GET', '/ip_policies', undefined, { token })).status;
  const isReady = async () => (await running.call('GET', '/readyz')).status === 200;
  assert.deepEqual([await use(revoked), await use(kept)], [200, 200], 'both are in memory now');

  await using other = await connectPostgres(database);
  await other.query('BEGIN; LOCK TABLE store_version IN ACCESS EXCLUSIVE MODE');
  await until('it no longer trusts its memory', async () => !(await isReady()));
  // Writes as another process does whose signal has not arrived.
  await using client = await connectPostgres(database);
  await client.query('DELETE FROM api_keys WHERE id = $1', [revoked.id]);
  assert.deepEqual([await use(revoked), await use(kept)], [401, 200]);
  await other.query('ROLLBACK');
  await until('it trusts its memory again', isReady);
});
