import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';

import type { Migration } from '../store/migrate.ts';
import { openStore } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { backUp } from './backup.ts';
import { restore } from './restore.ts';

const notes: Migration = { name: '0100 notes', sql: 'CREATE TABLE notes (text TEXT PRIMARY KEY);' };
const migrations = [notes];
const sideFiles = ['-wal', '-shm', '-journal'];

const folders: string[] = [];
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

test('the backup takes the place of the database, which is kept with all its content', async () => {
  const { path, file } = await backupOf('old');
  await addNote(path, 'newer');
  const { keptAs = '', version, isOlder } = await restore({ path, file, force: false, migrations });

  assert.deepEqual(readNotes(path), ['old']);
  assert.deepEqual(readNotes(keptAs), ['newer', 'old']);
  assert.match(keptAs, /gatehouse\.db\.replaced-\d{8}T\d{9}Z$/);
  assert.deepEqual([version, isOlder], [1, false]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  await addNote(path, 'after');
  assert.deepEqual(readNotes(path), ['after', 'old']);
});

test('what a crash left in the write-ahead log is kept with the old database, and never played into the new one', async () => {
  const { path, file } = await backupOf('old');
  const crashed = join(await newFolder(), 'gatehouse.db');
  {
    await using store = await open(path);
    await insert(store, 'only in the log');
    for (const ending of ['', '-wal']) copyFileSync(path + ending, crashed + ending);
  }
  assert.ok(!readFileSync(crashed).includes('only in the log') && existsSync(`${crashed}-wal`));
  const { keptAs = '' } = await restore({ path: crashed, file, force: false, migrations });

  assert.ok(sideFiles.every((ending) => !existsSync(crashed + ending)));
  assert.deepEqual(readNotes(crashed), ['old']);
  assert.deepEqual(readNotes(keptAs), ['old', 'only in the log']);
});

test('a write-ahead log without its database is put aside', async () => {
  const { path, file } = await backupOf('old');
  const lost = join(await newFolder(), 'gatehouse.db');
  {
    await using store = await open(path);
    await insert(store, 'a stray');
    copyFileSync(`${path}-wal`, `${lost}-wal`);
  }
  const { keptAs } = await restore({ path: lost, file, force: false, migrations });
  assert.equal(keptAs, undefined);
  assert.deepEqual(readNotes(lost), ['old']);
  assert.equal(readdirSync(dirname(lost)).filter((name) => /\.replaced-\d{8}T\d{9}Z-wal$/.test(name)).length, 1);
});

test('a database that is open elsewhere is refused, although nobody writes to it', async (context) => {
  const { path, file } = await backupOf('old');
  await addNote(path, 'newer');
  const other = await openElsewhere(path);
  context.after(() => other[Symbol.asyncDispose]());
  await assert.rejects(restore({ path, file, force: true, migrations }), /in use: stop every Gatehouse process/);
  assert.deepEqual(readNotes(path), ['newer', 'old']);
  assert.deepEqual(leftovers(path), []);
});

test('a damaged database is replaced only when asked for, and all its files are kept', async () => {
  const { path, file } = await backupOf('old');
  writeFileSync(path, 'not a database at all '.repeat(400));
  writeFileSync(`${path}-wal`, 'nor is this');

  await assert.rejects(restore({ path, file, force: false, migrations }), /damaged.*repeat with --force/);
  assert.equal(readFileSync(`${path}-wal`, 'utf8'), 'nor is this');
  const { keptAs = '' } = await restore({ path, file, force: true, migrations });
  assert.deepEqual(readNotes(path), ['old']);
  assert.match(readFileSync(keptAs, 'utf8'), /^not a database/);
  assert.equal(readFileSync(`${keptAs}-wal`, 'utf8'), 'nor is this');
});

test('where there is no database yet, the backup becomes it', async () => {
  const { file } = await backupOf('old');
  const path = join(await newFolder(), 'deeper', 'gatehouse.db');
  const { keptAs } = await restore({ path, file, force: false, migrations });
  assert.equal(keptAs, undefined);
  assert.deepEqual(readNotes(path), ['old']);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
});

test('the new file belongs to whom the old one belonged', async () => {
  const { path, file } = await backupOf('old');
  // Only root can give files away; everybody else owns both.
  if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534);
  const { uid, gid } = statSync(path);
  await restore({ path, file, force: false, migrations });
  assert.deepEqual([statSync(path).uid, statSync(path).gid], [uid, gid]);
});

test('a file that is no backup of this or an older version is refused, and nothing changes', async () => {
  const { path, file } = await backupOf('old');
  const folder = dirname(path);
  const text = join(folder, 'text');
  writeFileSync(text, 'hello '.repeat(2_000));
  const foreign = join(folder, 'foreign.db');
  const raw = new DatabaseSync(foreign);
  raw.exec('CREATE TABLE recipes (id TEXT PRIMARY KEY)');
  raw.close();
  const attempt = (given: string, known: readonly Migration[] = migrations) =>
    restore({ path, file: given, force: false, migrations: known });

  await assert.rejects(attempt(text), /not a sound Gatehouse database/);
  await assert.rejects(attempt(foreign), /not a Gatehouse database/);
  await assert.rejects(attempt(join(folder, 'missing')), /there is no backup at/);
  await assert.rejects(attempt(path), /is the database itself/);
  await assert.rejects(attempt(file, []), /newer Gatehouse.*0100 notes/);
  assert.deepEqual(readNotes(path), ['old']);
  assert.deepEqual(leftovers(path), []);
});

