import assert from 'node:assert/strict';
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';

import { failAt } from '../../../test/support/database-faults.ts';
import { newSqlite } from '../../../test/support/scratch.ts';
import type { Database } from '../database.ts';
import { openSqlite } from './sqlite.ts';

const newPath = () => newSqlite().replace(/^sqlite:/, '');
const count = async (database: Database): Promise<unknown> => {
  const connection = await database.connect();
  try {
    await database.beginSnapshot(connection);
    return (await connection.all('SELECT count(*) FROM a'))[0]?.[0];
  } finally {
    await connection.close();
  }
};

test('snapshots that are read in turn share a connection, and each has what was committed before it', async () => {
  const database = openSqlite(newPath());
  const writer = await database.connect();
  await writer.script('CREATE TABLE a (b INT)');
  const first = await database.connect();
  await database.beginSnapshot(first);
  assert.equal((await first.all('SELECT count(*) FROM a'))[0]?.[0], 0);
  await writer.run('INSERT INTO a VALUES (1)');
  assert.equal((await first.all('SELECT count(*) FROM a'))[0]?.[0], 0);
  await first.close();
  assert.equal(await count(database), 1);
  await writer.run('INSERT INTO a VALUES (2)');
  assert.equal(await count(database), 2);
  const again = await database.connect();
  assert.equal(again, first);
  // Nobody else gets it meanwhile.
  const beside = await database.connect();
  assert.notEqual(beside, first);
  await beside.close();
  await again.close();
  await writer.close();
  await database.close();
});

test('a connection whose snapshot a fault has ended is not used again, nor one that has written', async () => {
  const database = openSqlite(newPath());
  const writer = await database.connect();
  await writer.script('CREATE TABLE a (b INT)');
  await writer.close();
  const other = await database.connect();
  assert.notEqual(other, writer);
  await database.beginSnapshot(other);
  using faults = failAt(1, 'lost', true);
  await assert.rejects(other.all('SELECT count(*) FROM a'));
  await other.close();
  faults.end();
  const next = await database.connect();
  assert.notEqual(next, other);
  await next.close();
  assert.equal(await count(database), 0);
  await database.close();
});

test('a database that is closed has no file open, also where a snapshot is read until then', async () => {
  const path = newPath();
  const database = openSqlite(path);
  const connections = await Promise.all(Array.from({ length: 2 }, () => database.connect()));
  for (const each of connections) await database.beginSnapshot(each);
  const [last, ...others] = connections;
  for (const each of others) await each.close();
  await database.close();
  await last?.close();
  const open = readdirSync('/proc/self/fd').flatMap((each) => {
    try {
      return [readlinkSync(`/proc/self/fd/${each}`)];
    } catch {
      return [];
    }
  });
  assert.deepEqual(
    open.filter((each) => each.startsWith(path)),
    [],
  );
});
