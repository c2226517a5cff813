import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { warnings } from './service.ts';

onDatabasesInTurn('warnings', (newDatabase) => {
  let gatehouse: Gatehouse;
  before(async () => {
    gatehouse = await Gatehouse.start(await newDatabase(), { trustedProxies: '127.0.0.1' });
  });
  after(() => gatehouse[Symbol.asyncDispose]());

  test('a restriction that is not enforced counts each source that it would refuse, and calls go on', async () => {
    const policy = await gatehouse.create('/ip_policies');
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '127.0.0.0/8', action: 'allow' });
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'api', ip_policy_ids: [policy.id] });
    const path = `/ip_restrictions/${restriction.id}/warnings`;
    assert.deepEqual((await gatehouse.get(path)).body.warnings, []);

    const from = (address: string) => gatehouse.get('/api_keys', { headers: { 'x-forwarded-for': address } });
    for (const address of ['203.0.113.1', '203.0.113.1', '2001:db8::1']) {
      const answer = await from(address);
      assert.deepEqual([answer.status, answer.headers.get('gatehouse-warning')], [200, restriction.id]);
    }
    assert.equal((await gatehouse.get('/api_keys')).headers.get('gatehouse-warning'), null);

    const { body } = await gatehouse.get(path);
    assert.equal(body.total_sources, 2);
    const counts = Object.fromEntries(
      body.warnings.map(({ source, count }: { source: string; count: number }) => [source, count]),
    );
    assert.deepEqual(counts, { '203.0.113.1': 2, '2001:db8::1': 1 });
    for (const warning of body.warnings) {
      assert.match(warning.first_seen, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.ok(warning.last_seen >= warning.first_seen);
    }

    await from('203.0.113.1');
    const again = await gatehouse.get(path);
    const latest = again.body.warnings.find(({ source }: { source: string }) => source === '203.0.113.1');
    assert.equal(latest.count, 3);
    const logged = gatehouse.logLines.filter((line) => line.includes('let through with a warning'));
    assert.equal(logged.length, 2, 'each pair is logged once a minute');

    await gatehouse.delete(`/ip_restrictions/${restriction.id}`);
    assert.equal((await gatehouse.get(path)).status, 404);
  });

  test('warnings can be filtered by source, time and count', async () => {
    const policy = await gatehouse.create('/ip_policies');
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy.id] });
    const path = `/ip_restrictions/${restriction.id}/warnings`;
    const warned = gatehouse.app.context.services.get(warnings);
    for (let at = 0; at < 1_200; at++) {
      const source = parseIp(`10.8.${at >> 8}.${at & 255}`);
      assert.ok(source);
      for (let times = 0; times <= at % 3; times++) warned.warned([restriction.id], source);
    }
    const found = async (filter: string) => {
      const { status, body, text } = await gatehouse.get(`${path}?filter=${encodeURIComponent(filter)}`);
      assert.equal(status, 200, text);
      return body;
    };
    assert.deepEqual(
      [(await found('obj.count > 1')).warnings.length, (await found('obj.count > 1')).total_sources],
      [800, 800],
    );
    const all = await found('obj.last_seen > timestamp(time.now).subtract("1h")');
    assert.deepEqual([all.warnings.length, all.total_sources], [1_000, 1_200]);
    const [one, ...others] = (await found('obj.source == "10.8.4.175"')).warnings;
    assert.deepEqual([one.source, one.count, others], ['10.8.4.175', 3, []]);
    assert.deepEqual((await found('obj.first_seen > timestamp(time.now).add("1h")')).warnings, []);
    const refused = await gatehouse.get(`${path}?filter=${encodeURIComponent('obj.id == "x"')}`);
    assert.match(refused.body.msg, /there are source, first_seen, last_seen, count/);
  });

  test('warnings move neither the version nor the change log', async () => {
    const policy = await gatehouse.create('/ip_policies');
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'api', ip_policy_ids: [policy.id] });
    const { version } = gatehouse.app.context.store;
    await gatehouse.get('/api_keys');
    await gatehouse.get(`/ip_restrictions/${restriction.id}/warnings`);
    assert.equal(gatehouse.app.context.store.version, version);
  });

  test('who waits until all is written, such as a program that ends, waits for what others have begun to write', async () => {
    const policy = await gatehouse.create('/ip_policies');
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy.id] });
    const counted = gatehouse.app.context.services.get(warnings);
    const source = parseIp('10.6.0.1');
    assert.ok(source);
    counted.warned([restriction.id], source);
    const order: string[] = [];
    const begun = counted.flush().then(() => order.push('begun before'));
    await counted.flush();
    order.push('nothing left');
    await begun;
    assert.deepEqual(order, ['begun before', 'nothing left']);
  });

  test('a flood of sources is written in short steps, so that other writes are answered meanwhile', async () => {
    const policy = await gatehouse.create('/ip_policies');
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy.id] });
    const { services } = gatehouse.app.context;
    const order: string[] = [];
    for (let at = 0; at < 4_000; at++) {
      const source = parseIp(`10.7.${at >> 8}.${at & 255}`);
      assert.ok(source);
      services.get(warnings).warned([restriction.id], source);
    }
    const flushed = services
      .get(warnings)
      .flush()
      .then(() => order.push('flushed'));
    for (let at = 0; at < 2; at++) {
      await gatehouse.create('/ip_policies');
      order.push('written');
    }
    await flushed;
    assert.deepEqual(order, ['written', 'written', 'flushed']);
    const { body } = await gatehouse.get(`/ip_restrictions/${restriction.id}/warnings`);
    assert.deepEqual([body.total_sources, body.warnings.length], [4_000, 1_000]);
  });

  test('of more sources than are kept, those not seen longest go', async () => {
    const policy = await gatehouse.create('/ip_policies');
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy.id] });
    const { store } = gatehouse.app.context;
    await store.writeUnlogged(async (notes) =>
      notes.run(
        `INSERT INTO ip_restriction_warnings (restriction_id, source, first_seen, last_seen, count)
         WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 10800)
         SELECT $1, 'old ' || number, '2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', 1 FROM numbers`,
        [restriction.id],
      ),
    );
    const source = parseIp('192.0.2.1');
    assert.ok(source);
    gatehouse.app.context.services.get(warnings).warned([restriction.id], source);
    const { body } = await gatehouse.get(`/ip_restrictions/${restriction.id}/warnings`);
    assert.deepEqual([body.total_sources, body.warnings[0].source], [10_000, '192.0.2.1']);
  });
});
