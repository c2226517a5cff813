import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { anyCidr, edgesOf, naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { CidrSet, packCidrs } from '../../lib/ip/cidr-set.ts';
import type { CidrSetData, FlaggedCidr } from '../../lib/ip/cidr-set.ts';
import { formatCidr, parseCidr } from '../../lib/ip/cidr.ts';
import type { Compiler, ChangeBatch } from '../../publisher/compiler.ts';
import { Publisher } from '../../publisher/publisher.ts';
import { ruleFlag } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { createPolicyCompiler } from './compile.ts';

/** Enough that the rules are kept in memory. */
const base = Array.from({ length: 1_100 }, (_, at) => `100.${at >> 8}.${at & 255}.0/25`);

const cidrText = anyCidr.map(formatCidr).filter((text) => parseCidr(text).ok);
const steps = fc
  .array(fc.tuple(cidrText, fc.constantFrom('allow', 'deny')), { minLength: 3, maxLength: 6 })
  .chain((pool) =>
    fc.array(
      fc.record({
        what: fc.constantFrom('put', 'put', 'put', 'move', 'replace', 'describe'),
        rule: fc.constantFrom(...pool),
        other: fc.constantFrom(...pool),
        bySecond: fc.boolean(),
      }),
      { minLength: 5, maxLength: 20 },
    ),
  );

function together(all: readonly ChangeBatch[]): ChangeBatch {
  return { changes: all.flatMap(({ changes }) => changes), version: all.at(-1)?.version ?? 0 };
}

onEachDatabase('the rules of a policy in the snapshot', (newDatabase) => {
  describe('with two processes', () => {
    let first: Gatehouse;
    let second: Gatehouse;
    const news: ChangeBatch[] = [];
    before(async () => {
      const url = await newDatabase();
      first = await Gatehouse.start(url);
      second = await Gatehouse.start(url);
      first.app.context.store.follow({
        changed: (changes, { version }) => {
          news.push({ changes, version });
        },
        reset() {},
      });
    });
    after(async () => {
      await second[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
    });

    const rulesOf = async (policy: string): Promise<readonly (FlaggedCidr & { id: string; text: string })[]> => {
      const sql = 'SELECT id, cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1';
      const rows = await first.app.context.store.queries.all(sql, [policy]);
      return rows.map(([id, cidr, action]) => {
        const parsed = parseCidr(String(cidr));
        assert.ok(parsed.ok);
        const flags = action === 'deny' ? ruleFlag.deny : ruleFlag.allow;
        return { id: String(id), text: String(cidr), cidr: parsed.cidr, flags };
      });
    };
    const newPolicy = async (): Promise<string> => {
      const { id } = await first.create('/ip_policies');
      assert.equal((await first.put(`/ip_policies/${id}/rules`, base)).status, 200);
      return id;
    };
    const addRule = async (policy: string, cidr: string, action = 'allow'): Promise<string> =>
      (await first.create('/ip_policy_rules', { ip_policy_id: policy, cidr, action })).id;
    const load = async (
      compiler: Compiler,
      policy: string,
      of?: ChangeBatch,
      queries: Queries = first.app.context.store.queries,
    ) => {
      const [entry] = await compiler.load(queries, [policy], of);
      assert.ok(entry?.kind === 'policy');
      return entry.rules;
    };
    const isPackedOf = async (packed: CidrSetData | undefined, policy: string): Promise<void> => {
      assert.deepEqual(packed, packCidrs(await rulesOf(policy)));
    };

    test('are those in the database after every change, whoever makes it', async () => {
      const inForce = new Map<string, CidrSetData>();
      await Publisher.start({
        store: first.app.context.store,
        compilers: [createPolicyCompiler(first.app.context.store)],
        targets: [
          async ({ set }) => {
            for (const entry of set) if (entry.kind === 'policy') inForce.set(entry.id, entry.rules);
          },
        ],
        onFault: (error) => assert.fail(String(error)),
      });
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const policy = await newPolicy();
          for (const { what, rule, other, bySecond } of all) {
            const gatehouse = bySecond ? second : first;
            const [cidr, action] = rule;
            const sql = 'SELECT id FROM ip_policy_rules WHERE ip_policy_id = $1 AND cidr = $2';
            const [found] = await first.app.context.store.queries.all(sql, [policy, cidr]);
            // A short list is not kept.
            const list = [...(other[1] === 'allow' ? base : []), { cidr, action }];
            if (what === 'replace') await gatehouse.put(`/ip_policies/${policy}/rules`, list);
            else if (what === 'describe') await gatehouse.patch(`/ip_policies/${policy}`, { description: cidr });
            else if (found === undefined)
              await gatehouse.post('/ip_policy_rules', { ip_policy_id: policy, cidr, action });
            else if (what === 'put') await gatehouse.delete(`/ip_policy_rules/${found[0]}`);
            else await gatehouse.patch(`/ip_policy_rules/${found[0]}`, { cidr: other[0] });
            await first.app.context.store.poll();
            await isPackedOf(inForce.get(policy), policy);
          }
          const rules = await rulesOf(policy);
          const set = new CidrSet(inForce.get(policy) ?? {});
          const expected = naiveLookup(rules);
          const edges = rules.filter(({ text }) => !base.includes(text)).flatMap(edgesOf);
          for (const ip of edges) assert.equal(set.lookup(ip), expected(ip));
        }),
        { numRuns: 6 },
      );
    });

    test('are not read again for one of them, nor for a text of the policy', async () => {
      const compiler = createPolicyCompiler(first.app.context.store);
      const policy = await newPolicy();
      await load(compiler, policy);
      const { queries } = first.app.context.store;
      const asked: string[] = [];
      const watched: Queries = {
        all(sql, parameters) {
          asked.push(sql);
          return queries.all(sql, parameters);
        },
      };
      const id = await addRule(policy, '192.0.2.0/24');
      for (const change of [
        () => first.patch(`/ip_policy_rules/${id}`, { cidr: '192.0.2.0/25' }),
        () => first.delete(`/ip_policy_rules/${id}`),
        () => first.patch(`/ip_policies/${policy}`, { description: 'offices' }),
      ]) {
        await isPackedOf(await load(compiler, policy, news.at(-1), watched), policy);
        await change();
      }
      await isPackedOf(await load(compiler, policy, news.at(-1), watched), policy);
      assert.deepEqual(asked, []);
    });

    test('are not read where the change that replaced them all brings them along', async () => {
      const compiler = createPolicyCompiler(first.app.context.store);
      const { id } = await first.create('/ip_policies');
      let replaced: ChangeBatch | undefined;
      // A poll may read the change from the log before its own process tells of it; then it has no payload.
      for (let attempt = 0; attempt < 20 && replaced?.changes[0]?.payload === undefined; attempt++) {
        await first.put(`/ip_policies/${id}/rules`, attempt % 2 === 0 ? base : base.slice(2));
        replaced = news.at(-1);
      }
      assert.ok(replaced);
      const none: Queries = { all: (sql) => assert.fail(sql) };
      await isPackedOf(await load(compiler, id, replaced, none), id);
      // The same change as the log has it, without its payload: the rules are read, as they are by now.
      await first.put(`/ip_policies/${id}/rules`, base.slice(1));
      const fromLog = replaced.changes.map((change) => ({ ...change, payload: undefined }));
      await isPackedOf(await load(compiler, id, { changes: fromLog, version: replaced.version + 1 }), id);
    });

    test('do not go back to what older news say', async () => {
      const policy = await newPolicy();
      const follower = createPolicyCompiler(first.app.context.store);
      await load(follower, policy);
      const id = await addRule(policy, '0.0.0.0/0');
      const added = news.at(-1);
      await first.delete(`/ip_policy_rules/${id}`);
      const removed = news.at(-1);
      const reader = createPolicyCompiler(first.app.context.store);
      await load(reader, policy);
      await isPackedOf(await load(reader, policy, added), policy);
      for (const each of [added, removed]) await load(follower, policy, each);
      await isPackedOf(await load(follower, policy, added), policy);
    });

    test('are right when news come again along with later ones', async () => {
      const compiler = createPolicyCompiler(first.app.context.store);
      const policy = await newPolicy();
      await load(compiler, policy);
      const id = await addRule(policy, '192.0.2.0/24', 'deny');
      const [added] = news.slice(-1);
      await load(compiler, policy, added);
      await first.delete(`/ip_policy_rules/${id}`);
      await addRule(policy, '192.0.2.0/24');
      await isPackedOf(await load(compiler, policy, together(news.slice(-3))), policy);
      for (const list of [base.slice(2), base.slice(1)]) await first.put(`/ip_policies/${policy}/rules`, list);
      await addRule(policy, base[0] ?? '', 'deny');
      await isPackedOf(await load(compiler, policy, together(news.slice(-4))), policy);
    });

    test('are read again where something was written while they were read', async () => {
      const compiler = createPolicyCompiler(first.app.context.store);
      const policy = await newPolicy();
      const { queries } = first.app.context.store;
      let added: ChangeBatch | undefined;
      const interrupted: Queries = {
        async all(sql, parameters) {
          if (sql.startsWith('SELECT cidr') && added === undefined) {
            const id = await addRule(policy, '0.0.0.0/0');
            added = news.at(-1);
            await first.delete(`/ip_policy_rules/${id}`);
          }
          return queries.all(sql, parameters);
        },
      };
      await isPackedOf(await load(compiler, policy, undefined, interrupted), policy);
      await isPackedOf(await load(compiler, policy, added), policy);
    });

    test('are gone with the policy', async () => {
      const compiler = createPolicyCompiler(first.app.context.store);
      const policy = await newPolicy();
      await load(compiler, policy);
      assert.equal((await first.delete(`/ip_policies/${policy}`)).status, 204);
      assert.deepEqual(await compiler.load(first.app.context.store.queries, [policy], news.at(-1)), []);
    });
  });
});
