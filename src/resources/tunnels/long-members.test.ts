import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { membersOf } from './rows.ts';
import { tunnels } from './table.ts';

onGatehousesInTurn('agents that share an endpoint', (g) => {
  test('are read a few at a time where their policies are long', async () => {
    const account = await createAccount(g());
    const { store } = g().app.context;
    const policy = 'x'.repeat(200_000);
    const ids = Array.from({ length: 12 }, () => tunnels.newDocument(account).id).toSorted();
    const claim = `ep_${ids[0]}`;
    await store.writeUnlogged(async (writer) => {
      const insert = async (table: string, values: Readonly<Record<string, string>>) => {
        const columns = Object.keys(values);
        const places = columns.map((_, at) => `$${at + 1}`).join(', ');
        await writer.run(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`, Object.values(values));
      };
      const own = { account_id: account, document: '{}' };
      await insert('tunnel_sessions', { ...own, id: claim, process_id: 'p', client_id: 'c', credential_id: 'cr' });
      await insert('tunnel_claims', { ...own, id: claim, claim_key: claim });
      for (const id of ids) {
        const document = JSON.stringify({ id, account_id: account, traffic_policy: policy });
        await insert('tunnels', { id, account_id: account, document, session_id: claim, claim_id: claim });
      }
    }, account);
    let most = 0;
    const all: typeof store.queries.all = async (...given) => {
      const rows = await store.queries.all(...given);
      most = Math.max(most, rows.flat().join('').length);
      return rows;
    };
    const found = await membersOf({ all }, claim);
    await store.writeUnlogged(async (writer) => {
      for (const table of ['tunnels', 'tunnel_claims', 'tunnel_sessions'])
        await writer.run(`DELETE FROM ${table} WHERE account_id = $1`, [account]);
    }, account);
    assert.deepEqual(
      found.map(({ id }) => id),
      ids,
    );
    assert.ok(most > policy.length && most < 3 * policy.length, `${most} characters in one statement`);
  });
});
