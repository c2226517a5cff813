import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import { accountId, actor, createThing, openThings, things } from '../../test/support/things.ts';
import type { Thing } from '../../test/support/things.ts';
import { StoreUnavailableError } from './database.ts';
import type { Store } from './store.ts';
import type { Page } from './table.ts';

const increment = (store: Store, id: string): Promise<Thing> =>
  store.write(actor, async (transaction) => {
    const thing = await things.find(transaction, accountId, id);
    assert.ok(thing);
    return things.update(transaction, thing, { ...thing, count: thing.count + 1 });
  });

const remove = (store: Store, thing: Thing, cascades = false): Promise<number> =>
  store.write(actor, (transaction) => things.delete(transaction, thing, { cascades }));

/** Waits for a write of another process, which is seen soon, but not at once. */
async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt++) {
    if (await isTrue()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it did not come true');
}

onEachDatabase('the store', (_newDatabase, newEmpty) => {
  test('a document is never older than the last write that was answered', async () => {
    await using store = await openThings(await newEmpty());
    const { id } = await createThing(store, 'a');
    const state = { answered: 0, done: false };
    const reader = async () => {
      while (!state.done) {
        const least = state.answered;
        const { count = -1 } = (await store.find(things, accountId, id)) ?? {};
        assert.ok(count >= least, `read ${count} after ${least} was answered`);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const readers = Promise.all([reader(), reader(), reader(), reader()]);
    for (let at = 0; at < 60; at++) {
      const { count } = await increment(store, id);
      state.answered = count;
      assert.equal((await store.find(things, accountId, id))?.count, count);
    }
    state.done = true;
    await readers;
    assert.equal(state.answered, 60);
  });

  test('a write that comes after the end is refused, and opens nothing again', async () => {
    const store = await openThings(await newEmpty());
    const last = createThing(store, 'last');
    await store[Symbol.asyncDispose]();
    assert.equal((await last).name, 'last');
    await assert.rejects(createThing(store, 'late'), StoreUnavailableError);
    await assert.rejects(
      store.writeUnlogged(async () => {}),
      StoreUnavailableError,
    );
  });

  test('a deleted document is gone from memory, and a cascading deletion empties it', async () => {
    await using store = await openThings(await newEmpty());
    const [first, second] = [await createThing(store, 'a'), await createThing(store, 'b')];
    for (const { id } of [first, second]) assert.ok(await store.find(things, accountId, id));
    await remove(store, first);
    assert.equal(await store.find(things, accountId, first.id), undefined);
    const third = await createThing(store, 'c');
    assert.ok(await store.find(things, accountId, third.id));
    await store.write(actor, async (transaction) => {
      await transaction.run('DELETE FROM things WHERE id = $1', [third.id]);
      await things.delete(transaction, second, { cascades: true });
    });
    assert.equal(await store.find(things, accountId, third.id), undefined);
  });

  test('a document of another account, or an id of another kind, is not found', async () => {
    await using store = await openThings(await newEmpty());
    const { id } = await createThing(store, 'a');
    for (let time = 0; time < 2; time++) {
      assert.equal(await store.find(things, 'ac_other', id), undefined);
      assert.ok(await store.find(things, accountId, id));
    }
    for (const odd of ['', 'th_', 'th_\0', `ot_${id.slice(3)}`, id.slice(3), `${id}\0`, 'th_a b']) {
      assert.equal(await store.find(things, accountId, odd), undefined, odd);
    }
  });

  test('two stores over one database see each other’s changes, in memory too', async () => {
    const url = await newEmpty();
    await using a = await openThings(url);
    await using b = await openThings(url);
    const { id } = await createThing(a, 'shared');
    await until(async () => b.version === a.version);
    assert.equal((await b.find(things, accountId, id))?.count, 0);
    await increment(a, id);
    await b.poll();
    assert.equal((await b.find(things, accountId, id))?.count, 1);
    await increment(b, id);
    await until(async () => (await a.find(things, accountId, id))?.count === 2);
    const thing = await a.find(things, accountId, id);
    assert.ok(thing);
    await remove(a, thing);
    await until(async () => (await b.find(things, accountId, id)) === undefined);
  });

  test('a page has all that was committed before it was asked for, by this store and by another', async () => {
    const url = await newEmpty();
    await using a = await openThings(url);
    await using b = await openThings(url);
    const names = async (page: Partial<Page> = {}, account = accountId) => {
      const all = await b.page(things, account, { beforeId: undefined, limit: 3, ...page });
      return all.map(({ name }) => name).join('');
    };
    const [first, second] = [await createThing(a, 'a'), await createThing(a, 'b')];
    for (let time = 0; time < 2; time++) {
      assert.equal(await names(), 'ba');
      assert.equal(await names({ limit: 1 }), 'b');
      assert.equal(await names({ beforeId: second.id }), 'a');
      assert.equal(await names({}, 'ac_other'), '');
    }
    for (const [store, name] of [
      [a, 'c'],
      [b, 'd'],
    ] as const) {
      await createThing(store, name);
      assert.equal((await names()).at(0), name);
    }
    assert.equal(await names(), 'dcb');
    await remove(a, second);
    assert.equal(await names(), 'dca');
    await remove(b, first);
    assert.equal(await names(), 'dc');
    await a.writeUnlogged(async (writer) => writer.run('DELETE FROM things'));
    assert.equal(await names(), '');
  });

  test('writes of two stores at the same time share one order, and each hears of all once', async () => {
    const url = await newEmpty();
    await using a = await openThings(url);
    await using b = await openThings(url);
    const told: [string[], string[]] = [[], []];
    for (const [at, store] of [a, b].entries()) {
      store.follow({
        changed: (changes) => void told[at]?.push(...changes.map(({ id }) => id)),
        reset: () => assert.fail(),
      });
    }
    await Promise.all(Array.from({ length: 60 }, (_, at) => createThing(at % 2 === 0 ? a : b, `thing ${at}`)));
    await a.poll();
    await b.poll();
    assert.deepEqual([a.version, b.version], [60, 60]);
    const log = await a.queries.all('SELECT resource_id FROM change_log ORDER BY version');
    const ids = log.map(([id]) => String(id));
    assert.equal(ids.length, 60);
    assert.deepEqual(told, [ids, ids]);
  });

  test('a snapshot stays what it was while others write', async () => {
    await using store = await openThings(await newEmpty());
    await createThing(store, 'a');
    const counts = await store.readSnapshot(async (queries) => {
      const count = async () => Number((await queries.all('SELECT COUNT(*) FROM things'))[0]?.[0]);
      const before = await count();
      await createThing(store, 'b');
      return [before, await count()];
    });
    assert.deepEqual(counts, [1, 1]);
  });

  test('the change log tells who did what, with the state before and after', async () => {
    await using store = await openThings(await newEmpty());
    const thing = await createThing(store, 'a');
    const changed = await increment(store, thing.id);
    await remove(store, changed);
    const rows = await store.queries.all(
      'SELECT kind, resource_id, account_id, before, after FROM change_log ORDER BY version',
    );
    const [first, second] = [JSON.stringify(thing), JSON.stringify(changed)];
    assert.deepEqual(rows, [
      ['thing', thing.id, accountId, null, first],
      ['thing', thing.id, accountId, first, second],
      ['thing', thing.id, accountId, second, null],
    ]);
  });
});
