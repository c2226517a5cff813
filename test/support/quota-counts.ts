import assert from 'node:assert/strict';

import { countedTables, quotas } from '../../src/resources/quotas/table.ts';
import type { Row } from '../../src/store/database.ts';
import type { Gatehouse } from './gatehouse.ts';

/** Fails unless the counts are those of the rows. */
export async function countAgain({ app }: Gatehouse): Promise<void> {
  const tables = countedTables(quotas).map(
    ({ table, quota, column, sum }) =>
      `SELECT account_id, '${quota}' AS quota, ${sum ?? 1} AS counted FROM ${table} ${column === undefined ? '' : `WHERE ${column} IS NOT NULL`}`,
  );
  const sql = `SELECT account_id, quota, SUM(counted) FROM (${tables.join(' UNION ALL ')}) counted GROUP BY account_id, quota HAVING SUM(counted) <> 0`;
  const kept = 'SELECT account_id, quota, used FROM account_usage WHERE used <> 0';
  const lines = (rows: readonly Row[]) => rows.map((row) => row.join(' ')).toSorted();
  await app.context.store.readSnapshot(async (queries) => {
    assert.deepEqual(lines(await queries.all(kept)), lines(await queries.all(sql)));
  });
}
