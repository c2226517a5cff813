import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { rounds } from '../support/long-form.ts';
import { begin, gatehouse, Service } from './support/program.ts';

const copies = 2;
const writers = 8;
const kills = rounds(2, 100);

describe('backup and restore of a service at work', () => {
  let folder = '';
  let database = '';
  let service: Service;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-e2e-backup-'));
    database = `sqlite:${join(folder, 'gatehouse.db')}`;
    service = await Service.start(database);
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });
  const backup = (name: string, ...more: readonly string[]) =>
    gatehouse('backup', join(folder, name), '--database-url', database, ...more);

  test('every copy made under write load is sound and has all that was acknowledged before it began', async () => {
    const acknowledged: string[] = [];
    const stopping = new AbortController();
    const load = Promise.all(Array.from({ length: writers }, () => writeUntil(service, stopping.signal, acknowledged)));
    for (let round = 0; round < copies; round++) {
      while (acknowledged.length < (round + 1) * 50) await sleep(5);
      const working = backup(`load-${round}.db`);
      const soFar = acknowledged.slice(0, await countUntil(folder, `load-${round}.db`, acknowledged, working));
      const { code, out, errors } = await working;
      assert.equal(code, 0, errors);

      const { ids, version, newestChange, faults } = readCopy(join(folder, `load-${round}.db`));
      assert.deepEqual(faults, ['ok']);
      assert.deepEqual(
        soFar.filter((id) => !ids.has(id)),
        [],
      );
      assert.equal(version, newestChange);
      assert.match(out, new RegExp(`^ip_policies +${ids.size}$`, 'm'));
      assert.match(out, new RegExp(`^version ${version}, \\d+ bytes$`, 'm'));
    }
    stopping.abort();
    await load;
    assert.ok(acknowledged.length > copies * 50);
  });

  test('a backup that is killed leaves nothing, or all, under the name', async () => {
    for (let round = 0; round < kills; round++) {
      const name = `killed-${round}.db`;
      const child = begin(['backup', join(folder, name), '--database-url', database]);
      const gone = once(child, 'exit');
      // Each kill comes later in the work than the one before.
      while (child.exitCode === null && !readdirSync(folder).some((each) => each.startsWith(name))) await sleep(1);
      await sleep(round * 5);
      child.kill('SIGKILL');
      await gone;
      if (existsSync(join(folder, name))) assert.deepEqual(readCopy(join(folder, name)).faults, ['ok']);
      assert.equal((await service.call('GET', '/ip_policies?limit=1')).status, 200);
    }
  });

  test('a restore is refused while the service runs, and brings back the copy once it has stopped', async () => {
    assert.equal((await backup('good.db')).code, 0);
    const listed = await service.call('GET', '/ip_policies');
    const { id } = await service.create('/ip_policies', { description: 'made after the copy' });
    const refused = await gatehouse('restore', join(folder, 'good.db'), '--database-url', database);
    assert.equal(refused.code, 1);
    assert.match(refused.errors, /in use: stop every Gatehouse process/);
    assert.equal((await service.call('GET', `/ip_policies/${id}`)).status, 200);

    await service[Symbol.asyncDispose]();
    const restored = await gatehouse('restore', join(folder, 'good.db'), '--database-url', database);
    assert.equal(restored.code, 0, restored.errors);
    service = await Service.start(database);
    assert.equal((await service.call('GET', `/ip_policies/${id}`)).status, 404);
    assert.equal((await service.call('GET', '/ip_policies')).text, listed.text);

    const keptAs = /kept as (\S+)\.$/m.exec(restored.out)?.[1] ?? '';
    assert.ok(readCopy(keptAs).ids.has(id));
  });
});

test('PostgreSQL databases are left to their own tools, which are named without the password', async () => {
  const url = 'postgres://gate:s3cret@db.example.com/gatehouse';
  const [backup, restore] = await Promise.all([
    gatehouse('backup', "it's.dump", '--database-url', url),
    gatehouse('restore', 'a.dump', '--database-url', url),
  ]);
  assert.equal(backup.code, 1);
  assert.match(
    backup.errors,
    /pg_dump --format=custom --no-owner --file='it'\\''s\.dump' 'postgres:\/\/gate@db\.example\.com\/gatehouse'\s+It takes the password from PGPASSWORD/,
  );
  assert.match(
    restore.errors,
    /pg_restore --exit-on-error --single-transaction --no-owner --dbname='postgres:\/\/gate@db/,
  );
  assert.ok(!`${backup.errors}${restore.errors}`.includes('s3cret'));
});

async function writeUntil(service: Service, signal: AbortSignal, acknowledged: string[]): Promise<void> {
  while (!signal.aborted) acknowledged.push((await service.create('/ip_policies', { description: 'under load' })).id);
}

/** Counts the writes acknowledged before the copy can have begun. */
async function countUntil(
  folder: string,
  name: string,
  acknowledged: readonly string[],
  working: Promise<unknown>,
): Promise<number> {
  const ended = new AbortController();
  void working.finally(() => {
    ended.abort();
  });
  let certain = 0;
  while (!ended.signal.aborted) {
    const now = acknowledged.length;
    if (readdirSync(folder).some((each) => each.startsWith(name))) break;
    certain = now;
    await sleep(1);
  }
  return certain;
}

interface Copy {
  readonly ids: ReadonlySet<string>;
  readonly version: number;
  readonly newestChange: number;
  readonly faults: readonly unknown[];
}

function readCopy(file: string): Copy {
  const database = new DatabaseSync(file, { readOnly: true });
  const column = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  const copy = {
    ids: new Set(column('SELECT id FROM ip_policies').map(String)),
    version: Number(column('SELECT version FROM store_version')[0]),
    newestChange: Number(column('SELECT max(version) FROM change_log')[0]),
    faults: column('PRAGMA integrity_check'),
  };
  database.close();
  return copy;
}
