import assert from 'node:assert/strict';
import { test } from 'node:test';

import { httpsEdgeRoutes } from '../../../src/resources/edges/https/table.ts';
import type { Transaction } from '../../../src/store/write/transaction.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { onAnyDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { askHttps } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';

const settings = { httpsListen: '127.0.0.1:0', metricsListen: '127.0.0.1:0', drainSeconds: '0' };
const allow = { cidr: '127.0.0.0/8', action: 'allow' };

interface Made {
  readonly edgeId: string;
  readonly routeId: string;
  readonly policyId: string;
}

/** Makes an edge whose only route is limited to a policy of its own. */
async function makeEdge(gatehouse: Gatehouse, host: string, upstreamPort: number, token?: string): Promise<Made> {
  const options = token === undefined ? {} : { token };
  const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstreamPort}` }, options);
  const policy = await gatehouse.create('/ip_policies', {}, options);
  await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy.id, ...allow }, options);
  const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`] }, options);
  const route = { match_type: 'path_prefix', match: '/', ip_restriction: { ip_policy_ids: [policy.id] } };
  const backed = { ...route, backend: { backend_id: backend.id } };
  const made = await gatehouse.create(`/edges/https/${edge.id}/routes`, backed, options);
  return { edgeId: edge.id, routeId: made.id, policyId: policy.id };
}

async function ask(gatehouse: Gatehouse, host: string): Promise<string> {
  const { status, errorCode } = await askHttps(gatehouse.httpsPort, host);
  return `${status} ${errorCode ?? ''}`;
}

function write(gatehouse: Gatehouse, work: (transaction: Transaction) => Promise<unknown>): Promise<unknown> {
  return gatehouse.app.context.store.write({ id: 'newer', accountId: '', operationId: 'op_1' }, work);
}

/** Stores the route as a newer version would, with a module that this one does not know, or without it again. */
async function setModule(gatehouse: Gatehouse, routeId: string, settingsOfIt: object | null): Promise<void> {
  await write(gatehouse, async (transaction) => {
    const route = await httpsEdgeRoutes.load(transaction, routeId);
    assert.ok(route);
    const { future_check: _, ...known } = { future_check: undefined, ...route.modules };
    const modules = settingsOfIt === null ? known : { ...known, future_check: settingsOfIt };
    return httpsEdgeRoutes.update(transaction, route, { ...route, modules });
  });
}

async function faultyEntries(gatehouse: Gatehouse): Promise<readonly unknown[]> {
  const ready = await gatehouse.get('/readyz');
  const metrics = await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`);
  const [, counted] = /^gatehouse_faulty_entries (\d+)$/m.exec(await metrics.text()) ?? [];
  return [ready.status, ready.body.faulty_entries, Number(counted)];
}

onAnyDatabase('entries that cannot be loaded', (newDatabase) => {
  test('one of a newer version closes its edge alone: other accounts change theirs, and a restart changes nothing', async () => {
    await using upstream = await startUpstream();
    const database = await newDatabase();
    let other: Made;
    let made: Made;
    {
      await using gatehouse = await Gatehouse.start(database, settings);
      const { token } = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      made = await makeEdge(gatehouse, 'a.test', upstream.port);
      other = await makeEdge(gatehouse, 'b.test', upstream.port, token);
      assert.deepEqual(await faultyEntries(gatehouse), [200, 0, 0]);

      await setModule(gatehouse, made.routeId, { enabled: true });
      assert.equal(await ask(gatehouse, 'a.test'), '503 20077');
      assert.deepEqual(await faultyEntries(gatehouse), [200, 1, 1]);
      const logged = gatehouse.logLines.filter((line) => line.includes('cannot be loaded'));
      assert.equal(logged.length, 1);
      assert.match(logged[0] ?? '', new RegExp(`"id":"${made.edgeId}".*unknown module .*future_check`));

      assert.equal(await ask(gatehouse, 'b.test'), '200 ');
      await gatehouse.create(
        '/ip_policy_rules',
        { ip_policy_id: other.policyId, cidr: '127.0.0.1/32', action: 'deny' },
        { token },
      );
      assert.equal(await ask(gatehouse, 'b.test'), '403 3203');
      assert.equal((await gatehouse.get(`/edges/https/${made.edgeId}/routes/${made.routeId}`)).status, 200);
    }
    await using again = await Gatehouse.start(database, settings);
    assert.equal(await ask(again, 'a.test'), '503 20077');
    assert.equal(await ask(again, 'b.test'), '403 3203');
    await setModule(again, made.routeId, null);
    assert.equal(await ask(again, 'a.test'), '200 ');
    assert.deepEqual(await faultyEntries(again), [200, 0, 0]);
  });

  test('a stored rule that is none closes what depends on its policy, and is cured by a sound list of rules', async () => {
    await using upstream = await startUpstream();
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const [made, other] = [
      await makeEdge(gatehouse, 'a.test', upstream.port),
      await makeEdge(gatehouse, 'b.test', upstream.port),
    ];
    await write(gatehouse, async (transaction) => {
      const { policyId } = made;
      await transaction.run(
        'UPDATE ip_policy_rule_rows SET cidr = $1 WHERE set_id = (SELECT rule_set FROM ip_policies WHERE id = $2)',
        ['127.0.0.0/x', policyId],
      );
      const change = { kind: 'ip_policy', id: policyId, before: null, after: null };
      transaction.record({ accountId: '', ...change, cascades: true });
    });
    assert.equal(await ask(gatehouse, 'a.test'), '503 20077');
    assert.equal(await ask(gatehouse, 'b.test'), '200 ');
    assert.deepEqual(await faultyEntries(gatehouse), [200, 1, 1]);
    assert.equal((await gatehouse.put(`/ip_policies/${made.policyId}/rules`, [allow])).status, 200);
    assert.equal(await ask(gatehouse, 'a.test'), '200 ');
    assert.deepEqual(await faultyEntries(gatehouse), [200, 0, 0]);
    assert.equal((await gatehouse.delete(`/edges/https/${other.edgeId}`)).status, 204);
  });
});
