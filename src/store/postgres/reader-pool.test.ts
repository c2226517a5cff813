import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { connectPostgres } from '../../../test/support/postgres-client.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { openPostgres } from './postgres.ts';

test(
  'searches take half of the connections, those of one account fewer, and short reads go on beside them',
  { timeout: 120_000 },
  async () => {
    await using server = await startPostgres();
    const database = await openPostgres(server.url);
    await using holder = await connectPostgres(server.url);
    try {
      await holder.query('SELECT pg_advisory_lock(1)');
      const search = (account: string) =>
        database.reader.all('SELECT pg_advisory_xact_lock_shared(1)::text', [], account);
      const ended: string[] = [];
      const searches = Array.from({ length: 20 }, async (_, at) => {
        await search('ac_1');
        ended.push(`1 ${at}`);
      });
      const blocked = "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE wait_event = 'advisory'";
      const blockedCount = async () => (await holder.query(blocked)).rows[0].count;
      await until(async () => (await blockedCount()) === 3, 'searches wait');
      searches.push(
        ...Array.from({ length: 3 }, async (_, at) => {
          await search('ac_2');
          ended.push(`2 ${at}`);
        }),
      );
      await until(async () => (await blockedCount()) === 4, 'one of another account runs beside them');
      assert.deepEqual(
        await Promise.all(Array.from({ length: 20 }, () => database.reader.all('SELECT 1'))),
        Array.from({ length: 20 }, () => [[1]]),
      );
      assert.ok((await blockedCount()) <= 4);
      await holder.query('SELECT pg_advisory_unlock(1)');
      await Promise.all(searches);
      const others = ended.flatMap((name, at) => (name.startsWith('2') ? [at] : []));
      assert.equal(others.length, 3);
      assert.ok(Math.max(...others) < 15, `searches of another account ended in places ${others.join(', ')}`);
      assert.equal((await search('ac_1')).length, 1, 'places are given back');
    } finally {
      await database.close();
    }
  },
);
