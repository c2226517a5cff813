import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { takeLock } from './file/lock.ts';
import { readSource } from './read-source.ts';
import { openTemporaryFile } from './temporary-file.ts';

const secret = { kind: 'vault_secret', id: 'a', vaultId: 'v', name: 'n', value: 'secret-of-vault' } as const;
const update = { version: 1, full: true, set: [secret], removed: [] };

/** Temporary files are made in another folder until the test ends. */
async function useFolder(t: TestContext): Promise<string> {
  const { TMPDIR: before } = process.env;
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-temporary-'));
  process.env['TMPDIR'] = folder;
  t.after(async () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    await rm(folder, { recursive: true });
  });
  return folder;
}

test('a temporary snapshot file is for the processes of one gateway only, and goes with it', async (t) => {
  const folder = await useFolder(t);
  {
    await using temporary = openTemporaryFile(assert.ifError);
    temporary.file.follow(update);
    await temporary.file.flush();
    const source = temporary.file.source();
    const path = source.file?.path ?? '';
    assert.deepEqual([(await stat(dirname(path))).mode & 0o777, (await stat(path)).mode & 0o777], [0o700, 0o600]);
    assert.deepEqual((await readSource(source)).set, [secret]);
    assert.deepEqual(source.beyond.set, []);
    for (const name of await readdir(dirname(path)))
      assert.ok(!(await readFile(join(dirname(path), name))).includes('secret-of-vault'), name);
    const { key: _, ...other } = source.file ?? { path, writer: '', key: undefined };
    await assert.rejects(readSource({ ...source, file: { ...other, key: Buffer.alloc(32) } }), /does not open/);
    await assert.rejects(
      readSource({ ...source, file: { path, key: undefined, writer: 'x' } }),
      /another process|secret_key/,
    );
  }
  assert.deepEqual(await readdir(folder), []);
});

test('what a killed process has left is removed at the next start, and nothing else', async (t) => {
  const folder = await useFolder(t);
  const longAgo = new Date(Date.now() - 3_600_000);
  const make = async (name: string, mode: number): Promise<string> => {
    const path = join(folder, name);
    await mkdir(path);
    await writeFile(join(path, 'gateway.snapshot.lock'), '');
    await chmod(path, mode);
    await utimes(path, longAgo, longAgo);
    return path;
  };
  await make('gatehouse-gateway-left', 0o700);
  await make('gatehouse-gateway-open-to-others', 0o755);
  await make('other', 0o700);
  await make('gatehouse-gateway-young', 0o700);
  await utimes(join(folder, 'gatehouse-gateway-young'), new Date(), new Date());
  const held = await make('gatehouse-gateway-held', 0o700);
  using lock = takeLock(join(held, 'gateway.snapshot'));
  assert.ok(lock);
  await utimes(held, longAgo, longAgo);
  await openTemporaryFile(assert.ifError)[Symbol.asyncDispose]();
  assert.deepEqual(
    (await readdir(folder)).toSorted((a, b) => a.localeCompare(b)),
    ['gatehouse-gateway-held', 'gatehouse-gateway-open-to-others', 'gatehouse-gateway-young', 'other'],
  );
});

test('where there is no place for one, everything goes to workers as it is', async (t) => {
  const folder = await useFolder(t);
  process.env['TMPDIR'] = join(folder, 'file');
  await writeFile(join(folder, 'file'), '');
  const faults: unknown[] = [];
  await using temporary = openTemporaryFile((error) => faults.push(error));
  temporary.file.follow(update);
  await temporary.file.confirm();
  temporary.file.follow({ version: 2, full: false, set: [{ ...secret, id: 'b' }], removed: [] });
  const source = temporary.file.source();
  assert.equal(source.file, undefined);
  assert.deepEqual(await readSource(source), { ...update, version: 2, set: [secret, { ...secret, id: 'b' }] });
  assert.match(String(faults[0]), /ENOTDIR|EEXIST/);
});
