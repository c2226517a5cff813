import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { onEachDatabase } from '../../test/support/each-database.ts';
import { scratchFolder } from '../../test/support/scratch.ts';
import type { Row } from '../store/database.ts';
import type { Migration } from '../store/migrate.ts';
import { openDatabase } from '../store/open-database.ts';
import { openStore } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { moveCommand, moveDatabase } from './move.ts';

const things: Migration = {
  name: '0100 things',
  sql: `
    CREATE TABLE things (id TEXT PRIMARY KEY, amount INTEGER, note TEXT);
    INSERT INTO things (id, amount, note) VALUES ('first', 1, 'put there by the migration');
  `,
};
/** Its table must be filled after one that sorts behind it. */
const partsOfThings: Migration = {
  name: '0101 parts',
  sql: `
    CREATE TABLE parts (
      thing_id TEXT NOT NULL REFERENCES things (id),
      position INTEGER NOT NULL,
      "before" TEXT,
      PRIMARY KEY (thing_id, position)
    );
  `,
};
const migrations = [things, partsOfThings];

const folder = scratchFolder();
let files = 0;
const newFile = () => join(folder, `${(files += 1)}.db`);
const newSqlite = () => `sqlite:${newFile()}`;

onEachDatabase('moving into', (_newDatabase, newEmpty) => {
  test('every table arrives and comes back the same, also one that a later migration has added', async () => {
    const source = await sourceWith(async (store) => {
      await addThing(store, 'odd', -5, 'line\nbreak, "quotes", \'more\', \\, 🏠, é, \u{1f}');
      await addThing(store, 'big', Number.MAX_SAFE_INTEGER, '');
      await addThing(store, 'Ä', null, null);
      await addPart(store, 'odd', 1);
    });
    const target = await newEmpty();
    const there = await moveDatabase({ from: source, to: target, migrations });
    const back = newSqlite();
    const again = await moveDatabase({ from: target, to: back, migrations });

    assert.deepEqual(again, there);
    assert.equal(there.version, 4);
    assert.equal(there.sourceVersion, 4);
    const counts = Object.fromEntries(there.tables.map(({ name, rows }) => [name, rows]));
    const ofTheStore = {
      applied_migrations: 7,
      change_log: 4,
      observed_changes: 0,
      observed_version: 1,
      store_version: 1,
    };
    assert.deepEqual(counts, { ...ofTheStore, parts: 1, things: 4 });
    const select = 'SELECT id, amount, note FROM things ORDER BY id';
    assert.deepEqual(await query(target, select), await query(source, select));
    assert.deepEqual(await query(target, select), [
      ['big', Number.MAX_SAFE_INTEGER, ''],
      ['first', 1, 'put there by the migration'],
      ['odd', -5, 'line\nbreak, "quotes", \'more\', \\, 🏠, é, \u{1f}'],
      ['Ä', null, null],
    ]);
  });

  test('a table of many pages arrives whole, and the database goes on from its version', async () => {
    const source = await sourceWith((store) =>
      store.write(actor, async (transaction) => {
        for (let at = 0; at < 3_001; at++)
          await transaction.run('INSERT INTO things (id) VALUES ($1)', [`t${at % 7}-${at}`]);
        transaction.record(change('many'));
      }),
    );
    const target = await newEmpty();
    await moveDatabase({ from: source, to: target, migrations });

    assert.deepEqual(await query(target, 'SELECT count(*) FROM things'), [[3_002]]);
    await using store = await open(target);
    await addThing(store, 'after', 1, null);
    assert.equal(store.version, 2);
  });

  test('a target that has any table is refused and stays as it was', async () => {
    const source = await sourceWith((store) => addThing(store, 'new', 1, null));
    const target = await newEmpty();
    await (await open(target))[Symbol.asyncDispose]();

    await assert.rejects(
      moveDatabase({ from: source, to: target, migrations }),
      /not empty.*applied_migrations, change_log/,
    );
    assert.deepEqual(await query(target, 'SELECT id FROM things'), [['first']]);
  });

  test('what fails on the way leaves the target empty, so that the next attempt can succeed', async () => {
    const source = await sourceWith(async (store) => {
      // PostgreSQL has no place for this character; SQLite is made to fail by a row without its parent.
      await addThing(store, 'bad', 1, 'zero: \0');
      await addPart(store, 'bad', 1);
    });
    const broken = source.replace('sqlite:', '');
    const raw = new DatabaseSync(broken, { enableForeignKeyConstraints: false });
    raw.exec(`INSERT INTO parts (thing_id, position) VALUES ('nobody', 1)`);
    const target = await newEmpty();
    await assert.rejects(moveDatabase({ from: source, to: target, migrations }));

    raw.exec(`DELETE FROM parts WHERE thing_id = 'nobody'; UPDATE things SET note = 'mended' WHERE id = 'bad'`);
    raw.close();
    const { tables } = await moveDatabase({ from: source, to: target, migrations });
    assert.equal(tables.find(({ name }) => name === 'parts')?.rows, 1);
  });

  test('what is written while it moves is there wholly or not at all', async () => {
    const source = await sourceWith(async () => {});
    await using store = await open(source);
    const stopping = new AbortController();
    const writing = (async () => {
      for (let at = 0; !stopping.signal.aborted; at++) {
        await store.write(actor, async (transaction) => {
          await transaction.run('INSERT INTO things (id) VALUES ($1)', [`w${at}`]);
          await transaction.run('INSERT INTO parts (thing_id, position) VALUES ($1, 1)', [`w${at}`]);
          transaction.record(change(`w${at}`));
        });
        await new Promise(setImmediate);
      }
    })();
    const target = await newEmpty();
    const { version } = await moveDatabase({ from: source, to: target, migrations });
    stopping.abort();
    await writing;

    const [counts] = await query(
      target,
      'SELECT (SELECT count(*) FROM things), (SELECT count(*) FROM parts), version FROM store_version',
    );
    assert.deepEqual(counts, [version + 1, version, version]);
  });
});

