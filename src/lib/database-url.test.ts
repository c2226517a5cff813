import assert from 'node:assert/strict';
import { test } from 'node:test';

import { databaseUrlFault, isSqlite, sqlitePath } from './database-url.ts';

test('the file of a SQLite database is what follows the scheme', () => {
  assert.equal(sqlitePath('sqlite:/var/lib/gatehouse.db'), '/var/lib/gatehouse.db');
  assert.equal(sqlitePath('sqlite:data/a:b.db'), 'data/a:b.db');
  assert.ok(isSqlite('sqlite:a.db'));
});

test('PostgreSQL has no file', () => {
  assert.equal(sqlitePath('postgres://u@h/sqlite:a'), undefined);
  assert.ok(!isSqlite('postgresql://h/db'));
});

test('a text that names no database is told how to write one', () => {
  for (const url of ['sqlite:a.db', 'postgres://h/db', 'postgresql://u:p@h:5432/db', 'postgres:///db?host=/run']) {
    assert.equal(databaseUrlFault(url), undefined, url);
  }
  for (const text of ['', 'sqlite:', 'postgres://', 'mysql://h/db', 'gatehouse.db', 'postgres://h:port/db']) {
    assert.match(databaseUrlFault(text) ?? '', /^write it as sqlite:PATH or postgres:/, text);
  }
  assert.match(databaseUrlFault('sqlite::memory:') ?? '', /name a file/);
});
