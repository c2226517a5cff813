import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { runOnHost } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

onEachGatehouse(
  'warnings of a restriction that is not enforced',
  (g) => {
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const newRestriction = async (enforced = false, rules: readonly string[] = ['127.0.0.1/32']) => {
      const { id } = await g().create('/ip_policies');
      await g().put(`/ip_policies/${id}/rules`, rules);
      return g().create('/ip_restrictions', { type: 'api', enforced, ip_policy_ids: [id] });
    };

    afterEach(async () => {
      await runOnHost(g(), 'restrictions disable', { id: 'all' });
      for (const { id } of (await g().get('/ip_restrictions')).body.ip_restrictions) {
        await g().delete(`/ip_restrictions/${id}`);
      }
    });

    test('the call goes on, and its answer names every restriction that would have refused it', async () => {
      const [first, second] = [await newRestriction(), await newRestriction()];
      await newRestriction(false, ['0.0.0.0/0']);
      const warned = await g().get('/api_keys', from('203.0.113.7'));
      assert.equal(warned.status, 200);
      const named = new Set(warned.headers.get('gatehouse-warning')?.split(', '));
      assert.deepEqual(named, new Set([first.id, second.id]));
      assert.equal((await g().get('/api_keys')).headers.get('gatehouse-warning'), null);
      const refusedToo = await g().get('/api_keys?limit=0', from('203.0.113.7'));
      assert.equal(refusedToo.status, 400);
      assert.ok(refusedToo.headers.get('gatehouse-warning'));
    });

    test('sources are counted and listed, the last one first', async () => {
      const { id } = await newRestriction();
      for (const address of ['203.0.113.7', '2001:db8::1', '203.0.113.7']) await g().get('/api_keys', from(address));
      const { status, body } = await g().get(`/ip_restrictions/${id}/warnings`);
      assert.equal(status, 200);
      assert.equal(body.uri, `${g().url}/ip_restrictions/${id}/warnings`);
      assert.equal(body.total_sources, 2);
      const counts = body.warnings.map(({ source, count }: { source: string; count: number }) => [source, count]);
      assert.deepEqual(Object.fromEntries(counts), { '203.0.113.7': 2, '2001:db8::1': 1 });
      for (const { first_seen, last_seen } of body.warnings) {
        assert.match(first_seen, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        assert.ok(last_seen >= first_seen);
      }
      await g().get('/api_keys', from('203.0.113.7'));
      const again = (await g().get(`/ip_restrictions/${id}/warnings`)).body;
      assert.equal(again.warnings.find(({ source }: { source: string }) => source === '203.0.113.7').count, 3);
    });

    test('what is enforced refuses in place of warning, beside one that only warns', async () => {
      const enforced = await newRestriction(true);
      const trial = await newRestriction(false, ['127.0.0.2/32']);
      const refused = await g().get('/api_keys', from('203.0.113.7'));
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_220');
      assert.ok(refused.body.msg.includes(enforced.id) && refused.body.msg.includes('203.0.113.7'));
      const passed = await g().get('/api_keys');
      assert.equal(passed.headers.get('gatehouse-warning'), trial.id);
      assert.equal((await g().get(`/ip_restrictions/${enforced.id}/warnings`)).body.total_sources, 0);
    });

    test('a restriction with warnings can be deleted', async () => {
      const { id } = await newRestriction();
      await g().get('/api_keys', from('203.0.113.7'));
      assert.equal((await g().get(`/ip_restrictions/${id}/warnings`)).body.total_sources, 1);
      await g().get('/api_keys', from('203.0.113.8'));
      assert.equal((await g().delete(`/ip_restrictions/${id}`)).status, 204);
      assert.equal((await g().get(`/ip_restrictions/${id}/warnings`)).status, 404);
      await g().app.context.offers.warnings.flush();
    });
  },
  { 'trusted-proxies': '127.0.0.1' },
);
