import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { EventReceiver, receiverCa } from '../../support/event-receiver.ts';
import { scratchFolder } from '../../support/scratch.ts';
import { appHost, createAppEdge, createPolicy } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

onDatabasesInTurn('decisions of several gateways', (newDatabase) => {
  test('are read through any API process, in one order, while gateways hang, die and come', async () => {
    await using upstream = await startUpstream();
    const databaseUrl = await newDatabase();
    await using receiver = await EventReceiver.start();
    await using api = await Program.start(databaseUrl, { role: 'api', 'upstream-ca': receiverCa });
    const gateway = (workers: string) =>
      Program.start(databaseUrl, { role: 'gateway', workers, decisions: scratchFolder() });
    await using one = await gateway('off');
    await using other = await gateway('2');
    await using without = await Program.start(databaseUrl, { role: 'gateway' });
    const sources = [{ type: 'http_request_complete.v0' }];
    await until(async () => {
      const { id } = await api.must('POST', '/event_destinations', receiver.destination);
      const body = { sources, destination_ids: [id] };
      return (await api.call('POST', '/event_subscriptions', body)).status === 201;
    }, 'the API knows of a gateway that keeps decisions');
    const { routePath } = await createAppEdge(api, upstream.port);
    const nobody = await createPolicy(api, '10.0.0.0/8');
    await api.must('PUT', `${routePath}/ip_restriction`, { ip_policy_ids: [nobody] });
    const all = [one, other, without];
    for (const { httpsPort } of all)
      await until(
        () =>
          askHttps(httpsPort, appHost).then(
            ({ status }) => status === 403,
            () => false,
          ),
        'the restriction is obeyed',
      );

    const page = (query = '') => api.must('GET', `/decisions?verdict=refused${query}`);
    const statesOf = async (): Promise<string> => {
      const { gateways } = await page();
      return gateways
        .map(({ state }: { state: string }) => state)
        .toSorted()
        .join(' ');
    };
    await until(async () => (await statesOf()) === 'answered answered keeps_none', 'both gateways answer');
    for (let round = 0; round < 3; round++)
      for (const { httpsPort } of all) assert.equal((await askHttps(httpsPort, appHost)).status, 403);
    // Each was refused once while it was waited for; workers tell their decisions a moment later.
    await until(async () => (await page()).decisions.length >= 8, 'all decisions are there');
    const before = await page();
    assert.equal(before.other_gateways, 1);
    assert.equal(before.decisions.length, 8);
    const ids = before.decisions.map(({ id }: { id: string }) => id);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(ids, ids.toSorted().toReversed());
    const stores = new Set(before.decisions.map(({ gateway: store }: { gateway: string }) => store));
    assert.equal(stores.size, 2);

    const inPages: string[] = [];
    for (let before_id = ''; ;) {
      const { decisions, next_page_uri: next } = await page(`&limit=2${before_id}`);
      inPages.push(...decisions.map(({ id }: { id: string }) => id));
      if (next === null) break;
      before_id = `&before_id=${new URL(next).searchParams.get('before_id')}`;
    }
    assert.deepEqual(inPages, ids);
    const summary = await api.must('GET', '/decisions/summary');
    assert.equal(summary.total.refusals.rule, ids.length);
    assert.equal(summary.is_complete, false);
    const top = await api.must('GET', '/decisions/top?by=host');
    assert.deepEqual(top.entries, [{ key: appHost, requests: top.entries[0].requests, refused: ids.length }]);

    const refused = () =>
      receiver.received
        .map(({ body }) => body.object.decision)
        .filter(({ verdict }) => verdict === 'refused')
        .map(({ id }): string => id);
    await until(() => refused().length >= ids.length, 'each is an event too');
    assert.deepEqual(refused().toSorted().toReversed(), ids);
    for (const gatewayOf of stores) {
      const own = receiver.received
        .map(({ body }) => body.object.decision)
        .filter((each) => each.gateway === gatewayOf);
      const order = own.map(({ id }): string => id);
      assert.deepEqual(order, order.toSorted(), 'those of a gateway are in order');
    }

    one.signal('SIGSTOP');
    try {
      assert.equal(await statesOf(), 'answered keeps_none no_answer');
      const rest = await page();
      assert.equal(rest.other_gateways, 2);
      assert.equal(new Set(rest.decisions.map(({ gateway: store }: { gateway: string }) => store)).size, 1);
    } finally {
      one.signal('SIGCONT');
    }
    await until(async () => (await page()).decisions.length === ids.length, 'the one that hung is back');

    other.signal('SIGKILL');
    await other.exited;
    const last = await page();
    assert.ok(last.decisions.length > 0 && last.decisions.length < ids.length);
    assert.deepEqual(
      last.decisions.map(({ id }: { id: string }) => id),
      ids.filter((id: string) => last.decisions.some((each: { id: string }) => each.id === id)),
    );
  });
});
