import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { accountId, actor, createThing, openThings, things } from '../../../test/support/things.ts';
import { Pace } from '../../lib/pace.ts';
import type { Thing } from '../../../test/support/things.ts';
import { ConstraintError, StoreFullError, StoreUnavailableError } from '../database.ts';
import type { Store } from '../store.ts';

async function namesOf({ queries }: Store): Promise<string[]> {
  return (await queries.all('SELECT name FROM things ORDER BY name')).map(([name]) => String(name));
}

/** Version, position and id of every row of the change log, in order. */
async function logOf({ queries }: Store): Promise<readonly (readonly unknown[])[]> {
  return queries.all(
    'SELECT version, position, resource_id, actor, operation_id FROM change_log ORDER BY version, position',
  );
}

test('writes that find the disk full together are all told so, and none of them is stored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-full-'));
  try {
    await using store = await openThings(`sqlite:${join(folder, 'full.db')}`);
    // The limit holds for the connection that writes, which reports it like a full disk.
    await store.writeUnlogged(async (writer) => writer.all('PRAGMA max_page_count = 1'));
    const names = Array.from({ length: 20 }, (_, at) => `${at} ${'x'.repeat(4096)}`);
    const results = await Promise.allSettled(names.map((name) => createThing(store, name)));
    for (const result of results) {
      assert.ok(result.status === 'rejected' && result.reason instanceof StoreFullError, JSON.stringify(result));
    }
    assert.deepEqual([store.isFull, await namesOf(store)], [true, []]);
    await createThing(store, 'later');
    assert.deepEqual([store.isFull, await namesOf(store)], [false, ['later']]);
  } finally {
    await rm(folder, { recursive: true });
  }
});