test('a pipe, a device and a folder are refused at once, and nothing is left behind', async () => {
  const { path } = await backupOf('old');
  const pipe = join(dirname(path), 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of [pipe, '/dev/zero', dirname(path)])
    await assert.rejects(
      restore({ path, file, force: false, migrations }),
      /is no file but a folder, a pipe or a device/,
    );
  assert.deepEqual(readNotes(path), ['old']);
  assert.deepEqual(leftovers(path), []);
});

test('a backup with triggers or views that Gatehouse does not make, or without one that it makes, is refused by their names', async () => {
  const own: Migration = {
    name: '0101 own programs',
    sql: 'CREATE TRIGGER own AFTER DELETE ON notes BEGIN SELECT 1; END; CREATE VIEW shown AS SELECT text FROM notes;',
  };
  const known = [...migrations, own];
  for (const [sql, said] of [
    ["CREATE TRIGGER spy AFTER INSERT ON notes BEGIN INSERT INTO notes VALUES (new.text || '!'); END", /trigger spy/],
    ['CREATE VIEW more AS SELECT * FROM notes', /view more/],
    ['DROP TRIGGER own; CREATE TRIGGER own AFTER DELETE ON notes BEGIN DELETE FROM notes; END', /trigger own/],
    ['DROP VIEW shown; CREATE VIEW shown AS SELECT 1 AS text', /view shown/],
    ['DROP TRIGGER own', /lacks .*: trigger own\. Take another backup/],
    ['DROP VIEW shown', /lacks .*: view shown\. Take another backup/],
  ] as const) {
    const { path, file } = await backupOf('old', known);
    await restore({ path, file, force: false, migrations: known });
    const raw = new DatabaseSync(file);
    raw.exec(sql);
    raw.close();
    await assert.rejects(restore({ path, file, force: false, migrations: known }), said);
    assert.deepEqual(readNotes(path), ['old']);
    assert.equal(leftovers(path).length, 1, 'that of the first');
  }
});

test('a backup of an older version is restored, and brought up to date by the next start', async () => {
  const { path, file } = await backupOf('old');
  const later = [...migrations, { name: '0101 later', sql: 'CREATE TABLE later (id TEXT PRIMARY KEY);' }];
  const { isOlder } = await restore({ path, file, force: false, migrations: later });
  assert.ok(isOlder);
  await using store = await open(path, later);
  assert.deepEqual(await store.queries.all('SELECT count(*) FROM later'), [[0]]);
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-restore-'));
  folders.push(folder);
  return folder;
}

/** A database with one note, and a backup of it. */
async function backupOf(
  note: string,
  known: readonly Migration[] = migrations,
): Promise<{ readonly path: string; readonly file: string }> {
  const path = join(await newFolder(), 'gatehouse.db');
  await addNote(path, note, known);
  const file = join(dirname(path), 'backup.db');
  await backUp({ path, file, force: false });
  return { path, file };
}

function open(path: string, known: readonly Migration[] = migrations): Promise<Store> {
  return openStore({ url: `sqlite:${path}`, migrations: known, onFeedFault: assert.ifError });
}

/** Another process that has the database open and does nothing. Locks do not hold between parts of one process. */
async function openElsewhere(path: string): Promise<AsyncDisposable> {
  const script = `
    const { DatabaseSync } = require('node:sqlite');
    const database = new DatabaseSync(${JSON.stringify(path)});
    database.exec('PRAGMA journal_mode = WAL');
    console.log(database.prepare('SELECT count(*) FROM notes').all());
    setInterval(() => database, 1000);`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function addNote(path: string, note: string, known: readonly Migration[] = migrations): Promise<void> {
  await using store = await open(path, known);
  await insert(store, note);
}

function insert(store: Store, note: string): Promise<void> {
  return store.write({ id: 'host', accountId: '', operationId: 'op' }, async (transaction) => {
    await transaction.run('INSERT INTO notes (text) VALUES ($1)', [note]);
    transaction.record({ accountId: '', kind: 'note', id: note, before: null, after: null, cascades: false });
  });
}

function readNotes(path: string): readonly unknown[] {
  const database = new DatabaseSync(path);
  const rows = database.prepare('SELECT text FROM notes ORDER BY text').all();
  database.close();
  return rows.map(({ text }) => text);
}

/** Copies that were begun, or kept, though nothing was restored. */
function leftovers(path: string): readonly string[] {
  return readdirSync(dirname(path)).filter((name) => /partial|replaced/.test(name));
}
