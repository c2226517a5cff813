import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { makeTables } from './migrated-database.ts';
import { fillNewSqlite } from './migrated-sqlite.ts';
import { newSqlite } from './scratch.ts';

function tablesOf(path: string): unknown {
  using database = new DatabaseSync(path);
  return database.prepare('SELECT name, sql FROM sqlite_schema ORDER BY name').all();
}

test('a new database is a copy of the model of the run, and has the tables that a start makes', async () => {
  const filled = newSqlite();
  const made = newSqlite();
  await fillNewSqlite(filled);
  await makeTables(made);
  const path = filled.slice('sqlite:'.length);
  const tables = tablesOf(made.slice('sqlite:'.length));
  assert.ok(Array.isArray(tables) && tables.length > 20);
  const model = process.env['TEST_SQLITE_MODEL'] ?? assert.fail('the run names no model');
  assert.ok(existsSync(model));
  assert.deepEqual(readFileSync(path), readFileSync(model));
  assert.deepEqual(tablesOf(path), tables);
});

test('a database that is there already is left as it is', async () => {
  const url = newSqlite();
  const path = url.slice('sqlite:'.length);
  writeFileSync(path, 'as it was');
  await fillNewSqlite(url);
  assert.equal(readFileSync(path, 'utf8'), 'as it was');
});