test('a table that does not read in the target as in the source stops the move', async () => {
  const altering: Migration = {
    name: '0102 a rule that changes what is written',
    sql: `CREATE TRIGGER alter_note AFTER INSERT ON things BEGIN
            UPDATE things SET note = new.note || '!' WHERE id = new.id;
          END;`,
  };
  const source = await sourceWith((store) => addThing(store, 'x', 1, 'once'), [...migrations, altering]);
  const target = newSqlite();
  await assert.rejects(
    moveDatabase({ from: source, to: target, migrations: [...migrations, altering] }),
    /the table things did not arrive as it was: 2 rows, 2 read, 2 in the target/,
  );
  assert.deepEqual(await query(target, 'SELECT count(*) FROM sqlite_master'), [[0]]);
});

test('a source of another version, or with tables of its own, is refused', async () => {
  const older = await sourceWith(async () => {}, [things]);
  await assert.rejects(
    moveDatabase({ from: older, to: newSqlite(), migrations }),
    /older Gatehouse \(it lacks 0101 parts\)/,
  );
  const newer = await sourceWith(async () => {});
  await assert.rejects(
    moveDatabase({ from: newer, to: newSqlite(), migrations: [things] }),
    /newer Gatehouse.*0101 parts/,
  );

  const raw = new DatabaseSync(newer.replace('sqlite:', ''));
  raw.exec('CREATE TABLE by_hand (id TEXT PRIMARY KEY)');
  raw.close();
  await assert.rejects(moveDatabase({ from: newer, to: newSqlite(), migrations }), /other columns.*by_hand\.id/);
});

test('a source that is no Gatehouse database, or does not exist, is refused and not made', async () => {
  const missing = newFile();
  await assert.rejects(
    moveDatabase({ from: `sqlite:${missing}`, to: newSqlite(), migrations }),
    /there is no database at/,
  );
  assert.ok(!existsSync(missing));
  const foreign = newFile();
  const raw = new DatabaseSync(foreign);
  raw.exec('CREATE TABLE recipes (id TEXT PRIMARY KEY)');
  raw.close();
  await assert.rejects(
    moveDatabase({ from: `sqlite:${foreign}`, to: newSqlite(), migrations }),
    /belongs to another program/,
  );
});

test('tables that reference each other are refused by name', async () => {
  const circle: Migration = {
    name: '0103 a circle',
    sql: `
      CREATE TABLE egg (id TEXT PRIMARY KEY, hen TEXT REFERENCES hen (id));
      CREATE TABLE hen (id TEXT PRIMARY KEY, egg TEXT REFERENCES egg (id));
    `,
  };
  const source = await sourceWith(async () => {}, [...migrations, circle]);
  const moving = moveDatabase({ from: source, to: newSqlite(), migrations: [...migrations, circle] });
  await assert.rejects(moving, /reference each other.*: egg, hen/);
});

const actor = { id: 'host', accountId: '', operationId: 'op' };
const change = (id: string) => ({ accountId: '', kind: 'thing', id, before: null, after: '{}', cascades: false });

function open(url: string, known: readonly Migration[] = migrations): Promise<Store> {
  return openStore({ url, migrations: known, onFeedFault: assert.ifError });
}

async function sourceWith(fill: (store: Store) => Promise<unknown>, known?: readonly Migration[]): Promise<string> {
  const url = newSqlite();
  await using store = await open(url, known);
  await fill(store);
  return url;
}

function addThing(store: Store, id: string, amount: number | null, note: string | null): Promise<void> {
  return store.write(actor, async (transaction) => {
    await transaction.run('INSERT INTO things (id, amount, note) VALUES ($1, $2, $3)', [id, amount, note]);
    transaction.record(change(id));
  });
}

function addPart(store: Store, id: string, position: number): Promise<void> {
  return store.write(actor, async (transaction) => {
    await transaction.run(`INSERT INTO parts (thing_id, position, "before") VALUES ($1, $2, 'x')`, [id, position]);
    transaction.record(change(id));
  });
}

async function query(url: string, sql: string): Promise<readonly Row[]> {
  const database = await openDatabase(url);
  try {
    return await database.reader.all(sql);
  } finally {
    await database.close();
  }
}

test('a move to what is no database says how to write one', async () => {
  for (const to of ['mysql://h/db', 'gatehouse.db', 'sqlite:', 'postgres://', '']) {
    await assert.rejects(
      moveCommand.run({ url: 'sqlite:/nowhere/gatehouse.db', migrations: [] }, { to }),
      /--to: write it as sqlite:PATH or postgres:\/\/user:password@host\/database/,
    );
  }
});
