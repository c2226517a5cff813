import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { firstIdOfSecond, toTimestamp } from '../../lib/ids.ts';

onDatabasesInTurn('commands to agents', (newDatabase) => {
  test('a command that a killed process has left behind goes, one that is waited for stays', async () => {
    const url = await newDatabase();
    await using gatehouse = await Gatehouse.start(url);
    const { store } = gatehouse.app.context;
    const idOf = (ageMs: number) => firstIdOfSecond('cmd', toTimestamp(Date.now() - ageMs));
    // However slow the machine is, this one does not grow old.
    const waitedFor = idOf(-3_600_000);
    for (const id of [idOf(25_000), waitedFor]) {
      const sql = 'INSERT INTO agent_commands (id, session_id, command) VALUES ($1, $2, $3)';
      await store.writeUnlogged(async (writer) => writer.run(sql, [id, 'ts_1', 'probe']));
    }
    // A process that ends is removed in the same way by itself and, if it was killed, by the others.
    await (await Gatehouse.start(url))[Symbol.asyncDispose]();
    assert.deepEqual(await store.queries.all('SELECT id FROM agent_commands'), [[waitedFor]]);
  });
});
