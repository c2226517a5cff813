import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { serialize } from 'node:v8';

import { createSealer } from '../lib/sealed-secret.ts';
import type { SnapshotEntry } from './contract.ts';
import { SnapshotFile } from './snapshot-file.ts';

const localCa = { certificatePem: 'certificate', privateKeyPem: 'key' };

function backends(count: number): readonly SnapshotEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    kind: 'backend',
    id: `bkdsc_${at}`,
    accountId: 'ac_1',
    host: 'app.internal',
    port: 1 + at,
    tls: false,
  }));
}

describe('the snapshot file', () => {
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  async function newFile(): Promise<{ readonly path: string; readonly file: SnapshotFile }> {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-snapshot-'));
    folders.push(folder);
    const path = join(folder, 'gateway.snapshot');
    return { path, file: new SnapshotFile(path, createSealer(undefined), 'of a test', assert.ifError) };
  }

  test('of many entries is written in turns, between which others have theirs, and is read as it was', async (t) => {
    // The second change waits for its flush, however long the first write takes.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { file } = await newFile();
    const set = backends(2_050);
    let turns = 0;
    const entriesOfTurn = new Map<number, number>();
    // Serializing an entry reads its fields.
    const watched = set.map((entry) => ({
      ...entry,
      get host() {
        entriesOfTurn.set(turns, (entriesOfTurn.get(turns) ?? 0) + 1);
        return 'app.internal';
      },
    }));
    file.setLocalCa(localCa);
    file.follow({ version: 7, full: true, set: watched, removed: [] });
    let isWritten = false;
    const count = (): void => {
      turns += 1;
      // Comes too late for the file that is being written.
      if (turns === 2) file.follow({ version: 8, full: false, set: [], removed: [{ kind: 'backend', id: 'bkdsc_0' }] });
      if (!isWritten) setImmediate(count);
    };
    setImmediate(count);
    await file.flush();
    isWritten = true;
    assert.ok(Math.max(...entriesOfTurn.values()) <= 100, JSON.stringify([...entriesOfTurn]));
    assert.deepEqual((await file.load())?.update, { version: 7, full: true, set, removed: [] });
    await file.flush();
    const second = (await file.load())?.update;
    assert.deepEqual([second?.version, second?.set.length], [8, set.length - 1]);
  });

  test('of the version before is still read', async () => {
    const { path, file } = await newFile();
    const update = { version: 3, full: true, set: backends(2), removed: [] };
    const sealed = { ...localCa, privateKeyPem: createSealer(undefined).seal(localCa.privateKeyPem, 'local_ca') };
    const payload = serialize({ update, localCa: sealed, database: 'of a test' });
    await writeFile(path, Buffer.concat([Buffer.from(`gatehouse-snapshot-2 ${hash('sha256', payload)}\n`), payload]));
    assert.deepEqual((await file.load())?.update, update);
  });
});
