import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AbandonedError } from '../../lib/pace.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { accountId, actor, openThings, things } from '../../../test/support/things.ts';
import type { Condition } from './condition.ts';
import type { Queries } from '../database.ts';

const none: Condition = { kind: 'compare', field: { kind: 'text', path: ['name'] }, operator: '=', to: 'none' };

onEachDatabase('a page of rows that pass a condition', (_newDatabase, newEmpty) => {
  test('is read in steps of few rows, fewer for a long condition, and not beyond its bound', async () => {
    await using store = await openThings(await newEmpty());
    await store.write(actor, async (transaction) => {
      for (let from = 0; from < 1_500; from += 100) {
        const some = Array.from({ length: 100 }, (_, at) => ({
          ...things.newDocument(accountId),
          name: `thing ${from + at}`,
          count: at,
        }));
        await things.insertMany(transaction, some);
        transaction.record({ accountId, kind: 'thing', id: 'th_1', before: null, after: '{}', cascades: true });
      }
    });
    const steps: number[] = [];
    const counted: Queries = {
      all: async (sql, parameters, searcher) => {
        const rows = await store.queries.all(sql, parameters, searcher);
        if (/octet_length/.test(sql)) return rows;
        assert.equal(searcher, accountId, 'a statement that a caller has formed is kept for ever');
        steps.push(rows.length);
        return rows;
      },
    };
    let stepLimit = Number.POSITIVE_INFINITY;
    const read = async (condition: Condition, maxRows: number) => {
      steps.length = 0;
      const page = {
        beforeId: undefined,
        limit: 10,
        condition,
        maxRows,
        isAbandoned: () => steps.length === stepLimit,
      };
      return things.filteredPage(counted, store.json, accountId, page);
    };
    const sum = () => steps.reduce((all, rows) => all + rows, 0);
    const all = await read(none, 10_000);
    assert.deepEqual(all, { found: [], endedAt: undefined, lookedAt: 1_500 });
    assert.equal(sum(), 1_500);
    assert.ok(Math.max(...steps) <= 200, `a step of ${Math.max(...steps)} rows`);
    const bounded = await read(none, 333);
    assert.equal(sum(), 333);
    const expected = (await things.page(store.queries, accountId, { beforeId: undefined, limit: 333 })).at(-1);
    assert.equal(bounded.endedAt, expected?.id);
    const long: Condition = { kind: 'any', of: Array.from({ length: 500 }, () => none) };
    await read(long, 100);
    assert.ok(Math.max(...steps) <= 10, `a step of ${Math.max(...steps)} rows by a long condition`);
    const { found } = await read({ kind: 'constant', value: true }, 10_000);
    assert.equal(found.length, 10);
    assert.ok(sum() <= 20, 'more was read than a page needs');
    stepLimit = 3;
    await assert.rejects(read(none, 10_000), AbandonedError);
    assert.equal(steps.length, stepLimit, 'a search went on that nobody waits for');
  });
});
