import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';

onDatabasesInTurn('ip check', (newDatabase) => {
  let gatehouse: Gatehouse;
  let office: { id: string };
  let rule: { id: string };
  before(async () => {
    gatehouse = await Gatehouse.start(await newDatabase());
    office = await gatehouse.create('/ip_policies');
    rule = await gatehouse.create('/ip_policy_rules', {
      ip_policy_id: office.id,
      cidr: '203.0.113.0/24',
      action: 'allow',
    });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '203.0.113.66/32', action: 'deny' });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '2001:db8::/32', action: 'allow' });
  });
  after(() => gatehouse[Symbol.asyncDispose]());

  test('an address that nothing restricts is let through, and it says so', async () => {
    const { status, body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'agent' });
    assert.equal(status, 200);
    assert.deepEqual([body.allowed, body.allowed_if_all_enforced, body.checks], [true, true, []]);
  });

  test('a restriction that only warns lets through, and tells what enforcing it would change', async () => {
    const restriction = await gatehouse.create('/ip_restrictions', { type: 'dashboard', ip_policy_ids: [office.id] });
    const { body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'dashboard' });
    assert.deepEqual([body.allowed, body.allowed_if_all_enforced], [true, false]);
    assert.deepEqual([body.checks[0].id, body.checks[0].effect, body.checks[0].rule], [restriction.id, 'warns', null]);
    assert.match(body.explanation, /would refuse/);
    await gatehouse.patch(`/ip_restrictions/${restriction.id}`, { enforced: true });
    const enforced = await gatehouse.post('/ip_check', { ip: '198.51.100.1', type: 'dashboard' });
    assert.deepEqual([enforced.body.allowed, enforced.body.checks[0].effect], [false, 'refuses']);
  });

  test('the rule that decided is named: a deny before an allow, else the narrowest allow', async () => {
    const edge = await gatehouse.create('/edges/tcp', { ip_restriction: { ip_policy_ids: [office.id] } });
    const allowed = await gatehouse.post('/ip_check', { ip: '::ffff:203.0.113.7', edge_id: edge.id });
    assert.deepEqual(
      [allowed.body.ip, allowed.body.allowed, allowed.body.checks[0].rule.id],
      ['203.0.113.7', true, rule.id],
    );
    const denied = await gatehouse.post('/ip_check', { ip: '203.0.113.66', edge_id: edge.id });
    assert.deepEqual([denied.body.allowed, denied.body.checks[0].rule.cidr], [false, '203.0.113.66/32']);
    const ipv6 = await gatehouse.post('/ip_check', { ip: '2001:DB8::1', edge_id: edge.id });
    assert.deepEqual([ipv6.body.allowed, ipv6.body.checks[0].rule.cidr], [true, '2001:db8::/32']);
  });

  test('traffic to a route meets the endpoints restrictions and then the route’s module; a disabled one is off', async () => {
    const edge = await gatehouse.create('/edges/https', { hostports: ['check.example.com:443'] });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      ip_restriction: { enabled: false, ip_policy_ids: [office.id] },
    });
    const endpoints = await gatehouse.create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [office.id] });
    const { body } = await gatehouse.post('/ip_check', { ip: '198.51.100.1', route_id: route.id });
    assert.deepEqual(
      body.checks.map((check: { id: string; effect: string }) => [check.id, check.effect]),
      [
        [endpoints.id, 'warns'],
        [route.id, 'off'],
      ],
    );
    assert.equal(body.allowed, true);
    const ofEdge = await gatehouse.post('/ip_check', { ip: '198.51.100.1', edge_id: edge.id });
    assert.deepEqual(ofEdge.body.checks.length, 1);
  });

  test('bad questions are refused with what is wrong', async () => {
    const cases: readonly [object, number, string][] = [
      [{ ip: '203.0.113', type: 'api' }, 400, '20033'],
      [{ ip: '203.0.113.7' }, 400, '20032'],
      [{ ip: '203.0.113.7', type: 'api', edge_id: 'edgtcp_1' }, 400, '20032'],
      [{ ip: '203.0.113.7', type: 'nothing' }, 400, '215'],
      [{ type: 'api' }, 400, '20012'],
      [{ ip: '203.0.113.7', edge_id: 'ipp_1' }, 400, '243'],
      [{ ip: '203.0.113.7', edge_id: 'edgtcp_1' }, 404, '7000'],
      [{ ip: '203.0.113.7', route_id: 'edghtsrt_1' }, 404, '7124'],
    ];
    for (const [question, status, code] of cases) {
      const answer = await gatehouse.post('/ip_check', question);
      assert.deepEqual(
        [answer.status, answer.body.error_code],
        [status, `ERR_GATEHOUSE_${code}`],
        JSON.stringify(question),
      );
    }
  });
});
