import assert from 'node:assert/strict';
import { mkdtemp, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { mostFiles, sendToFile } from './file.ts';

const event = { id: 'ev_1', type: 'test.v0', at: '', accountId: 'ac_1', body: '{}', shortBody: '{}', title: 'Test' };

async function place(t: TestContext, name: string) {
  const folder = await mkdtemp(join(tmpdir(), 'event-files-'));
  t.after(() => rm(folder, { recursive: true }));
  const own = join(folder, 'ac_1');
  await mkdir(own);
  const { signal } = new AbortController();
  const target = { kind: 'file' as const, name };
  const write = () => sendToFile({ folder, mostBytes: 1e6 })({ accountId: 'ac_1', target, events: [event], signal });
  return { folder, own, write };
}

test('an account has so many files, and no empty one beyond them', async (t) => {
  const { own, write } = await place(t, 'more');
  await Promise.all(Array.from({ length: mostFiles }, (_, at) => writeFile(join(own, `f${at}`), '')));
  await assert.rejects(write(), /has 200 files; delete one$/);
  assert.equal((await readdir(own)).length, mostFiles);
  await rm(join(own, 'f0'));
  assert.deepEqual(await write(), { kind: 'sent' });
});

test('a fault of a file names no folder of the machine, and a link leads nowhere', async (t) => {
  const { own, write } = await place(t, 'link');
  await symlink(join(own, 'elsewhere'), join(own, 'link'));
  await assert.rejects(write(), { message: 'the file cannot be written (ELOOP)' });
  assert.deepEqual(await readdir(own), ['link']);
});

test('a link beside a file is not followed, and holds nothing up', async (t) => {
  const { own, write } = await place(t, 'events');
  await symlink(join(own, 'nowhere'), join(own, 'other'));
  assert.deepEqual(await write(), { kind: 'sent' });
});
