import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse('IP policy rules', (g) => {
  const newPolicy = async (): Promise<string> => (await g().create('/ip_policies')).id;

  test('a rule is created, read, listed, updated and deleted', async () => {
    const policy = await newPolicy();
    const texts = { description: 'office', metadata: 'm' };
    const made = await g().create('/ip_policy_rules', {
      ip_policy_id: policy,
      cidr: '203.0.113.0/24',
      action: 'deny',
      ...texts,
    });
    const { id, uri, created_at, ...rest } = made;
    assert.match(id, /^ipr_[0-9A-Za-z]{27}$/);
    assert.equal(uri, `${g().url}/ip_policy_rules/${id}`);
    assert.match(created_at, /Z$/);
    const ip_policy = { id: policy, uri: `${g().url}/ip_policies/${policy}` };
    assert.deepEqual(rest, { ...texts, cidr: '203.0.113.0/24', action: 'deny', ip_policy });
    assert.deepEqual((await g().get(`/ip_policy_rules/${id}`)).body, made);
    assert.deepEqual((await g().get('/ip_policy_rules?limit=1')).body.ip_policy_rules, [made]);
    const moved = await g().patch(`/ip_policy_rules/${id}`, { cidr: '198.51.100.0/24', description: '' });
    const { description: _gone, ...kept } = made;
    assert.deepEqual(moved.body, { ...kept, cidr: '198.51.100.0/24' });
    assert.equal((await g().delete(`/ip_policy_rules/${id}`)).status, 204);
    await refuses(g(), ['GET', `/ip_policy_rules/${id}`], 404, 1404);
  });

  test('addresses are answered as they were sent, in lower case and without blanks', async () => {
    const forms = {
      '2001:DB8::/32': '2001:db8::/32',
      '2001:0DB8:0000:0000:0001:0000:0000:0000/80': '2001:0db8:0000:0000:0001:0000:0000:0000/80',
      ' 10.0.0.0/8 ': '10.0.0.0/8',
      '::/0': '::/0',
      '0.0.0.0/0': '0.0.0.0/0',
      '255.255.255.255/32': '255.255.255.255/32',
      '::1/128': '::1/128',
    };
    const policy = await newPolicy();
    for (const [cidr, shown] of Object.entries(forms)) {
      const rule = await g().create('/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'allow' });
      assert.equal(rule.cidr, shown);
    }
  });

  test('what is not a range is refused with what to write instead', async () => {
    const policy = await newPolicy();
    const fault = (cidr: unknown, code: number) =>
      refuses(g(), ['POST', '/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'allow' }], 400, code);
    assert.ok((await fault('10.0.0.1/8', 1409)).includes('10.0.0.0/8'));
    assert.ok((await fault('2001:db8::1/64', 1409)).includes('2001:db8::/64'));
    assert.ok((await fault('10.0.0.1', 1413)).includes('10.0.0.1/32'));
    assert.ok((await fault('::1', 1413)).includes('::1/128'));
    assert.ok((await fault('::ffff:10.0.0.0/104', 1406)).includes('10.0.0.0/8'));
    const hopeless = [
      '',
      'x',
      '10.0.0.0/33',
      '10.0.0.0/-1',
      '10.0.0.0/',
      '10.0.0/8',
      '010.0.0.0/8',
      '0x0a.0.0.0/8',
      '1/8',
    ];
    for (const cidr of [
      ...hopeless,
      '10.0.0.0 /8',
      '10.0.0.0/08',
      '::/129',
      ':::/0',
      'fe80::%eth0/64',
      '10.0.0.0/8\0',
      '１０.0.0.0/8',
      '!10.0.0.0/8',
    ]) {
      await fault(cidr, 1406);
    }
    await fault(5, 215);
    await fault(null, 1405);
  });

  test('policy, range and action are required and of their kind', async () => {
    const policy = await newPolicy();
    const whole = { ip_policy_id: policy, cidr: '10.0.0.0/8', action: 'allow' };
    const fault = (change: object, code: number) =>
      refuses(g(), ['POST', '/ip_policy_rules', { ...whole, ...change }], 400, code);
    for (const field of Object.keys(whole)) {
      assert.ok((await fault({ [field]: undefined }, 1405)).includes(`"${field}"`));
    }
    await fault({ action: 'ALLOW' }, 1422);
    await fault({ action: '' }, 1422);
    await fault({ action: true }, 1422);
    await fault({ ip_policy_id: 'ipx_000000000000000000000000000' }, 1414);
    await fault({ ip_policy_id: 'ipp_\0' }, 1414);
    await fault({ ip_policy_id: '' }, 1414);
    await fault({ ip_policy_id: 'ipp_000000000000000000000000000' }, 1402);
    await fault({ ip_policy_id: 3 }, 215);
    await fault({ description: 'é'.repeat(128) }, 1421);
    await fault({ metadata: 'a'.repeat(4097) }, 605);
    await fault({ enabled: true }, 214);
  });

  test('an update takes neither action nor policy', async () => {
    const policy = await newPolicy();
    const { id } = await g().create('/ip_policy_rules', { ip_policy_id: policy, cidr: '10.0.0.0/8', action: 'allow' });
    await refuses(g(), ['PATCH', `/ip_policy_rules/${id}`, { action: 'deny' }], 400, 20190);
    await refuses(g(), ['PATCH', `/ip_policy_rules/${id}`, { ip_policy_id: policy }], 400, 214);
    await refuses(g(), ['PATCH', `/ip_policy_rules/${id}`, { cidr: '10.0.0.0/99' }], 400, 1406);
    for (const body of [{}, { cidr: '' }, { cidr: null }, { cidr: '10.0.0.0/8' }]) {
      assert.equal((await g().patch(`/ip_policy_rules/${id}`, body)).body.cidr, '10.0.0.0/8');
    }
  });

  test('a policy has one rule for a range, whatever its action and spelling', async () => {
    const [policy, other] = [await newPolicy(), await newPolicy()];
    const rule = (cidr: string, action: string, ip_policy_id = policy) => ({ ip_policy_id, cidr, action });
    const first = await g().create('/ip_policy_rules', rule('2001:db8::/32', 'allow'));
    const message = await refuses(g(), ['POST', '/ip_policy_rules', rule('2001:DB8:0::/32', 'deny')], 409, 1408);
    assert.ok(message.includes(first.id));
    await g().create('/ip_policy_rules', rule('2001:db8::/32', 'deny', other));
    const second = await g().create('/ip_policy_rules', rule('2001:db8::/33', 'deny'));
    await refuses(g(), ['PATCH', `/ip_policy_rules/${second.id}`, { cidr: '2001:db8::/32' }], 409, 1408);
    await g().delete(`/ip_policy_rules/${first.id}`);
    assert.equal((await g().patch(`/ip_policy_rules/${second.id}`, { cidr: '2001:db8::/32' })).status, 200);
  });

  test('of many equal rules at the same time, one is made', async () => {
    const body = { ip_policy_id: await newPolicy(), cidr: '10.0.0.0/8', action: 'allow' };
    const answers = await Promise.all(Array.from({ length: 6 }, () => g().post('/ip_policy_rules', body)));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409, 409, 409],
    );
  });

  test('members and bots write rules; another account sees none of them', async () => {
    const policy = await newPolicy();
    const stranger = await createUser(g(), 'admin', await createAccount(g()));
    for (const [at, { token }] of [await createUser(g(), 'member'), await createBot(g())].entries()) {
      const body = { ip_policy_id: policy, cidr: `10.${at}.0.0/16`, action: 'allow' };
      const { id } = await g().create('/ip_policy_rules', body, { token });
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        await refuses(g(), [method, `/ip_policy_rules/${id}`, undefined, { token: stranger.token }], 404, 1404);
      }
      assert.equal((await g().delete(`/ip_policy_rules/${id}`, { token })).status, 204);
    }
    assert.deepEqual((await g().get('/ip_policy_rules', { token: stranger.token })).body.ip_policy_rules, []);
  });
});
