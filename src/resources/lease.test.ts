import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { onDatabasesInTurn } from '../../test/support/each-database.ts';
import { openStore } from '../store/store.ts';
import { holdsLease, leaseSql, releaseLease, takeLease } from './lease.ts';

const table = 'test_lease';
const migrations = [{ name: 'test 0001', sql: leaseSql(table) }];
const hourMs = 3_600_000;

onDatabasesInTurn('leases', (_newDatabase, newEmpty) => {
  const open = async () => openStore({ url: await newEmpty(), migrations, onFeedFault: assert.ifError });

  test('one process at a time has a lease, until it ends or is released', async () => {
    await using store = await open();
    assert.equal(await takeLease(store, table, 'one', 60_000), 'taken');
    assert.equal(await takeLease(store, table, 'one', 60_000), 'renewed');
    assert.equal(await takeLease(store, table, 'two', 60_000), undefined);
    assert.equal(await holdsLease(store.queries, table, 'one'), true);
    assert.equal(await holdsLease(store.queries, table, 'two'), false);
    assert.equal(await releaseLease(store, table, 'two'), 0);
    assert.equal(await takeLease(store, table, 'two', 60_000), undefined);
    await releaseLease(store, table, 'one');
    assert.equal(await takeLease(store, table, 'two', 0), 'taken');
    assert.equal(await takeLease(store, table, 'one', 60_000), 'taken', 'one that has ended is free');
  });

  test('the clock of a process neither takes a lease away nor makes one longer', async (t) => {
    await using store = await open();
    t.after(() => mock.timers.reset());
    for (const byMs of [hourMs, -hourMs]) {
      await releaseLease(store, table, 'two');
      mock.timers.enable({ apis: ['Date'], now: Date.now() + byMs });
      assert.equal(await takeLease(store, table, 'one', 60_000), 'taken');
      mock.timers.reset();
      assert.equal(await takeLease(store, table, 'two', 60_000), undefined);
      mock.timers.enable({ apis: ['Date'], now: Date.now() + byMs });
      assert.equal(await takeLease(store, table, 'two', 60_000), undefined);
      // It ends at once, whatever the time of this process is.
      assert.equal(await takeLease(store, table, 'one', 0), 'renewed');
      mock.timers.reset();
      assert.equal(await takeLease(store, table, 'two', 60_000), 'taken');
    }
  });

  test('a lease from when the clock of the database was ahead is none, and nobody has one for longer than a minute', async () => {
    await using store = await open();
    const moveEnd = (byMs: number) =>
      store.writeUnlogged((writer) =>
        writer.run(`UPDATE ${table} SET ends_at = CAST(CAST(ends_at AS BIGINT) + ${byMs} AS TEXT)`),
      );
    await takeLease(store, table, 'one', hourMs);
    assert.equal(await takeLease(store, table, 'two', 60_000), undefined, 'it is as long as one may be');
    await moveEnd(hourMs);
    assert.equal(await takeLease(store, table, 'two', 60_000), 'taken');
    await moveEnd(-60_001);
    assert.equal(await takeLease(store, table, 'three', 60_000), 'taken');
  });
});
