import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { checkStored } from '../../../test/support/stored-rules.ts';
import { planReplacement } from './replace/rule-plan.ts';
import { prepareSet } from './replace/rule-sets.ts';
import { acceptRules } from './rule-list.ts';
import { ruleSets } from './service.ts';

const limitMs = 300_000;
const past = '2020-01-01T00:00:00Z';

/** Networks that begin with `first`. */
function networks(first: number, length: number, from = 0): string[] {
  return Array.from({ length }, (_, at) => `${first}.${(from + at) >> 8}.${(from + at) & 255}.0/24`);
}

onEachDatabase('a set of rules that is not in force', (newDatabase) => {
  describe('with one Gatehouse', () => {
    let gatehouse: Gatehouse;
    let accountId: string;
    before(async () => {
      gatehouse = await Gatehouse.start(await newDatabase());
      Object.assign(sets(), { rowsAtOnce: 16, rowsInStep: 2 });
      accountId = String((await store().queries.all('SELECT id FROM accounts'))[0]?.[0]);
    });
    after(() => gatehouse[Symbol.asyncDispose]());

    const store = () => gatehouse.app.context.store;
    const sets = () => gatehouse.app.context.services.get(ruleSets);
    const replace = (policy: string, list: readonly string[]) => gatehouse.put(`/ip_policies/${policy}/rules`, list);
    const newPolicy = async (list: readonly string[]): Promise<string> => {
      const { id } = await gatehouse.create('/ip_policies');
      assert.equal((await replace(id, list)).status, 200);
      return id;
    };
    /** Prepares the list for the policy, and leaves it at that. */
    const prepare = async (policyId: string, list: readonly string[]): Promise<number | undefined> => {
      const plan = await planReplacement(store().queries, policyId, await acceptRules(list));
      return prepareSet(store(), { accountId, policyId }, plan, { ...sets(), rowsInStep: 2 });
    };
    const rowsIn = async (set: number | undefined): Promise<number> => {
      const sql = 'SELECT cidr FROM ip_policy_rule_rows WHERE set_id = $1';
      return (await store().queries.all(sql, [set ?? 0])).length;
    };
    const letTimePass = () =>
      store().writeUnlogged(async (writer) => {
        await writer.run("UPDATE ip_policy_rule_sets SET delete_after = $1 WHERE delete_after <> ''", [past]);
      });
    const preparedSets = async () =>
      store().queries.all("SELECT set_id FROM ip_policy_rule_sets WHERE delete_after <> ''");
    const areDeleted = () =>
      until(
        async () => (await store().queries.all('SELECT set_id FROM ip_policy_rule_sets')).length === 0,
        'sets are deleted',
        limitMs,
      );

    test('is deleted when its time has passed, and not before', async () => {
      const list = networks(10, 30);
      const policy = await newPolicy(list);
      await areDeleted();
      const set = await prepare(policy, [...networks(10, 10), ...networks(11, 30)]);
      assert.equal(await rowsIn(set), 40);
      // A policy that is deleted makes the deletion run; its set is gone last.
      const other = await newPolicy(networks(12, 30));
      assert.equal((await gatehouse.delete(`/ip_policies/${other}`)).status, 204);
      await until(
        async () => (await store().queries.all('SELECT set_id FROM ip_policy_rule_sets')).length === 1,
        'the set of the other policy is deleted',
        limitMs,
      );
      assert.equal(await rowsIn(set), 40);
      await checkStored(store(), policy, list);
      await letTimePass();
      sets().look();
      await areDeleted();
      assert.equal(await rowsIn(set), 0);
      await checkStored(store(), policy, list);
    });

    test('is given up by who prepares it, once its deletion has begun', async () => {
      const policy = await newPolicy(networks(10, 30));
      await areDeleted();
      const prepared = prepare(policy, networks(11, 200));
      await until(async () => (await preparedSets()).length > 0, 'rules are prepared', limitMs);
      for (const [set] of await preparedSets()) await sets().discard(Number(set));
      assert.equal(await prepared, undefined);
      await areDeleted();
      await checkStored(store(), policy, networks(10, 30));
    });

    test('shows nothing of itself in lists, where every rule in force is shown once', async () => {
      const list = networks(10, 30);
      const policy = await newPolicy(list);
      const copies = [
        await prepare(policy, [...list, ...networks(11, 30)]),
        await prepare(policy, [...list, '12.0.0.0/8']),
      ];
      await replace(policy, [...list, ...networks(13, 30)]);
      copies.push(await prepare(policy, [...list, ...networks(14, 30)]));
      const listed = async (query: string): Promise<string[]> => {
        const found: string[] = [];
        for (let uri: string | null = `/ip_policy_rules?${query}`; uri !== null;) {
          const { body } = await gatehouse.get(uri);
          for (const rule of body.ip_policy_rules) if (rule.ip_policy.id === policy) found.push(rule.cidr);
          uri = body.next_page_uri;
        }
        return found.toSorted();
      };
      const expected = [...list, ...networks(13, 30)].toSorted();
      for (const query of ['limit=1', 'limit=7', 'limit=100']) assert.deepEqual(await listed(query), expected, query);
      for (const query of ['limit=1', 'limit=9'])
        assert.deepEqual(await listed(`filter=obj.action%20%3D%3D%20%22allow%22&${query}`), expected, query);
      for (const set of copies) if (set !== undefined) await sets().discard(set);
      await areDeleted();
      assert.deepEqual(await listed('limit=100'), expected);
    });

    test('keeps nobody from writing single rules, and the list is then made anew', async () => {
      const policy = await newPolicy(networks(10, 30));
      const set = await prepare(policy, [...networks(10, 30), ...networks(13, 30)]);
      const cidr = '13.0.1.0/24';
      await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'deny' });
      const { rules } = (await gatehouse.get(`/ip_policies/${policy}/rules`)).body;
      const [first] = rules;
      assert.equal((await gatehouse.patch(`/ip_policy_rules/${first.id}`, { cidr: '13.0.2.0/24' })).status, 200);
      await checkStored(store(), policy, [...networks(10, 29, 1), '13.0.2.0/24', `!${cidr}`]);
      const { body } = await replace(policy, [`!${cidr}`, ...networks(10, 10, 10)]);
      assert.deepEqual(body, { added: 0, removed: 20, kept: 11 });
      await sets().discard(set ?? 0);
      await areDeleted();
      await checkStored(store(), policy, [`!${cidr}`, ...networks(10, 10, 10)]);
    });

    test('is put in force by as many statements, however many rules it has', async () => {
      Object.assign(sets(), { rowsInStep: 256 });
      const write = store().write.bind(store());
      let statements = 0;
      store().write = (actor, work) =>
        write(actor, (transaction) => {
          statements = 0;
          return work({
            ...transaction,
            all(...given) {
              statements += 1;
              return transaction.all(...given);
            },
            run(...given) {
              statements += 1;
              return transaction.run(...given);
            },
          });
        });
      const policy = await newPolicy(networks(10, 600));
      const few = statements;
      assert.equal((await replace(policy, networks(11, 3_000))).status, 200);
      assert.deepEqual([statements, few < 30], [few, true]);
      store().write = write;
      await areDeleted();
      Object.assign(sets(), { rowsInStep: 2 });
    });

    test('is deleted with its policy, and the replacement is a 404', async () => {
      const policy = await newPolicy(networks(10, 30));
      const replaced = replace(policy, networks(11, 200));
      await until(async () => (await preparedSets()).length > 0, 'rules are prepared', limitMs);
      assert.equal((await gatehouse.delete(`/ip_policies/${policy}`)).status, 204);
      assert.equal((await replaced).status, 404);
      await areDeleted();
      const left = 'SELECT cidr FROM ip_policy_rule_rows WHERE document LIKE $1';
      assert.deepEqual(await store().queries.all(left, [`%"${policy}"%`]), []);
    });
  });
});
