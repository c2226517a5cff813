import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { DuckDBInstance } from '@duckdb/node-api';

import type { Visitors } from './messages.ts';
import type { Parts } from './parts.ts';
import { readVisitors, visitorLimits } from './read-visitors.ts';
import { readWithin } from './reading.ts';

/** Files of an account, newest first, with so many visits to different paths. */
async function filesWith(t: TestContext, ...rows: readonly number[]) {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const closed = [];
  for (const [at, count] of rows.entries()) {
    await connection.run(`CREATE TABLE file${at} AS SELECT 'edghts_1' AS edge_id, 'edghtsrt_1' AS route_id, '' AS person,
      '' AS module, 'allowed' AS verdict, 'bkdstc_1' AS backend_id, 'GET' AS method, 'shop.example.com' AS host, 443 AS port,
      concat('/', range) AS path, 7::BIGINT AS configuration_version, 0::UBIGINT AS source_high, 1::UBIGINT AS source_low,
      ${1_000 - at}::BIGINT AS at_ms FROM range(${count})`);
    const numbers = { firstNumber: 1_000 - at, lastNumber: 1_000 - at, minAtMs: 1_000 - at, maxAtMs: 1_000 - at };
    closed.push({ table: `file${at}`, accountId: 'ac_one', path: '', bytes: 0, ...numbers });
  }
  connection.closeSync();
  t.after(() => instance.closeSync());
  const parts: Parts = { open: undefined, closed, minutes: new Map(), hours: [], beganMs: 0, keptFromMs: 0 };
  return (before?: number): Promise<Visitors> =>
    readWithin(instance, {}, (reading) =>
      readVisitors(reading, parts, {
        accountId: 'ac_one',
        fromMs: 0,
        before,
        edgeIds: ['edghts_1'],
        since: 0,
        withPaths: true,
      }),
    );
}

test('paths that visitors make up do not fill the memory, and what was left out is told', async (t) => {
  t.after(() => Object.assign(visitorLimits, { groups: 200_000 }));
  visitorLimits.groups = 6_000;
  const read = await filesWith(t, 1_000, 4_000, 4_000, 30_000, 1_000);
  const sizes: (readonly [number, boolean])[] = [];
  for (let before: number | undefined, asked = 0; asked === 0 || before !== undefined; asked++) {
    assert.ok(asked < 10, 'it comes to no end');
    const { fact, isCut, cutAt } = await read(before);
    // One batch may begin below the bound, and none is larger than it.
    assert.ok(fact.length < 2 * visitorLimits.groups, String(fact.length));
    sizes.push([fact.length, isCut]);
    before = cutAt;
  }
  const [whole, cut] = [sizes.filter(([, isCut]) => !isCut), sizes.filter(([, isCut]) => isCut)];
  assert.equal(cut.length, 1, JSON.stringify(sizes));
  // All files but the one that has too many are there as a whole.
  const all = whole.reduce((sum, [count]) => sum + count, 0);
  assert.ok(all <= 10_000 && all + (cut[0]?.[0] ?? 0) > 10_000, JSON.stringify(sizes));
});
