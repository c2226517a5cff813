import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { from, runOnHost } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

const here = '203.0.113.7';
const allowLockout = { headers: { 'gatehouse-allow-lockout': 'true' } };

onEachGatehouse(
  'the guard against locking oneself out',
  (g) => {
    const newPolicy = async (rules: readonly string[] = []): Promise<string> => {
      const { id } = await g().create('/ip_policies', {}, from(here));
      await g().put(`/ip_policies/${id}/rules`, rules, from(here));
      return id;
    };
    const restrict = (policies: readonly string[], enforced = true, options = from(here)) =>
      g().create('/ip_restrictions', { type: 'api', enforced, ip_policy_ids: policies }, options);
    const guarded = async (method: string, path: string, body?: unknown, options = from(here)) => {
      const message = await refuses(g(), [method, path, body, options], 409, 20005);
      assert.ok(message.includes(here) && message.includes('Gatehouse-Allow-Lockout: true'));
      assert.equal((await g().get('/api_keys', options)).status, 200);
      return message;
    };

    afterEach(async () => {
      await runOnHost(g(), 'restrictions disable', { id: 'all' });
      for (const { id } of (await g().get('/ip_restrictions')).body.ip_restrictions) {
        await g().delete(`/ip_restrictions/${id}`);
      }
    });

    test('a new restriction that refuses the caller is not made', async () => {
      const body = { type: 'api', enforced: true, ip_policy_ids: [await newPolicy(['10.0.0.0/8'])] };
      const message = await guarded('POST', '/ip_restrictions', body);
      assert.ok(message.includes('this new IP restriction'));
      assert.deepEqual((await g().get('/ip_restrictions')).body.ip_restrictions, []);
    });

    test('a caller who means it gets it, and is out from the next call on', async () => {
      const policy = await newPolicy(['10.0.0.0/8']);
      const { id } = await restrict([policy], true, from(here, allowLockout));
      const refused = await g().get('/api_keys', from(here));
      assert.equal(refused.status, 403);
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_220');
      assert.equal((await g().delete(`/ip_restrictions/${id}`, from(here, allowLockout))).status, 403);
      assert.equal((await g().get('/api_keys', from('10.2.3.4'))).status, 200);
      assert.match(await runOnHost(g(), 'restrictions disable', { id }), new RegExp(id));
      assert.equal((await g().get('/api_keys', from(here))).status, 200);
    });

    test('only the exact word lets a lock-out through', async () => {
      const body = { type: 'api', enforced: true, ip_policy_ids: [await newPolicy()] };
      for (const word of ['True', '1', 'yes', 'true, true', 'false', '']) {
        await guarded('POST', '/ip_restrictions', body, from(here, { headers: { 'gatehouse-allow-lockout': word } }));
      }
    });

    test('enforcing a restriction, or giving it other policies, is guarded', async () => {
      const [fits, misses] = [await newPolicy(['203.0.113.0/24']), await newPolicy(['10.0.0.0/8'])];
      const trial = await restrict([misses], false);
      const message = await guarded('PATCH', `/ip_restrictions/${trial.id}`, { enforced: true });
      assert.ok(message.includes(trial.id));
      const inForce = await restrict([fits]);
      await guarded('PATCH', `/ip_restrictions/${inForce.id}`, { ip_policy_ids: [misses] });
      assert.deepEqual((await g().get(`/ip_restrictions/${inForce.id}`, from(here))).body, inForce);
      const both = { ip_policy_ids: [misses, fits], description: 'both' };
      assert.equal((await g().patch(`/ip_restrictions/${inForce.id}`, both, from(here))).status, 200);
    });

    test('every restriction must let the caller pass', async () => {
      const inForce = await restrict([await newPolicy(['203.0.113.0/24'])]);
      const body = { type: 'api', enforced: true, ip_policy_ids: [await newPolicy(['10.0.0.0/8'])] };
      await guarded('POST', '/ip_restrictions', body);
      assert.equal((await g().delete(`/ip_restrictions/${inForce.id}`, from(here))).status, 204);
    });

    test('rules of policies in force are guarded, one by one and all at once', async () => {
      const policy = await newPolicy();
      const rule = (cidr: string, action: string) => ({ ip_policy_id: policy, cidr, action });
      const allow = await g().create('/ip_policy_rules', rule('203.0.113.0/24', 'allow'));
      const { id } = await restrict([policy]);
      const deny = rule('203.0.113.7/32', 'deny');
      assert.ok((await guarded('POST', '/ip_policy_rules', deny)).includes(id));
      await guarded('DELETE', `/ip_policy_rules/${allow.id}`);
      await guarded('PATCH', `/ip_policy_rules/${allow.id}`, { cidr: '203.0.113.8/29' });
      await guarded('PUT', `/ip_policies/${policy}/rules`, ['10.0.0.0/8']);
      await guarded('PUT', `/ip_policies/${policy}/rules`, ['0.0.0.0/0', '!203.0.113.7/32']);
      assert.equal(
        (await g().patch(`/ip_policy_rules/${allow.id}`, { cidr: '203.0.113.0/28' }, from(here))).status,
        200,
      );
      await g().create('/ip_policy_rules', rule('203.0.113.9/32', 'deny'), from(here));
      assert.equal((await g().post('/ip_policy_rules', deny, from(here, allowLockout))).status, 201);
      assert.equal((await g().get('/api_keys', from(here))).status, 403);
    });

    test('a caller whom a change does not touch is not asked, whatever it does to others', async () => {
      const policy = await newPolicy(['203.0.113.0/24', '10.0.0.0/8']);
      await restrict([policy]);
      const changed = await g().put(`/ip_policies/${policy}/rules`, ['203.0.113.7/32'], from(here));
      assert.equal(changed.status, 200);
      assert.equal((await g().get('/api_keys', from('10.0.0.1'))).status, 403);
    });

    test('restrictions of other traffic are not guarded', async () => {
      const ip_policy_ids = [await newPolicy()];
      for (const type of ['agent', 'endpoints', 'dashboard']) {
        await g().create('/ip_restrictions', { type, enforced: true, ip_policy_ids }, from(here));
      }
      assert.equal((await g().get('/api_keys', from(here))).status, 200);
    });

    test('IPv4 rules let no IPv6 caller in, nor the other way round', async () => {
      for (const [address, cidr] of [
        ['2001:db8::1', '0.0.0.0/0'],
        [here, '::/0'],
        ['::ffff:203.0.113.7', '::/0'],
      ] as const) {
        const body = { type: 'api', enforced: true, ip_policy_ids: [await newPolicy([cidr])] };
        await refuses(g(), ['POST', '/ip_restrictions', body, from(address)], 409, 20005);
      }
      await restrict([await newPolicy(['203.0.113.0/24'])], true, from('::ffff:203.0.113.7'));
    });
  },
  { trustedProxies: '127.0.0.1' },
);
