import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { ruleSets } from './service.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';

/** Far more than one transaction writes. */
const count = 120;
const sizes = { rowsAtOnce: 16, rowsInStep: 2 };

/** A list whose networks begin with `first`. */
function listOf(first: number, length = count): string[] {
  return Array.from({ length }, (_, at) => `${first}.${at >> 8}.${at & 255}.0/24`);
}

onDatabasesInTurn('replacing more rules than one transaction writes', (newDatabase) => {
  describe('with one Gatehouse', () => {
    let gatehouse: Gatehouse;
    /** A token of another account. */
    let other: string;
    before(async () => {
      gatehouse = await Gatehouse.start(await newDatabase());
      Object.assign(gatehouse.app.context.services.get(ruleSets), sizes);
      other = (await createUser(gatehouse, 'admin', await createAccount(gatehouse))).token;
    });
    after(() => gatehouse[Symbol.asyncDispose]());

    const newPolicy = async (): Promise<string> => (await gatehouse.create('/ip_policies')).id;
    const replace = (policy: string, list: readonly unknown[], headers = {}) =>
      gatehouse.put(`/ip_policies/${policy}/rules`, list, { headers });
    const rowsOf = async (policy: string, table = 'ip_policy_rules'): Promise<ReadonlyMap<string, string>> => {
      const rows = await gatehouse.app.context.store.queries.all(
        `SELECT cidr, id FROM ${table} WHERE ip_policy_id = $1 ORDER BY cidr`,
        [policy],
      );
      return new Map(rows.map(([cidr, id]) => [String(cidr), String(id)]));
    };
    const storedCount = async (policy: string): Promise<number> => {
      const sql = 'SELECT count(*) FROM ip_policy_rule_rows WHERE document LIKE $1';
      return Number((await gatehouse.app.context.store.queries.all(sql, [`%"${policy}"%`]))[0]?.[0]);
    };
    const isDeleted = (policy: string, left: number) =>
      until(async () => (await storedCount(policy)) === left, 'the rules that are gone are deleted');

    test('another account that writes after it has begun is answered before it', async () => {
      const policy = await newPolicy();
      const state = { isDone: false };
      const replaced = replace(policy, listOf(10, 600)).finally(() => (state.isDone = true));
      // Rows that are committed but not in force: nobody could see those of one long transaction.
      await until(async () => state.isDone || (await storedCount(policy)) > 0, 'the first rules are prepared');
      assert.equal((await rowsOf(policy)).size, 0);
      for (let at = 0; at < 3; at++) {
        await gatehouse.create('/ip_policies', {}, { token: other });
        assert.ok(!state.isDone, 'the replacement was answered first');
      }
      assert.deepEqual((await replaced).body, { added: 600, removed: 0, kept: 0 });
    });

    test('nobody sees anything of the new list before all of it', async () => {
      const policy = await newPolicy();
      await replace(policy, listOf(10));
      const old = await rowsOf(policy);
      const state = { isDone: false };
      const replaced = replace(policy, listOf(11)).finally(() => (state.isDone = true));
      const seen = new Set<string>();
      while (!state.isDone) {
        const [newest] = (await gatehouse.get('/ip_policy_rules?limit=1')).body.ip_policy_rules;
        const shown = await rowsOf(policy);
        assert.equal(shown.size, count);
        const firsts = new Set([...shown.keys()].map((cidr) => cidr.split('.', 1)[0]));
        assert.equal(firsts.size, 1);
        for (const first of firsts) seen.add(`${first}`);
        // The page may be of just before, and the rows of just after.
        assert.ok(['10', '11'].includes(newest.cidr.split('.', 1)[0]));
      }
      assert.equal((await replaced).status, 200);
      assert.ok(seen.has('10'), 'it was looked at in time');
      const shown = await rowsOf(policy);
      assert.deepEqual([...shown.keys()], listOf(11).toSorted());
      const [[, gone = ''] = []] = old;
      assert.equal((await gatehouse.get(`/ip_policy_rules/${gone}`)).status, 404);
      await isDeleted(policy, count);
      assert.deepEqual(await rowsOf(policy), shown);
    });

    test('rules that stay keep their ids, again and again', async () => {
      const policy = await newPolicy();
      await replace(policy, [...listOf(10, 30), ...listOf(11, 30)]);
      let rowsBefore = await rowsOf(policy);
      for (const [kept, added] of [
        [11, 12],
        [12, 13],
        [12, 10],
        [10, 11],
      ] as const) {
        const { body } = await replace(policy, [...listOf(kept, 30), ...listOf(added, 30)]);
        assert.deepEqual(body, { added: 30, removed: 30, kept: 30 });
        const now = await rowsOf(policy);
        assert.equal(now.size, 60);
        for (const cidr of listOf(kept, 30)) assert.equal(now.get(cidr), rowsBefore.get(cidr));
        rowsBefore = now;
      }
      await isDeleted(policy, 60);
    });

    test('a list with other actions for the same networks takes the place of the old one', async () => {
      const policy = await newPolicy();
      await replace(policy, listOf(10, 30));
      const { body } = await replace(
        policy,
        listOf(10, 30).map((cidr) => `!${cidr}`),
      );
      assert.deepEqual(body, { added: 30, removed: 30, kept: 0 });
      const verdict = await gatehouse.app.context.store.queries.all(
        'SELECT action, count(*) FROM ip_policy_rules WHERE ip_policy_id = $1 GROUP BY action',
        [policy],
      );
      assert.deepEqual(verdict, [['deny', 30]]);
    });

    test('single rules can be written right after, also for networks that are just gone', async () => {
      const policy = await newPolicy();
      await replace(policy, listOf(10, 30));
      await replace(policy, listOf(11, 30));
      const rule = { ip_policy_id: policy, cidr: '10.0.0.0/24', action: 'deny' };
      await gatehouse.create('/ip_policy_rules', rule);
      await refuses(gatehouse, ['POST', '/ip_policy_rules', rule], 409, 1408);
      await refuses(gatehouse, ['POST', '/ip_policy_rules', { ...rule, cidr: '11.0.0.0/24' }], 409, 1408);
      await isDeleted(policy, 31);
      assert.equal((await rowsOf(policy)).size, 31);
    });

    test('a rule that is written meanwhile belongs to the list before: the new list is what it says', async () => {
      const policy = await newPolicy();
      await replace(policy, listOf(10));
      const state = { isDone: false };
      const replaced = replace(policy, listOf(11)).finally(() => (state.isDone = true));
      let at = 0;
      while (!state.isDone) {
        const cidr = `172.16.${at >> 8}.${at & 255}/32`;
        const { id } = await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'allow' });
        if (at % 2 === 0) await gatehouse.delete(`/ip_policy_rules/${id}`);
        at += 1;
      }
      const { status, body } = await replaced;
      assert.deepEqual([status, body.added, body.kept], [200, count, 0]);
      const rules = await rowsOf(policy);
      for (const cidr of listOf(11)) assert.ok(rules.has(cidr));
      assert.ok(![...rules.keys()].some((cidr) => cidr.startsWith('10.')));
      assert.ok(rules.size <= count + 1, 'only one written after it is beside it');
    });

    test('several replacements at the same time leave one of the lists', async () => {
      const policy = await newPolicy();
      const answers = await Promise.all([10, 11, 12].map((first) => replace(policy, listOf(first, 30))));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
      const firsts = [...(await rowsOf(policy)).keys()].map((cidr) => cidr.split('.', 1)[0]);
      assert.deepEqual([firsts.length, new Set(firsts).size], [30, 1]);
      await isDeleted(policy, 30);
    });

    test('one that is refused leaves nothing behind', async () => {
      const policy = await newPolicy();
      await replace(policy, [...listOf(10, 30), '127.0.0.0/8']);
      const restriction = { type: 'api', enforced: true, ip_policy_ids: [policy] };
      const { id } = await gatehouse.create('/ip_restrictions', restriction);
      const shown = await rowsOf(policy);
      assert.equal((await replace(policy, listOf(11))).status, 409, 'it would lock the caller out');
      assert.equal((await replace(policy, listOf(11), { 'if-match': '"another"' })).status, 412);
      assert.deepEqual(await rowsOf(policy), shown);
      await isDeleted(policy, 31);
      assert.deepEqual(await rowsOf(policy), shown);
      await gatehouse.delete(`/ip_restrictions/${id}`);
    });

    test('the policy can be deleted with them, and every one of them is gone at once', async () => {
      const policy = await newPolicy();
      await replace(policy, listOf(10));
      const [[, rule = ''] = []] = await rowsOf(policy);
      assert.equal((await gatehouse.get(`/ip_policy_rules/${rule}`)).status, 200);
      assert.equal((await gatehouse.delete(`/ip_policies/${policy}`)).status, 204);
      assert.equal((await gatehouse.get(`/ip_policy_rules/${rule}`)).status, 404);
      assert.equal((await rowsOf(policy)).size, 0);
      const { body } = await gatehouse.get('/ip_policy_rules?limit=100');
      assert.ok(!body.ip_policy_rules.some((each: { ip_policy: { id: string } }) => each.ip_policy.id === policy));
      await isDeleted(policy, 0);
      const sql = 'SELECT set_id FROM ip_policy_rule_sets';
      await until(
        async () => (await gatehouse.app.context.store.queries.all(sql)).length === 0,
        'no set is left to be deleted',
        60_000,
      );
    });
  });
});