onEachDatabase('group commit', (_newDatabase, newEmpty) => {
  test('each of many writes at the same time takes one version and leaves its own row in the change log', async () => {
    await using store = await openThings(await newEmpty());
    // More than go into one transaction.
    const made = await Promise.all(Array.from({ length: 300 }, (_, at) => createThing(store, `thing ${at}`)));
    assert.equal(store.version, 300);
    const expected = made.map(({ id }, at) => [at + 1, 0, id, actor.id, actor.operationId]);
    assert.deepEqual(await logOf(store), expected);
    assert.equal((await namesOf(store)).length, 300);
  });

  test('work for each of many items happens once for each, or not at all and with the fault of one after another', async () => {
    await using store = await openThings(await newEmpty());
    const insertAll = (names: readonly string[]) =>
      store.write(actor, (transaction) =>
        transaction.forEach(names, async (name) => {
          const [taken] = await transaction.all('SELECT id FROM things WHERE name = $1', [name]);
          if (taken !== undefined) throw new Error(`${name} is taken`);
          await things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
        }),
      );
    const names = Array.from({ length: 150 }, (_, at) => `thing ${at}`);
    await insertAll(names);
    assert.deepEqual(await namesOf(store), names.toSorted());
    assert.equal((await logOf(store)).length, 150);
    // Both look before either is there, where their statements travel together.
    await assert.rejects(insertAll(['a', 'b', 'c', 'b']), /^Error: b is taken$/);
    assert.deepEqual([(await namesOf(store)).length, (await logOf(store)).length, store.version], [150, 150, 1]);
    // Work that is undone and done again is in the log once.
    let failures = 1;
    const mayFail = (transaction: Parameters<Parameters<Store['write']>[1]>[0]) =>
      transaction.forEach(['x', 'y'], async (name) => {
        await things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
        if (name === 'y' && failures-- > 0) throw new Error('not at first');
      });
    await store.write(actor, mayFail).catch(() => {});
    assert.equal((await logOf(store)).length, (await namesOf(store)).length);
  });

  test('a write sees the changes of those before it, also of the same transaction', async () => {
    await using store = await openThings(await newEmpty());
    const { version } = store;
    const seen = () =>
      store.write(actor, async (transaction) => {
        const changes = await transaction.changesAfter(version, [things.kind], 10);
        await things.insert(transaction, {
          ...things.newDocument(accountId),
          name: `after ${changes.length}`,
          count: 0,
        });
        return changes.map(({ after }) => (JSON.parse(after ?? '{}') as Thing).name);
      });
    const [, second, third] = await Promise.all([createThing(store, 'first'), seen(), seen()]);
    assert.deepEqual([second, third], [['first'], ['first', 'after 1']]);
    assert.deepEqual((await logOf(store)).length, 3);
  });

  test('a write that has seen the changes of others, and fails, leaves theirs in the log', async () => {
    await using store = await openThings(await newEmpty());
    const { version } = store;
    const failing = store.write(actor, async (transaction) => {
      await things.insert(transaction, { ...things.newDocument(accountId), name: 'undone', count: 0 });
      throw new Error(`seen: ${(await transaction.changesAfter(version, [things.kind], 10)).length}`);
    });
    const first = createThing(store, 'first');
    const also = store.write(actor, async (transaction) => {
      throw new Error(`seen: ${(await transaction.changesAfter(version, [things.kind], 10)).length}`);
    });
    const last = createThing(store, 'last');
    await assert.rejects(failing, /seen: 0/);
    await assert.rejects(also, /seen: 1/);
    const ids = (await Promise.all([first, last])).map(({ id }) => id);
    assert.deepEqual(
      (await logOf(store)).map(([, , id]) => id),
      ids,
    );
  });

  test('a write that fails between others leaves theirs, in the table and in the log', async () => {
    await using store = await openThings(await newEmpty());
    const ends = await Promise.allSettled(['a', 'b', 'a', 'c', 'b', 'd'].map((name) => createThing(store, name)));
    assert.equal(ends.map(({ status }) => (status === 'fulfilled' ? 'y' : 'n')).join(''), 'yynyny');
    assert.deepEqual(await namesOf(store), ['a', 'b', 'c', 'd']);
    assert.equal((await logOf(store)).length, 4);
    assert.equal(store.version, 4);
  });

  test('many writes at the same time let the event loop turn', async () => {
    await using store = await openThings(await newEmpty());
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    const write = (name: string) =>
      store.write(actor, (transaction) => {
        for (const startMs = performance.now(); performance.now() - startMs < 3;);
        return things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
      });
    const all = Promise.all(Array.from({ length: 40 }, (_, at) => write(`thing ${at}`)));
    setImmediate(count);
    await all;
    isDone = true;
    // All in one stretch would be a few turns.
    assert.ok(turns >= 15, `${turns} turns`);
    assert.equal(store.version, 40);
  });

  test('a write that fails in the middle leaves no trace, and the others commit', async () => {
    await using store = await openThings(await newEmpty());
    const failing = (name: string, error: Error) =>
      store.write(actor, async (transaction) => {
        await things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
        throw error;
      });
    const results = await Promise.allSettled([
      createThing(store, 'a'),
      failing('b', new Error('changed its mind')),
      createThing(store, 'c'),
      createThing(store, 'a'),
      store.write(actor, (transaction) => Promise.resolve(transaction.run('INSERT INTO nowhere VALUES (1)'))),
      createThing(store, 'd'),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
    );
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason : undefined));
    assert.equal(reasons[1].message, 'changed its mind');
    assert.ok(reasons[3] instanceof ConstraintError);
    assert.deepEqual(await namesOf(store), ['a', 'c', 'd']);
    assert.equal(store.version, 3);
    assert.deepEqual(
      (await logOf(store)).map(([version]) => version),
      [1, 2, 3],
    );
  });

  test('a write of several changes is one version, and all or nothing', async () => {
    await using store = await openThings(await newEmpty());
    const writeTwo = (names: readonly string[]) =>
      store.write(actor, async (transaction) => {
        for (const name of names)
          await things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
      });
    await writeTwo(['a', 'b']);
    await assert.rejects(writeTwo(['c', 'a']), ConstraintError);
    assert.deepEqual(
      (await logOf(store)).map(([version, position]) => [version, position]),
      [
        [1, 0],
        [1, 1],
      ],
    );
    assert.deepEqual(await namesOf(store), ['a', 'b']);
  });

  test('a write sees those before it in the same transaction', async () => {
    await using store = await openThings(await newEmpty());
    const { id } = await createThing(store, 'counter');
    const increments = Array.from({ length: 50 }, () =>
      store.write(actor, async (transaction) => {
        const thing = await things.find(transaction, accountId, id);
        assert.ok(thing);
        return things.update(transaction, thing, { ...thing, count: thing.count + 1 });
      }),
    );
    const counts = (await Promise.all(increments)).map(({ count }) => count);
    assert.deepEqual(
      counts,
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
    assert.equal((await store.find(things, accountId, id))?.count, 50);
  });

  test('a write that changes nothing takes no version; one that hides a change is refused', async () => {
    await using store = await openThings(await newEmpty());
    const thing = await createThing(store, 'a');
    await store.write(actor, (transaction) => things.update(transaction, thing, { ...thing }));
    assert.equal(await store.write(actor, async () => 'read only'), 'read only');
    const hidden = store.write(actor, async (transaction) => transaction.run("UPDATE things SET name = 'b'"));
    await assert.rejects(hidden, /recorded no change/);
    assert.equal(store.version, 1);
    assert.deepEqual(await namesOf(store), ['a']);
  });

  test('what is answered is committed: another process sees it, and the followers know it', async () => {
    const url = await newEmpty();
    await using store = await openThings(url);
    await using other = await openThings(url);
    const told: string[] = [];
    store.follow({ changed: (changes) => void told.push(...changes.map(({ id }) => id)), reset: () => {} });
    for (let at = 0; at < 10; at++) {
      const { id } = await createThing(store, `thing ${at}`);
      assert.equal(told.at(-1), id);
      assert.equal((await things.find(other.queries, accountId, id))?.name, `thing ${at}`);
    }
    assert.equal(told.length, 10);
  });

  test('accounts take turns: one write of an account does not wait for the many of another', async () => {
    await using store = await openThings(await newEmpty());
    const order: string[] = [];
    const write = (account: string, name: string) =>
      store.write({ ...actor, accountId: account }, async (transaction) => {
        order.push(name);
        await things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
      });
    const many = Array.from({ length: 300 }, (_, at) => write('many', `many ${at}`));
    await Promise.all([...many, write('one', 'the one')]);
    // The first of the many was taken before, and a second one at most by turns.
    assert.ok(order.indexOf('the one') <= 2, order.slice(0, 5).join());
    assert.deepEqual(
      order.filter((name) => name !== 'the one'),
      Array.from({ length: 300 }, (_, at) => `many ${at}`),
    );
  });

  test('a write of many statements lets everything else go on between them', async () => {
    await using store = await openThings(await newEmpty());
    let turns = 0;
    const count = () => {
      turns += 1;
      immediate = setImmediate(count);
    };
    let immediate = setImmediate(count);
    await store.write(actor, async (transaction) => {
      turns = 0;
      const endMs = performance.now() + 200;
      while (performance.now() < endMs) await transaction.all('SELECT count(*) FROM things');
      await things.insert(transaction, { ...things.newDocument(accountId), name: 'last', count: turns });
    });
    clearImmediate(immediate);
    // On a quiet machine there are twenty; a write that gives no way has none.
    assert.ok(turns >= 2, `${turns} turns`);
  });

  test('a write does not wait for the long work of others between its steps', async () => {
    const url = await newEmpty();
    await using store = await openThings(url);
    const others = { slices: 0, isDone: false };
    const longWork = async () => {
      for (const pace = new Pace(); !others.isDone; others.slices++) await pace.giveWay();
    };
    const all = Array.from({ length: 50 }, longWork);
    const waited: number[] = [];
    await store.write(actor, async (transaction) => {
      const pace = new Pace();
      for (let step = 0; step < 10; step++) {
        while (!pace.isDue);
        const before = others.slices;
        // On SQLite, the statement gives way; one that travels waits anyway.
        if (url.startsWith('sqlite')) await transaction.all('SELECT 1');
        else await pace.giveWay();
        waited.push(others.slices - before);
      }
    });
    others.isDone = true;
    await Promise.all(all);
    assert.ok(Math.max(...waited) <= 1, waited.join());
  });

  test('a write may make more changes than a call takes arguments', async () => {
    await using store = await openThings(await newEmpty());
    const count = 150_000;
    const change = { accountId, kind: things.kind, before: null, after: null, cascades: false };
    let told = 0;
    store.follow({ changed: (changes) => void (told += changes.length), reset() {} });
    await store.write(actor, async (transaction) => {
      for (let at = 0; at < count; at++) transaction.record({ ...change, id: `th_${at}` });
    });
    assert.equal(told, count);
    assert.deepEqual(await store.queries.all('SELECT COUNT(*) FROM change_log'), [[count]]);
  });

  test('observations are written in turn, without a version', async () => {
    await using store = await openThings(await newEmpty());
    const { id } = await createThing(store, 'a');
    await store.writeUnlogged((writer) =>
      Promise.resolve(writer.run('UPDATE things SET name = $1 WHERE id = $2', ['noted', id])),
    );
    assert.equal(store.version, 1);
    assert.deepEqual(await namesOf(store), ['noted']);
  });

  test('when the connection breaks, what was not committed is refused, and the next write works', async (context) => {
    const url = await newEmpty();
    if (!url.startsWith('postgres')) return context.diagnostic('SQLite has no connection to break');
    await using store = await openThings(url);
    await createThing(store, 'before');
    const broken = store.write(actor, async (transaction) => {
      await things.insert(transaction, { ...things.newDocument(accountId), name: 'lost', count: 0 });
      await transaction.all('SELECT pg_terminate_backend(pg_backend_pid())');
    });
    const results = await Promise.allSettled([createThing(store, 'with it'), broken, createThing(store, 'after it')]);
    for (const result of results) assert.equal(result.status, 'rejected');
    await assert.rejects(broken, StoreUnavailableError);
    await createThing(store, 'next');
    assert.deepEqual(await namesOf(store), ['before', 'next']);
    assert.equal(store.version, 2);
    assert.equal((await logOf(store)).length, 2);
  });
});
