import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { connectPostgres } from '../../../test/support/postgres-client.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { StoreUnavailableError } from '../database.ts';

const limit = { timeout: 300_000 };
const blocked = "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

test(
  'while the database answers no write, further ones are refused at once, reads go on, and /readyz tells',
  limit,
  async () => {
    await using server = await startPostgres();
    await using g = await Gatehouse.start(server.url, { role: 'api', accountCalls: '8' });
    const { id } = await g.create('/ip_policies', {});
    const readyz = async () => Object(await (await fetch(`${g.url}/readyz`)).json());
    await using holder = await connectPostgres(server.url);
    await holder.query('BEGIN; SELECT version FROM store_version FOR UPDATE');
    // As many as a principal may have in progress, and more.
    const held = Array.from({ length: 20 }, () => g.post('/ip_policies', {}));
    await until(() => g.app.context.store.isStalled, 'the writer is stalled');
    const refused = await g.post('/ip_policies', {});
    assert.deepEqual([refused.status, refused.body.error_code], [503, 'ERR_GATEHOUSE_20004']);
    assert.match(refused.body.msg, /takes no writes at the moment, and reading goes on/);
    assert.equal((await g.get(`/ip_policies/${id}`)).status, 200);
    assert.equal((await g.get('/ip_policies')).status, 200);
    assert.deepEqual(await readyz(), { status: 'ready', storage: 'ok', faulty_entries: 0, writes: 'stalled' });
    const codes = (await Promise.all(held)).map(({ status, body }) => [status, body.error_code]);
    assert.deepEqual(
      codes.filter(([status, code]) => status !== 503 || code !== 'ERR_GATEHOUSE_20004'),
      [],
      'none is told to send fewer at once',
    );
    // Nothing tries again by itself, and the server gave up the lock before this process gave up the connection.
    await until(async () => (await holder.query(blocked)).rows[0].count === 0, 'nobody is left waiting at the server');
    await holder.query('ROLLBACK');
    await until(async () => (await g.post('/ip_policies', {})).status === 201, 'writes are taken again');
    assert.equal('writes' in (await readyz()), false);
  },
);

test('a transaction whose process is silent is ended by the server, and another process writes', limit, async () => {
  await using server = await startPostgres();
  await using one = await Gatehouse.start(server.url, { role: 'api' });
  await using other = await Gatehouse.start(server.url, { role: 'api' });
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const silent = one.app.context.store.writeUnlogged(async (writer) => {
    await writer.run('UPDATE accounts SET id = id');
    begun.resolve();
    await over.promise;
    await writer.run('UPDATE accounts SET id = id');
  });
  await begun.promise;
  // The write that waits may be refused before the server has ended the transaction.
  const written = until(async () => (await other.post('/ip_policies', {})).status === 201, 'another process writes');
  await written.finally(() => over.resolve());
  await assert.rejects(silent, StoreUnavailableError);
  assert.equal((await one.post('/ip_policies', {})).status, 201);
});

test(
  'while a table is locked, its reads are refused, others are answered, and nobody is left waiting at the server',
  limit,
  async () => {
    await using server = await startPostgres();
    await using g = await Gatehouse.start(server.url, { role: 'api' });
    await g.create('/ip_policies', {});
    await using holder = await connectPostgres(server.url);
    await holder.query('BEGIN; LOCK TABLE ip_policies IN ACCESS EXCLUSIVE MODE');
    for (let round = 0; round < 2; round++) {
      const held = Array.from({ length: 6 }, () => g.get('/ip_policies'));
      assert.equal((await g.get('/api_keys')).status, 200);
      assert.deepEqual(new Set((await Promise.all(held)).map(({ status }) => status)), new Set([503]));
    }
    assert.equal((await g.get('/api_keys')).status, 200);
    await until(async () => (await holder.query(blocked)).rows[0].count === 0, 'nobody is left waiting at the server');
    await holder.query('ROLLBACK');
    await until(async () => (await g.get('/ip_policies')).status === 200, 'the table is read again');
  },
);
