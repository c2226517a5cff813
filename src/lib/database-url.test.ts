import assert from 'node:assert/strict';
import { test } from 'node:test';

import { databaseUrlFault, describeDatabase, isSqlite, postgresServers, sqlitePath } from './database-url.ts';

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

test('a URL with several hosts is one URL for each of them', () => {
  assert.deepEqual(
    postgresServers('postgres://u:p%40,x@a:5432,b,[::1]:6/db?target_session_attrs=read-write&ssl=true'),
    {
      urls: [
        'postgres://u:p%40,x@a:5432/db?ssl=true',
        'postgres://u:p%40,x@b/db?ssl=true',
        'postgres://u:p%40,x@[::1]:6/db?ssl=true',
      ],
      target: 'read-write',
    },
  );
  assert.deepEqual(postgresServers('postgresql:///db?host=/run'), {
    urls: ['postgresql:///db?host=/run'],
    target: 'primary',
  });
  assert.equal(describeDatabase('postgres://u:p@a,b:6/db?target_session_attrs=primary'), 'PostgreSQL at a:5432,b:6/db');
});

test('several hosts have names, and a standby is no server to ask for', () => {
  assert.equal(databaseUrlFault('postgres://a:1,b:2/db?target_session_attrs=read-write'), undefined);
  assert.equal(databaseUrlFault('postgres://a:1,b:2/db?target_session_attrs=primary'), undefined);
  assert.match(databaseUrlFault('postgres://a:1,b:port/db') ?? '', /^write it as/);
  assert.match(databaseUrlFault('postgres://a:1,,b:2/db') ?? '', /name a host before and after each comma/);
  assert.match(databaseUrlFault('postgres://a/db?target_session_attrs=standby') ?? '', /must be primary or read-write/);
});
