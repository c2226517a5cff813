import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';

/**
 * Fills the disk as the database sees it. SQLite: a limit of pages on the connection that writes, which it reports like a
 * full disk. PostgreSQL: a trigger that raises the error of a full disk.
 */
async function fillDisk({ app }: Gatehouse): Promise<void> {
  const { store } = app.context;
  const onSqlite = await isSqlite(store);
  await store.writeUnlogged(async (writer) => {
    if (onSqlite) {
      await writer.all('PRAGMA max_page_count = 1');
      return;
    }
    await writer.run(`
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$`);
    await writer.run('CREATE TRIGGER full_disk BEFORE INSERT ON change_log EXECUTE FUNCTION full_disk()');
  });
}

async function freeDisk({ app }: Gatehouse): Promise<void> {
  const { store } = app.context;
  const onSqlite = await isSqlite(store);
  await store.writeUnlogged(async (writer) => {
    if (onSqlite) await writer.all('PRAGMA max_page_count = 1073741823');
    else await writer.run('DROP TRIGGER full_disk ON change_log');
  });
}

type Store = Gatehouse['app']['context']['store'];

async function isSqlite({ queries }: Store): Promise<boolean> {
  try {
    await queries.all('SELECT sqlite_version()');
    return true;
  } catch {
    return false;
  }
}

async function storageOf(gatehouse: Gatehouse): Promise<readonly unknown[]> {
  const { status, body } = await gatehouse.get('/readyz');
  const metrics = await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`);
  const [, full] = /^gatehouse_storage_full (\d)$/m.exec(await metrics.text()) ?? [];
  return [status, body.storage, Number(full)];
}

onEachDatabase('a full disk', (_newDatabase, newEmpty) => {
  test('refuses writes in words of its own, reading goes on, and writing goes on when there is space', async () => {
    await using gatehouse = await Gatehouse.start(await newEmpty(), { role: 'api', metricsListen: '127.0.0.1:0' });
    const kept = await gatehouse.create('/ip_policies', { description: 'kept' });
    assert.deepEqual(await storageOf(gatehouse), [200, 'ok', 0]);

    await fillDisk(gatehouse);
    const metadata = 'x'.repeat(4096);
    const { status, body, headers } = await gatehouse.post('/ip_policies', { metadata });
    assert.deepEqual([status, body.error_code], [503, 'ERR_GATEHOUSE_20078']);
    assert.match(body.msg, /disk of the database is full, and nothing was stored/);
    assert.equal(headers.get('retry-after'), '10');
    assert.deepEqual(await storageOf(gatehouse), [200, 'full', 1]);
    assert.equal((await gatehouse.get(`/ip_policies/${kept.id}`)).body.description, 'kept');
    assert.equal((await gatehouse.get('/ip_policies')).body.ip_policies.length, 1);

    await freeDisk(gatehouse);
    await gatehouse.create('/ip_policies', { metadata });
    assert.deepEqual(await storageOf(gatehouse), [200, 'ok', 0]);
    assert.equal((await gatehouse.get('/ip_policies')).body.ip_policies.length, 2);
  });
});
