import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Gatehouse } from '../../../test/support/gatehouse.ts';

test('the configuration can be read while the disk is full, and has the same names later', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-full-'));
  try {
    await using gatehouse = await Gatehouse.start(`sqlite:${join(folder, 'full.db')}`, { role: 'api' });
    // Their names need more than the rest of a page.
    for (let made = 0; made < 150; made++)
      await gatehouse.create('/ip_policies', { description: `policy ${made % 7}` });
    const { store } = gatehouse.app.context;
    const limitPages = (count: number) =>
      store.writeUnlogged(async (writer) => writer.all(`PRAGMA max_page_count = ${count}`));
    // The limit holds for the connection that writes, which reports it like a full disk.
    await limitPages(1);
    const full = await gatehouse.get('/configuration');
    assert.equal(full.status, 200, full.text);
    const named = async () => (await store.queries.all('SELECT count(*) FROM configuration_names'))[0]?.[0];
    assert.equal(await named(), 0);
    await limitPages(1_000_000);
    const later = await gatehouse.get('/configuration');
    assert.deepEqual([later.text, later.headers.get('etag')], [full.text, full.headers.get('etag')]);
    assert.equal(await named(), 150);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a call that takes longer than a client may stall is answered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-slow-'));
  try {
    const file = join(folder, 'slow.db');
    await using gatehouse = await Gatehouse.start(`sqlite:${file}`, { role: 'api', apiStallSeconds: '1' });
    using other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const entry = { kind: 'static_backends', name: 'app', address: 'a:1' };
    const applied = gatehouse.post('/configuration', [entry]).catch((error: unknown) => error);
    await sleep(3_000);
    other.exec('ROLLBACK');
    const answer = await applied;
    assert.ok(!(answer instanceof Error), String(answer));
    assert.equal((await gatehouse.get('/configuration')).body.entries.length, 1);
  } finally {
    await rm(folder, { recursive: true });
  }
});
