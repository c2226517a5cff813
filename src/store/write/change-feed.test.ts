import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { ChangeFeed } from './change-feed.ts';
import { pruneChanges } from './change-log.ts';
import type { Queries } from '../database.ts';
import { headSql, toHead } from './history.ts';
import { openStore } from '../store.ts';
import type { Store } from '../store.ts';

const actor = { id: 'host', accountId: '', operationId: 'op_test' };

function write(store: Store, id: string): Promise<void> {
  return store.write(actor, async (transaction) => {
    transaction.record({ accountId: '', kind: 'thing', id, before: null, after: '{}', cascades: false });
  });
}

const databaseOf = (reader: Queries) => ({ reader, readHead: async () => toHead(await reader.all(headSql)) });

/** A feed of its own, as another process has one, and what it told. */
async function followerOf(store: Store): Promise<{ readonly feed: ChangeFeed; readonly told: string[] }> {
  const database = databaseOf(store.queries);
  const feed = new ChangeFeed(database, await database.readHead());
  const told: string[] = [];
  feed.follow({
    changed: (changes, { version }) => void told.push(`${changes.map(({ id }) => id).join('+')} at ${version}`),
    reset: ({ version }) => void told.push(`lost at ${version}`),
  });
  return { feed, told };
}

onEachDatabase('change feed', (_newDatabase, newEmpty) => {
  const open = async () => openStore({ url: await newEmpty(), migrations: [], onFeedFault: () => {} });

  test('a look brings everything since the last one, once and in order', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    await write(store, 'a');
    await write(store, 'b');
    await feed.poll();
    await feed.poll();
    await write(store, 'c');
    await feed.poll();
    assert.deepEqual(told, ['a+b at 2', 'c at 3']);
  });

  test('what the log no longer knows is told as lost, not passed over', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    await write(store, 'a');
    await store.writeUnlogged((writer) => pruneChanges(writer, '9999-01-01T00:00:00Z'));
    await write(store, 'b');
    await feed.poll();
    await write(store, 'c');
    await feed.poll();
    assert.deepEqual(told, ['lost at 2', 'c at 3']);
  });

  test('old changes are deleted in short steps, the oldest first, and never newer ones', async () => {
    await using store = await open();
    await Promise.all(Array.from({ length: 1_200 }, () => write(store, 'x')));
    const prune = (before: string) => store.writeUnlogged((writer) => pruneChanges(writer, before));
    assert.equal(await prune('2000-01-01T00:00:00Z'), 0);
    assert.equal(await prune('9999-01-01T00:00:00Z'), 1_000);
    const left = 'SELECT MIN(version), count(*) FROM change_log';
    assert.deepEqual(await store.queries.all(left), [[1_001, 200]]);
    assert.equal(await prune('9999-01-01T00:00:00Z'), 200);
    assert.equal(await prune('9999-01-01T00:00:00Z'), 0);
  });

  test('a long way is caught up with in steps', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    await Promise.all(Array.from({ length: 1_500 }, () => write(store, 'x')));
    await feed.poll();
    assert.deepEqual(
      told.map((line) => line.replace(/.* /, '')),
      ['1000', '1500'],
    );
  });

  test('changes with long texts are read a few at a time, and told in whole versions', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    const many = Array.from({ length: 20 }, (_, at) => `d${at}`);
    const after = JSON.stringify({ text: 'x'.repeat(500_000) });
    const change = (id: string) => ({ accountId: 'ac_a', kind: 'thing', id, before: null, after, cascades: false });
    for (const ids of [['a', 'b'], ['c'], many, ['x'], ['y']])
      await store.write(actor, async (transaction) => {
        for (const id of ids) transaction.record(change(id));
      });
    const queries: { all: typeof store.queries.all } = store.queries;
    const all = queries.all.bind(queries);
    let most = 0;
    queries.all = async (...given) => {
      const rows = await all(...given);
      most = Math.max(most, rows.flat().join('').length);
      return rows;
    };
    await feed.poll();
    assert.deepEqual(told, ['a+b+c at 2', `${many.join('+')} at 3`, 'x+y at 5']);
    assert.ok(most > 500_000 && most < 1_500_000, `${most} characters in one statement`);
  });

  test('a database that could not be asked confirms nothing until it was', async () => {
    await using store = await open();
    let isAway = false;
    const database = databaseOf({
      all: async (sql, parameters) => (isAway ? Promise.reject(new Error('away')) : store.queries.all(sql, parameters)),
    });
    const feed = new ChangeFeed(database, await database.readHead());
    isAway = true;
    const asked = performance.now();
    await assert.rejects(feed.poll(), /away/);
    await sleep(5);
    feed.markFresh();
    assert.ok(feed.isBehind);
    const sinceMs = performance.now() - asked;
    assert.ok(feed.ageMs >= sinceMs, 'it was confirmed without a look');
    isAway = false;
    await Promise.all([feed.poll(), feed.poll()]);
    assert.ok(!feed.isBehind);
  });

  test('a follower that reads everything first is told of nothing before, and of all that came meanwhile', async () => {
    await using store = await open();
    await write(store, 'a');
    const { feed } = await followerOf(store);
    const told: string[] = [];
    const started = feed.followFromStart({
      changed: (changes, { version }) => void told.push(`${changes.map(({ id }) => id).join('+')} at ${version}`),
      reset: async ({ version }) => {
        await write(store, 'b');
        polled = feed.poll();
        await sleep(5);
        told.push(`all at ${version}`);
      },
    });
    let polled: Promise<void> | undefined;
    await started;
    await polled;
    assert.deepEqual(told, ['all at 1', 'b at 2']);
  });

  test('own changes that come after a gap are preceded by what was missed', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    await write(store, 'a');
    await write(store, 'b');
    const change = { accountId: '', kind: 'thing', id: 'b', before: null, after: '{}', cascades: false };
    const { logged: to } = await databaseOf(store.queries).readHead();
    const changes = [{ ...change, at: to }];
    await feed.committed({ from: { version: 1, mark: 7 }, to, changes, observed: undefined });
    assert.deepEqual(told, ['a+b at 2']);
  });

  const observe = (store: Store, ...ids: readonly string[]) =>
    store.writeUnlogged(async (writer) => {
      for (const id of ids) writer.record({ accountId: '', kind: 'seen', id });
    });

  test('observed changes are told in order, at the version that is in force', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    const own: string[] = [];
    store.follow({
      changed: (changes, { version }) => void own.push(`${changes.map(({ id }) => id).join('+')} at ${version}`),
      reset: () => void own.push('lost'),
    });
    await write(store, 'a');
    await observe(store, 'b', 'c');
    assert.deepEqual(own, ['a at 1', 'b+c at 1'], 'its own process knows when the write is answered');
    await write(store, 'd');
    await feed.poll();
    assert.deepEqual(told, ['a+d at 2', 'b+c at 2']);
    await feed.poll();
    assert.equal(told.length, 2, 'nothing is told twice');
    assert.equal(store.version, 2);
  });

  test('a process that has missed observed changes for good is reset', async () => {
    await using store = await open();
    const { feed, told } = await followerOf(store);
    await observe(store, 'a', 'b');
    await store.writeUnlogged(async (writer) => writer.run('DELETE FROM observed_changes WHERE version = 1'));
    await feed.poll();
    assert.deepEqual(told, ['lost at 0']);
    await observe(store, 'c');
    await feed.poll();
    assert.deepEqual(told, ['lost at 0', 'c at 0']);
  });

  test('observed changes of another process are followed by themselves', async () => {
    const url = await newEmpty();
    const options = { url, migrations: [], onFeedFault: () => {} };
    await using one = await openStore(options);
    await using other = await openStore(options);
    const seen = new Promise<string>((resolve) => {
      other.follow({
        changed: (changes) => {
          resolve(changes.map(({ kind, id }) => `${kind} ${id}`).join());
        },
        reset: () => {},
      });
    });
    await observe(one, 'x');
    assert.equal(await seen, 'seen x');
  });

  test('a change of another process arrives by its signal: no timer has to come round', async (t) => {
    // Nobody polls again and again while this clock stands still.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const url = await newEmpty();
    const options = { url, migrations: [], onFeedFault: () => {} };
    await using one = await openStore(options);
    await using other = await openStore(options);
    const { promise: seen, resolve } = Promise.withResolvers<number>();
    other.follow({
      changed: (_changes, { version }) => {
        resolve(version);
      },
      reset: () => {},
    });
    await write(one, 'x');
    // SQLite has no signal; its next look is enough.
    if (url.startsWith('sqlite')) t.mock.timers.tick(50);
    assert.equal(await seen, 1);
  });
});
