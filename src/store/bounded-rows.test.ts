import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import type { Queries } from './database.ts';
import { openStore } from './store.ts';
import { Table, tableSql } from './table.ts';
import type { Stored } from './table.ts';

interface Page extends Stored {
  readonly text: string;
}

const longest = 120_000;
const pages = new Table<Page>({ name: 'pages', kind: 'page', prefix: 'pg', mayBeLong: true });
const migrations = [
  {
    name: 'pages 0001',
    sql: `
      CREATE TABLE accounts (id TEXT PRIMARY KEY);
      INSERT INTO accounts (id) VALUES ('ac_1'), ('ac_2');
      ${tableSql('pages')}`,
  },
];

onEachDatabase('documents that may be long', (_newDatabase, newEmpty) => {
  const open = async () => openStore({ url: await newEmpty(), migrations, onFeedFault: assert.ifError });

  /** Writes documents, long and short ones in turns of both, and returns their ids, oldest first. */
  const fill = async (store: Awaited<ReturnType<typeof open>>, accountId: string): Promise<readonly string[]> => {
    const ids: string[] = [];
    await store.write({ id: 'host', accountId, operationId: '' }, async (transaction) => {
      for (let at = 0; at < 80; at++) {
        const text = '€'.repeat(at % 20 < 12 ? longest / 3 : 3);
        const { id } = await pages.insert(transaction, { ...pages.newDocument(accountId), text });
        ids.push(id);
      }
    });
    return ids.toSorted();
  };

  test('are all read in their order, and no statement reads many long ones', async () => {
    await using store = await open();
    const ids = await fill(store, 'ac_1');
    await fill(store, 'ac_2');
    const newest = ids.toReversed();
    const watched = watch(store.queries);
    const idsOf = (found: readonly Page[]) => found.map(({ id }) => id);
    const page = async (beforeId: string | undefined, limit: number) =>
      idsOf(await pages.page(store.queries, 'ac_1', { beforeId, limit }));
    assert.deepEqual(await page(undefined, 1_000), newest);
    assert.deepEqual(await page(undefined, 50), newest.slice(0, 50));
    assert.deepEqual(await page(newest[9], 30), newest.slice(10, 40));
    assert.deepEqual(await page(newest.at(-1), 30), []);
    const all = await pages.loadMany(store.queries, undefined);
    assert.equal(all.length, 160);
    assert.deepEqual(idsOf(all.filter(({ account_id }) => account_id === 'ac_1')), ids);
    const some = [...ids.slice(0, 70), 'pg_unknown'];
    assert.deepEqual(idsOf(await pages.loadMany(store.queries, some)).toSorted(), ids.slice(0, 70));
    assert.ok(watched.most > longest && watched.most < 4 * longest, `${watched.most} bytes in one statement`);
    assert.ok(watched.statements < 130, `${watched.statements} statements`);
  });

  test('stay in no memory', async () => {
    await using store = await open();
    const ids = await fill(store, 'ac_1');
    const watched = watch(store.queries);
    const statementsFor = async (id: string | undefined) => {
      const before = watched.statements;
      for (let time = 0; time < 2; time++) assert.ok(await store.find(pages, 'ac_1', id ?? ''));
      return watched.statements - before;
    };
    assert.equal(await statementsFor(ids[0]), 2);
    assert.equal(await statementsFor(ids[15]), 1);
  });
});

/** Counts statements, and the bytes of the largest answer. */
function watch(queries: { all: Queries['all'] }) {
  const all = queries.all.bind(queries);
  const counts = { most: 0, statements: 0 };
  queries.all = async (...given) => {
    const rows = await all(...given);
    const bytes = rows.flat().map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0));
    counts.statements += 1;
    counts.most = Math.max(
      counts.most,
      bytes.reduce((sum, each) => sum + each, 0),
    );
    return rows;
  };
  return counts;
}
