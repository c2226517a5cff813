import assert from 'node:assert/strict';
import { stat } from 'node:fs/promises';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import { createThing, openThings, thingMigrations } from '../../test/support/things.ts';
import { openStore } from './store.ts';

const open = (url: string, more: readonly { name: string; sql: string }[] = []) =>
  openStore({ url, migrations: [...thingMigrations, ...more], onFeedFault: () => {} });

const second = { name: '0002 colours', sql: 'CREATE TABLE colours (id TEXT PRIMARY KEY, shade INTEGER NOT NULL);' };

onEachDatabase('migrations', (_newDatabase, newEmpty) => {
  test('are applied once: a second start changes nothing', async () => {
    const url = await newEmpty();
    {
      await using store = await open(url, [second]);
      await createThing(store, 'kept');
    }
    await using store = await open(url, [second]);
    assert.equal(store.version, 1);
    assert.deepEqual(await store.queries.all('SELECT name FROM things'), [['kept']]);
    const applied = await store.queries.all('SELECT name FROM applied_migrations ORDER BY name');
    assert.deepEqual(
      applied.map(([name]) => name),
      [
        '0000 versions and the change log',
        '0001 things',
        '0002 colours',
        'store 0001 observed changes',
        'store 0002 history',
        'store 0003 source of changes',
        'store 0004 parts of changes',
      ],
    );
  });

  test('a new one is applied to a database that has data', async () => {
    const url = await newEmpty();
    {
      await using store = await open(url);
      await createThing(store, 'kept');
    }
    await using store = await open(url, [second]);
    assert.deepEqual(await store.queries.all('SELECT name FROM things'), [['kept']]);
    assert.deepEqual(await store.queries.all('SELECT * FROM colours'), []);
  });

  test('a database from the future is refused, with what to do, and left as it is', async () => {
    const url = await newEmpty();
    {
      await using store = await open(url, [second]);
      await createThing(store, 'kept');
    }
    await assert.rejects(openThings(url), (error: Error) => {
      assert.match(error.message, /newer Gatehouse/);
      assert.match(error.message, /0002 colours/);
      assert.match(error.message, /Start that version or a later one/);
      return true;
    });
    await using store = await open(url, [second]);
    assert.deepEqual(await store.queries.all('SELECT name FROM things'), [['kept']]);
  });

  test('are applied in the order of the list, whatever their names', async () => {
    const url = await newEmpty();
    const parents = { name: 'zoo 0001 parents', sql: 'CREATE TABLE parents (id TEXT PRIMARY KEY);' };
    const children = {
      name: 'ark 0001 children',
      sql: `CREATE TABLE children (id TEXT PRIMARY KEY REFERENCES parents (id));
            INSERT INTO parents (id) VALUES ('a');
            INSERT INTO children (id) VALUES ('a');`,
    };
    await using store = await open(url, [parents, children]);
    assert.deepEqual(await store.queries.all('SELECT id FROM children'), [['a']]);
    const [row] = await store.queries.all('SELECT applied_at FROM applied_migrations');
    assert.match(String(row?.[0]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  });

  test('two of one name are refused before anything is done', async () => {
    const url = await newEmpty();
    await assert.rejects(open(url, [second, { ...second, sql: 'CREATE TABLE other (id TEXT PRIMARY KEY);' }]), {
      message: 'two migrations have the name "0002 colours"',
    });
    await using store = await open(url);
    await assert.rejects(async () => store.queries.all('SELECT * FROM colours'));
  });

  test('one that fails leaves nothing of itself or of those that came with it', async () => {
    const url = await newEmpty();
    const broken = { name: '0003 broken', sql: 'CREATE TABLE shades (id TEXT); INSERT INTO nowhere VALUES (1);' };
    {
      await using store = await open(url);
      await createThing(store, 'kept');
    }
    await assert.rejects(open(url, [second, broken]));
    await using store = await open(url, [second]);
    assert.deepEqual(await store.queries.all('SELECT * FROM colours'), []);
    assert.deepEqual(await store.queries.all('SELECT name FROM things'), [['kept']]);
    await assert.rejects(async () => store.queries.all('SELECT * FROM shades'));
  });

  test('several processes may start at the same time on an empty database', async () => {
    const url = await newEmpty();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url, [second])));
    try {
      await Promise.all(stores.map((store, at) => createThing(store, `thing ${at}`)));
      assert.equal((await stores[0]?.queries.all('SELECT name FROM things'))?.length, 4);
    } finally {
      for (const store of stores) await store[Symbol.asyncDispose]();
    }
  });

  test('a new SQLite file is readable by its owner alone, and writes wait for the disk', async (context) => {
    const url = await newEmpty();
    if (!url.startsWith('sqlite:')) return context.diagnostic('PostgreSQL looks after its own files');
    await using store = await open(url);
    await createThing(store, 'a');
    for (const suffix of ['', '-wal', '-shm']) {
      assert.equal((await stat(`${url.slice('sqlite:'.length)}${suffix}`)).mode & 0o777, 0o600, suffix);
    }
    assert.deepEqual(await store.queries.all('PRAGMA journal_mode'), [['wal']]);
    assert.deepEqual(await store.queries.all('PRAGMA synchronous'), [[2]]);
    assert.deepEqual(await store.queries.all('PRAGMA foreign_keys'), [[1]]);
  });
});
