import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { GatehouseProcess } from '../../../test/support/gatehouse-process.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';

const folder = scratchFolder();

test('a SQLite file of another program is refused, and stays as it is', async () => {
  const path = join(folder, 'other.db');
  {
    using other = new DatabaseSync(path);
    other.exec("CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('one')");
  }
  const before = await readFile(path);
  for (const command of [
    ['serve', '--role', 'api', '--api-listen=127.0.0.1:0'],
    ['accounts', 'list'],
  ]) {
    const { code, errors } = await GatehouseProcess.run([...command, '--database-url', `sqlite:${path}`]);
    assert.equal(code, 1);
    assert.match(errors, /belongs to another program: it has the table "songs".*--database-url/s);
  }
  assert.deepEqual(await readFile(path), before);
});

test('a damaged database file is told from one without rights, with the command that restores it', async () => {
  const path = join(folder, 'damaged.db');
  await writeFile(path, 'no database at all, but long enough for a header '.repeat(200));
  const { code, errors } = await GatehouseProcess.run([
    '--role',
    'api',
    '--api-listen=127.0.0.1:0',
    '--database-url',
    `sqlite:${path}`,
  ]);
  assert.equal(code, 1);
  assert.match(errors, /damaged.*gatehouse restore FILE --force/);
});
