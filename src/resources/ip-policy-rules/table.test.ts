import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { migrations } from '../../start/open-context.ts';
import { openStore } from '../../store/store.ts';
import { ipPolicyRules } from './table.ts';

const latest = 'ip-policy-rules 0002 sets';

onEachDatabase('rules of a database of sides', (_newDatabase, newEmpty) => {
  test('are those that were in force, with their ids, and none of the others', async () => {
    const url = await newEmpty();
    const open = (wanted: typeof migrations) => openStore({ url, migrations: wanted, onFeedFault: () => {} });
    {
      const at = migrations.findIndex(({ name }) => name === latest);
      await using old = await open(migrations.slice(0, at));
      await old.writeUnlogged(async (writer) => {
        await writer.run("INSERT INTO accounts (id, account_id, document, name) VALUES ('ac_1', 'ac_1', '{}', 'one')");
        for (const policy of ['ipp_a', 'ipp_b', 'ipp_c'])
          await writer.run("INSERT INTO ip_policies (id, account_id, document) VALUES ($1, 'ac_1', '{}')", [policy]);
        for (const [id, policy, side] of [
          ['ipr_1', 'ipp_a', 0],
          ['ipr_2', 'ipp_a', 1],
          ['ipr_3', 'ipp_a', 2],
          ['ipr_4', 'ipp_b', 0],
          ['ipr_5', 'ipp_gone', 0],
        ] as const)
          await writer.run(
            `INSERT INTO ip_policy_rule_rows (id, account_id, document, ip_policy_id, cidr, action, side)
             VALUES ($1, 'ac_1', $2, $3, $4, 'allow', $5)`,
            [
              id,
              JSON.stringify({ id, account_id: 'ac_1', ip_policy_id: policy }),
              policy,
              `10.0.0.${id.at(-1)}/32`,
              side,
            ],
          );
        const hide = 'INSERT INTO ip_policy_rule_sides (ip_policy_id, hidden_side) VALUES ($1, $2)';
        await writer.run(hide, ['ipp_a', 1]);
        await writer.run(hide, ['ipp_gone', 3]);
      });
    }
    await using store = await open(migrations);
    const rows = await store.queries.all('SELECT id, ip_policy_id, cidr FROM ip_policy_rules ORDER BY id');
    assert.deepEqual(rows, [
      ['ipr_1', 'ipp_a', '10.0.0.1/32'],
      ['ipr_3', 'ipp_a', '10.0.0.3/32'],
      ['ipr_4', 'ipp_b', '10.0.0.4/32'],
    ]);
    assert.deepEqual(await store.queries.all('SELECT count(*) FROM ip_policy_rule_rows'), [[3]]);
    assert.equal((await ipPolicyRules.load(store.queries, 'ipr_3'))?.ip_policy_id, 'ipp_a');
  });
});
