import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { connectPostgres } from '../../../test/support/postgres-client.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { openPostgres } from './postgres.ts';

test('searches take half of the connections, and short reads go on beside them', { timeout: 120_000 }, async () => {
  await using server = await startPostgres();
  const database = await openPostgres(server.url);
  await using holder = await connectPostgres(server.url);
  try {
    await holder.query('SELECT pg_advisory_lock(1)');
    const search = () => database.reader.all('SELECT pg_advisory_xact_lock_shared(1)::text', [], 'once');
    const searches = Array.from({ length: 20 }, () => search());
    const settled = Promise.allSettled(searches);
    const blocked = "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'advisory'";
    const blockedCount = async () => (await holder.query(blocked)).rows[0].count;
    await until(async () => (await blockedCount()) === 4, 'searches wait');
    assert.deepEqual(
      await Promise.all(Array.from({ length: 20 }, () => database.reader.all('SELECT 1'))),
      Array.from({ length: 20 }, () => [[1]]),
    );
    assert.ok((await blockedCount()) <= 4);
    await holder.query('SELECT pg_advisory_unlock(1)');
    await settled;
    assert.equal((await search()).length, 1, 'places are given back');
  } finally {
    await database.close();
  }
});
