import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import type { Connection, Database } from '../database.ts';
import { openSqlite } from './sqlite.ts';

const run = promisify(execFile);
const megabyte = 1024 * 1024;
const text = 'x'.repeat(megabyte / 4);

interface Opened {
  readonly path: string;
  readonly database: Database;
  readonly writer: Connection;
  /** Commits so many megabytes, a quarter at a time. */
  readonly write: (megabytes: number) => Promise<void>;
}

async function open(t: TestContext): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-log-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'gatehouse.db');
  const database = openSqlite(path);
  const writer = await database.connect();
  await writer.script('CREATE TABLE texts (text TEXT); CREATE TABLE store_version (version INTEGER)');
  const write = async (megabytes: number) => {
    for (let at = 0; at < megabytes * 4; at++) {
      await writer.script('BEGIN IMMEDIATE');
      await writer.run('INSERT INTO texts (text) VALUES ($1)', [text]);
      await database.commit(writer, { point: undefined, isSignalled: false });
    }
  };
  return { path, database, writer, write };
}

async function close({ database, writer }: Opened): Promise<void> {
  await writer.close();
  await database.close();
}

test('a long log is copied into the file while both are open, and the log does not grow for ever', async (t) => {
  const opened = await open(t);
  const { path, write } = opened;
  await write(2);
  assert.ok(statSync(path).size < megabyte, 'what is short waits');
  for (let round = 1; round <= 6; round++) {
    await write(8);
    await until(() => statSync(path).size > (round * 8 - 1) * megabyte, `${round * 8} MB are in the file`);
  }
  assert.ok(statSync(`${path}-wal`).size < 40 * megabyte);
  await close(opened);
  assert.ok(!existsSync(`${path}-wal`), 'the last one to close deletes the log');
  const again = openSqlite(path);
  assert.deepEqual(await again.reader.all('SELECT count(*), min(length(text)) FROM texts'), [[200, text.length]]);
  await again.close();
});

test('writes without a pause are copied by SQLite itself at last', async (t) => {
  const opened = await open(t);
  await opened.write(80);
  assert.ok(statSync(`${opened.path}-wal`).size < 60 * megabyte);
  await close(opened);
});

test('a process that has nothing else to do waits for the thread when it closes the database', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-log-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const [path, program] = [join(folder, 'gatehouse.db'), join(folder, 'program.mjs')];
  await writeFile(
    program,
    `import { openSqlite } from ${JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)};
    const database = openSqlite(${JSON.stringify(path)});
    const writer = await database.connect();
    await writer.script('CREATE TABLE texts (text TEXT); BEGIN IMMEDIATE');
    await writer.run('INSERT INTO texts (text) VALUES ($1)', ['x'.repeat(8_000_000)]);
    await database.commit(writer, { point: undefined, isSignalled: false });
    // Time for the thread to have started.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await writer.close();
    await database.close();
    console.log('closed');`,
  );
  // It ends with an error if it ends before.
  const { stdout } = await run(process.execPath, [program]);
  assert.equal(stdout, 'closed\n');
  assert.ok(!existsSync(`${path}-wal`));
});
