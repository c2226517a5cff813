import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { connectPostgres } from '../../support/postgres-client.ts';
import { createDatabase, startPostgres } from '../../support/postgres.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';

for (const workers of ['off', '2'])
  test(
    `while rules of one account cannot be read, changes of another go live in every process, workers ${workers}`,
    { timeout: 300_000 },
    async () => {
      await using upstream = await startUpstream();
      await using server = await startPostgres();
      const url = await createDatabase(server.url);
      const settings = { httpsListen: '127.0.0.1:0', workers };
      await using p = await Gatehouse.start(url, settings);
      await using q = await Gatehouse.start(url, settings);
      const c = { token: (await createUser(p, 'admin', await createAccount(p))).token };
      const policy = await q.create('/ip_policies', {}, c);
      const nobody = await q.create('/ip_policies', {});
      const { id: backend_id } = await q.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const edge = await q.create('/edges/https', { hostports: ['a.test:443'] });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
      const { id: routeId } = await q.create(`/edges/https/${edge.id}/routes`, route);
      const statusAt = async (g: Gatehouse) => (await askHttps(g.httpsPort, 'a.test')).status;
      for (const g of [p, q]) await until(async () => (await statusAt(g)) === 200, 'the edge is live');

      await using holder = await connectPostgres(url);
      await holder.query('BEGIN; LOCK TABLE ip_policy_rule_rows IN ACCESS EXCLUSIVE MODE');
      const held = q.patch(`/ip_policies/${policy.id}`, { description: 'read again' }, c);
      const waiting = "SELECT COUNT(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await until(async () => (await holder.query(waiting)).rows[0].count >= 2, 'both processes wait for the rules');
      const path = `/edges/https/${edge.id}/routes/${routeId}/ip_restriction`;
      const { status, text } = await q.put(path, { ip_policy_ids: [nobody.id] });
      assert.equal(status, 200, text);
      assert.equal(await statusAt(q), 403, 'in the process of the call at once');
      await until(async () => (await statusAt(p)) === 403, 'in the other one too');
      assert.equal((await p.post('/backends/static', { address: 'app.internal:80' })).status, 201);
      assert.equal((await p.delete(path)).status, 204);
      assert.equal(await statusAt(p), 200);
      await holder.query('ROLLBACK');
      await held;
      assert.equal((await p.patch(`/ip_policies/${policy.id}`, { description: 'live' }, c)).status, 200);
    },
  );
