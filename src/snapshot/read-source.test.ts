import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { createKeySealer } from '../lib/sealed-secret.ts';
import { keyOf } from './contract.ts';
import type { EntryKey, SnapshotEntry, SnapshotUpdate } from './contract.ts';
import { readSource } from './read-source.ts';
import { SnapshotFile } from './snapshot-file.ts';

const keys: readonly EntryKey[] = ['a', 'b', 'c'].flatMap((id) => [
  { kind: 'tunnel_backend', id },
  { kind: 'challenge', id },
  { kind: 'vault_secret', id },
]);

test('another process finds the snapshot in force at any moment, whatever the file has of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-source-'));
  t.after(() => rm(folder, { recursive: true }));
  let state = 7;
  const random = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const entryOf = ({ kind, id }: EntryKey, version: number): SnapshotEntry => {
    if (kind === 'vault_secret') return { kind, id, vaultId: 'v', name: id, value: `secret ${version}` };
    if (kind === 'challenge') {
      const hostname = `${version}.test`;
      return { kind, id, hostname, ...(random(2) === 0 && { observed: true as const }) };
    }
    const tunnels = random(2) === 0 ? [] : [{ id: `tn_${version}`, holder: 'p' }];
    return { kind: 'tunnel_backend', id, tunnels };
  };
  await using file = new SnapshotFile(join(folder, 'x'), createKeySealer(Buffer.alloc(32, 7)), '', assert.ifError, {
    isKept: false,
  });
  const expected = new Map<string, SnapshotEntry>();
  const writes: Promise<void>[] = [];
  let fromFile = 0;
  for (let version = 1; version < 150; version++) {
    const full = version === 1 || random(20) === 0;
    const set = keys.filter(() => random(4) === 0).map((key) => entryOf(key, version));
    const named = new Set(set.map(keyOf));
    const removed = full ? [] : keys.filter((key) => !named.has(keyOf(key)) && random(6) === 0);
    const update: SnapshotUpdate = { version, mark: 2 * version, full, set, removed };
    if (full) expected.clear();
    for (const entry of set) expected.set(keyOf(entry), entry);
    for (const key of removed) expected.delete(keyOf(key));
    file.follow(update);
    if (random(3) > 0) writes.push(file.flush());
    if (random(2) === 0) await writes.at(-1);
    const source = file.source();
    if (source.file !== undefined) fromFile += 1;
    // What was on its way may have come there since.
    if (random(2) === 0) await Promise.all(writes);
    const found = await readSource(source);
    const { set: entries, ...rest } = found;
    assert.deepEqual(rest, { version, mark: 2 * version, full: true, removed: [] });
    assert.equal(entries.length, expected.size);
    assert.deepEqual(new Map(entries.map((entry) => [keyOf(entry), entry])), expected, `version ${version}`);
  }
  await Promise.all(writes);
  assert.ok(fromFile > 50, `${fromFile}`);
});
