import assert from 'node:assert/strict';
import { link, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { scratchFolder } from '../../../test/support/scratch.ts';
import { copyBeside, inspectFile } from '../../host-commands/sqlite-file.ts';

const folder = scratchFolder();
let files = 0;

async function start(path: string): Promise<Gatehouse> {
  return Gatehouse.start(`sqlite:${path}`, { role: 'api' });
}

const newPath = () => join(folder, `${(files += 1)}.db`);
const policyIds = async (gatehouse: Gatehouse): Promise<readonly string[]> =>
  (await gatehouse.get('/ip_policies')).body.ip_policies.map(({ id }: { readonly id: string }) => id);

async function isRefused(gatehouse: Gatehouse): Promise<boolean> {
  return (await gatehouse.get('/ip_policies')).status === 503;
}

test('a file that takes the place of the open one is not touched, the log stays with its own, and a restart has each whole', async () => {
  const path = newPath();
  const kept = newPath();
  const ids: string[] = [];
  {
    const gatehouse = await start(path);
    // Its last writes find no database.
    await using _ = { [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose]().catch(() => {}) };
    ids.unshift((await gatehouse.create('/ip_policies')).id);
    const backup = await copyBeside(path, newPath(), { readOnly: true });
    // More than one page, so that the log would not fit the other file.
    for (let at = 0; at < 50; at++) ids.unshift((await gatehouse.create('/ip_policies')).id);
    assert.ok((await stat(`${path}-wal`)).size > 0);
    // At once, so that the path never leads nowhere: that would be another fault.
    await link(path, kept);
    await rename(backup, path);
    const before = await stat(path);
    await until(() => isRefused(gatehouse), 'it is noticed');
    assert.equal((await gatehouse.post('/ip_policies', {})).status, 503);
    assert.equal((await fetch(`${gatehouse.url}/readyz`)).status, 503);
    await until(async () => (await stat(`${path}-wal`)).size === 0, 'the log is empty');
    assert.ok(
      gatehouse.logLines.some((line) => /was replaced by another file.*gatehouse restore FILE/.test(line)),
      'the log does not say what to do',
    );
    assert.equal((await stat(path)).mtimeMs, before.mtimeMs, 'the other file was written to');
  }
  await inspectFile(path);
  await inspectFile(kept);
  await using older = await start(path);
  assert.deepEqual(await policyIds(older), ids.slice(-1));
  await using newer = await start(kept);
  assert.deepEqual(await policyIds(newer), ids);
});

test('a write that has begun when the file is moved is refused, and is not there when the file is back', async () => {
  const path = newPath();
  const away = newPath();
  await using gatehouse = await start(path);
  const { id: first } = await gatehouse.create('/ip_policies');
  const writing = gatehouse.app.context.store.writeUnlogged(async (writer) => {
    await writer.run('DELETE FROM ip_policies');
    await rename(path, away);
  });
  await assert.rejects(writing, /was moved or removed while this process had it open/);
  await until(() => isRefused(gatehouse), 'it is noticed');
  await rename(away, path);
  await until(async () => !(await isRefused(gatehouse)), 'it goes on');
  const { id: second } = await gatehouse.create('/ip_policies');
  assert.deepEqual(await policyIds(gatehouse), [second, first]);
});
