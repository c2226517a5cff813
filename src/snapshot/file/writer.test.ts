import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createSealer } from '../../lib/sealed-secret.ts';
import { readSnapshot } from './reader.ts';
import { SnapshotWriter } from './writer.ts';
import { WritingThread } from './writing.ts';

const sealer = createSealer(undefined);

test('an update that is abandoned leaves the file as it was, and a process follows only its own', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-writer-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'gateway.snapshot');
  const put = (writer: SnapshotWriter, ids: readonly string[]): void => {
    const set = ids.map((id) => ({ kind: 'challenge', id, hostname: 'a.test' }) as const);
    writer.put({ set, removed: [] });
  };
  const ids = async () => (await readSnapshot(path, sealer))?.entries.map(({ id }) => id);
  const head = (version: number) => ({ writer: 'one', version, database: '' });
  using writer = new SnapshotWriter(path);
  assert.throws(() => writer.begin({ isFull: false, writer: 'one' }), /written by another process/);
  writer.abandon();
  writer.begin({ isFull: true, writer: 'one' });
  put(writer, ['a', 'b']);
  writer.commit(head(1));
  writer.begin({ isFull: true, writer: 'one' });
  put(writer, ['c']);
  assert.deepEqual(await ids(), ['a', 'b']);
  writer.abandon();
  assert.throws(() => writer.begin({ isFull: false, writer: 'two' }), /written by another process/);
  writer.abandon();
  writer.begin({ isFull: false, writer: 'one' });
  put(writer, ['d']);
  writer.commit(head(2));
  assert.deepEqual(await ids(), ['a', 'b', 'd']);
});

test('an update of which a part cannot be written is not begun for the next one', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-writer-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'gateway.snapshot');
  await using thread = new WritingThread(path, sealer);
  const entry = (id: string) => ({ kind: 'challenge', id, hostname: 'a.test' }) as const;
  // More than one part, and at the end what no file can hold.
  const set = [
    ...Array.from({ length: 3_000 }, (_, at) => entry(String(at))),
    { ...entry('x'), hostname: (() => {}) as never },
  ];
  const head = (version: number) => ({ writer: 'one', version, database: '' });
  await assert.rejects(thread.write({ version: 1, full: true, set, removed: [] }, head(1)), /could not be cloned/);
  await thread.write({ version: 2, full: true, set: [entry('y')], removed: [] }, head(2));
  assert.deepEqual((await readSnapshot(path, sealer))?.entries, [entry('y')]);
});
