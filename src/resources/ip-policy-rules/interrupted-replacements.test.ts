import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import type { Answer } from '../../../test/support/gatehouse.ts';
import { checkStored } from '../../../test/support/stored-rules.ts';
import { acceptRules } from './rule-list.ts';
import { planReplacement } from './rule-plan.ts';
import { abandon, takeLease } from './rule-sides.ts';
import type { Lease } from './rule-sides.ts';
import { ruleSweeper } from './service.ts';
import { prepareOnHiddenSide } from './write-rules.ts';

const limitMs = 60_000;
/** Time in which a call reads the rules; should it not be enough, the test finds less, and never anything wrong. */
const readingMs = 700;
const own = '127.0.0.0/8';
const deny = '!10.9.9.9/32';

/** Networks that begin with `first`. */
function networks(first: number, length: number, from = 0): string[] {
  return Array.from({ length }, (_, at) => `${first}.${(from + at) >> 8}.${(from + at) & 255}.0/24`);
}

onEachDatabase('a replacement that waits for one that comes to nothing', (newDatabase) => {
  describe('with one Gatehouse', () => {
    let gatehouse: Gatehouse;
    let accountId: string;
    before(async () => {
      gatehouse = await Gatehouse.start(await newDatabase());
      accountId = String((await store().queries.all('SELECT id FROM accounts'))[0]?.[0]);
    });
    after(() => gatehouse[Symbol.asyncDispose]());

    const store = () => gatehouse.app.context.store;
    const replace = (policy: string, list: readonly string[]) => gatehouse.put(`/ip_policies/${policy}/rules`, list);
    const newPolicy = async (...lists: readonly (readonly string[])[]): Promise<string> => {
      const { id } = await gatehouse.create('/ip_policies');
      for (const list of lists) assert.equal((await replace(id, list)).status, 200);
      return id;
    };
    const hasLease = async (policy: string): Promise<boolean> => {
      const sql = 'SELECT lease FROM ip_policy_rule_sides WHERE ip_policy_id = $1 AND lease IS NOT NULL';
      return (await store().queries.all(sql, [policy])).length > 0;
    };
    const lease = async (policy: string): Promise<Lease> => {
      let taken: Lease | undefined;
      await until(
        async () => (taken = await takeLease(store(), accountId, policy)) !== undefined,
        'the lease is free',
        limitMs,
      );
      assert.ok(taken);
      return taken;
    };
    /** Prepares the other list, while the calls are under way, and leaves it at that. */
    const whileAbandoned = async (
      policy: string,
      other: readonly string[],
      send: () => Promise<Answer>,
    ): Promise<Answer> => {
      gatehouse.app.context.services.get(ruleSweeper).look();
      await until(async () => !(await hasLease(policy)), 'all is swept', limitMs);
      const held = await lease(policy);
      const sent = send();
      await sleep(readingMs);
      const plan = await planReplacement(store().queries, policy, await acceptRules(other));
      await prepareOnHiddenSide(store(), { accountId, policyId: policy }, plan, held);
      await abandon(store(), held);
      return sent;
    };

    test('loses no rule that the other one would have removed', async () => {
      const stays = [own, deny, ...networks(10, 3_000)];
      const policy = await newPolicy(stays, [...stays, ...networks(11, 2_000)]);
      const list = [...stays, ...networks(12, 2_000)];
      const { status, body } = await whileAbandoned(policy, networks(13, 3_000), () => replace(policy, list));
      assert.deepEqual([status, body], [200, { added: 2_000, removed: 2_000, kept: 3_002 }]);
      await checkStored(store(), policy, list);
    });

    test('leaves no rule in force that the other one would have kept', async () => {
      const policy = await newPolicy([own, ...networks(10, 4_000)]);
      const list = [own, deny, ...networks(10, 2_000, 2_000), ...networks(12, 1_500)];
      const other = [...networks(10, 3_000), ...networks(13, 3_000)];
      const { status, body } = await whileAbandoned(policy, other, () => replace(policy, list));
      assert.deepEqual([status, body], [200, { added: 1_501, removed: 2_000, kept: 2_001 }]);
      await checkStored(store(), policy, list);
    });

    test('is right as well where it is a small change or a list to which few rules are left', async () => {
      const stays = [own, deny, ...networks(10, 3_000)];
      const policy = await newPolicy(stays, [...stays, ...networks(11, 2_000)]);
      const small = [...stays.slice(0, -5), ...networks(11, 2_000), '192.0.2.0/24'];
      const other = [...networks(10, 1_000), ...networks(13, 3_000)];
      const answer = await whileAbandoned(policy, other, () => replace(policy, small));
      assert.deepEqual(answer.body, { added: 1, removed: 5, kept: 4_997 });
      await checkStored(store(), policy, small);
      const short = [deny, ...networks(10, 500, 500)];
      assert.equal((await whileAbandoned(policy, other, () => replace(policy, short))).status, 200);
      await checkStored(store(), policy, short);
    });

    test('finds single rules that are written and deleted among those that were prepared', async () => {
      const policy = await newPolicy([own, ...networks(10, 3_000)]);
      const created = await whileAbandoned(policy, networks(13, 3_000), async () => {
        await sleep(2 * readingMs);
        return gatehouse.post('/ip_policy_rules', { ip_policy_id: policy, cidr: '13.0.1.0/24', action: 'deny' });
      });
      assert.equal(created.status, 201);
      await checkStored(store(), policy, [own, '!13.0.1.0/24', ...networks(10, 3_000)]);
      const list = ['!13.0.1.0/24', ...networks(10, 1_000, 1_000)];
      assert.deepEqual((await replace(policy, list)).body, { added: 0, removed: 2_001, kept: 1_001 });
      await checkStored(store(), policy, list);
    });

    test('is a 404 when the policy is deleted meanwhile, and leaves nothing of it', async () => {
      const policy = await newPolicy(networks(10, 3_000));
      const held = await lease(policy);
      const replaced = replace(policy, networks(11, 3_000));
      await sleep(readingMs);
      assert.equal((await gatehouse.delete(`/ip_policies/${policy}`)).status, 204);
      await assert.rejects(abandon(store(), held), { name: 'LeaseLostError' });
      assert.equal((await replaced).status, 404);
      const sql = 'SELECT id FROM ip_policy_rule_rows WHERE ip_policy_id = $1 LIMIT 1';
      await until(async () => (await store().queries.all(sql, [policy])).length === 0, 'all is swept', limitMs);
    });

    test('stores its list after one that the lock-out guard refused', async () => {
      const stays = [own, deny, ...networks(10, 6_000)];
      const policy = await newPolicy(stays, [...stays, ...networks(11, 2_000)]);
      const restriction = { type: 'api', enforced: true, ip_policy_ids: [policy] };
      const { id } = await gatehouse.create('/ip_restrictions', restriction);
      for (const first of [12, 13, 14]) {
        await until(async () => !(await hasLease(policy)), 'all is swept', limitMs);
        const refused = replace(policy, networks(20 + first, 5_000));
        await until(() => hasLease(policy), 'the other one prepares', limitMs);
        const list = [...stays, ...networks(first, 2_000)];
        const { status, body } = await replace(policy, list);
        assert.deepEqual([status, body], [200, { added: 2_000, removed: 2_000, kept: 6_002 }]);
        assert.equal((await refused).status, 409);
        await checkStored(store(), policy, list);
      }
      await gatehouse.delete(`/ip_restrictions/${id}`);
    });
  });
});
