import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';

import type { Migration } from '../store/migrate.ts';
import { openStore } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { backUp } from './backup.ts';

const notes: Migration = { name: '0100 notes', sql: 'CREATE TABLE notes (id TEXT PRIMARY KEY, text TEXT NOT NULL);' };

const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

test('a copy of a database in use holds what was written so far, in a file that only its owner reads', async () => {
  const path = await newPath();
  await using store = await open(path);
  await write(store, `INSERT INTO notes (id, text) VALUES ('a', 'kept')`);
  const file = join(dirname(path), 'copy.db');
  const content = await backUp({ path, file, force: false });

  assert.equal(content.version, 1);
  assert.equal(content.tables.find(({ name }) => name === 'notes')?.rows, 1);
  assert.equal(content.bytes, statSync(file).size);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(read(file), ['kept']);
  // The file alone is the whole copy.
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.startsWith('copy.db')),
    ['copy.db'],
  );
});

test('a name that is taken is refused, and replaced only when asked for', async () => {
  const path = await newPath();
  await using store = await open(path);
  const file = join(dirname(path), 'copy.db');
  await backUp({ path, file, force: false });
  await write(store, `INSERT INTO notes (id, text) VALUES ('a', 'later')`);

  await assert.rejects(backUp({ path, file, force: false }), /copy\.db exists/);
  assert.deepEqual(read(file), []);
  await backUp({ path, file, force: true });
  assert.deepEqual(read(file), ['later']);
});

test('what was deleted is not in a copy, not even in unused parts of the file', async () => {
  const path = await newPath();
  await using store = await open(path);
  const secret = 'a-secret-that-was-deleted'.repeat(400);
  await write(store, `INSERT INTO notes (id, text) VALUES ('a', '${secret}')`);
  await write(store, 'DELETE FROM notes');
  const file = join(dirname(path), 'copy.db');
  await backUp({ path, file, force: false });

  assert.ok(readFileSync(`${path}-wal`).includes(secret.slice(0, 50)), 'the secret never was in the database');
  assert.ok(!readFileSync(file).includes(secret.slice(0, 25)));
});

test('of a damaged database no copy is left, and one that exists stays', async () => {
  const path = await newPath();
  const store = await open(path);
  for (let at = 0; at < 50; at++)
    await write(store, `INSERT INTO notes (id, text) VALUES ('${at}', '${'x'.repeat(900)}')`);
  const file = join(dirname(path), 'copy.db');
  await backUp({ path, file, force: false });
  await store[Symbol.asyncDispose]();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, Math.floor(bytes.length / 2)));

  await assert.rejects(backUp({ path, file, force: true }));
  assert.equal(read(file).length, 50);
  await assert.rejects(backUp({ path, file: `${file}2`, force: false }));
  assert.deepEqual(
    readdirSync(dirname(path)).filter((name) => name.startsWith('copy.db')),
    ['copy.db'],
  );
});

test('a file whose rows break the rules of the database is not taken for sound', async () => {
  const path = await newPath();
  await (
    await open(path, [notes, { name: '0101', sql: 'CREATE TABLE tags (id TEXT PRIMARY KEY REFERENCES notes (id));' }])
  )[Symbol.asyncDispose]();
  const raw = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  raw.exec(`INSERT INTO tags (id) VALUES ('of nothing')`);
  raw.close();
  await assert.rejects(backUp({ path, file: `${path}.copy`, force: false }), /damaged: tags/);
  assert.ok(!readdirSync(dirname(path)).some((name) => name.includes('.copy')));
});

test('a path without a database is refused, and none is made', async () => {
  const path = await newPath();
  await assert.rejects(backUp({ path, file: `${path}.copy`, force: false }), /there is no database at/);
  assert.ok(!existsSync(path));
});

async function newPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-backup-'));
  folders.push(folder);
  return join(folder, 'gatehouse.db');
}

function open(path: string, migrations: readonly Migration[] = [notes]): Promise<Store> {
  return openStore({ url: `sqlite:${path}`, migrations, onFeedFault: assert.ifError });
}

function write(store: Store, sql: string): Promise<void> {
  return store.write({ id: 'host', accountId: '', operationId: 'op' }, async (transaction) => {
    await transaction.run(sql);
    transaction.record({ accountId: '', kind: 'note', id: 'a', before: null, after: null, cascades: false });
  });
}

function read(file: string): readonly unknown[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database.prepare('SELECT text FROM notes ORDER BY id').all();
  database.close();
  return rows.map(({ text }) => text);
}
