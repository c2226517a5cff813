import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { migrations } from '../../../src/start/open-context.ts';
import { storeMigrations } from '../../../src/store/store-migrations.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { openDatabase } from '../../../src/store/open-database.ts';
import { onEachDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { Running } from './support/running.ts';
import { checkSoundness, column } from './support/soundness.ts';
import { until } from './support/waiting.ts';

const starts = rounds(1, 30);
const waitingSql = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

onEachDatabase(`three processes start at once on an empty database, ${starts} times`, (_newDatabase, newEmpty) => {
  test('all come up, the schema is made once, and one of them shows the one first token', async () => {
    for (let round = 0; round < starts; round++) {
      const database = await newEmpty();
      // The role `all` includes a gateway, which creates the certificate authority; there must be only one.
      const roles = ['api', 'api', 'all'];
      const processes = await Promise.all(
        roles.map((role) =>
          Running.start(database, { role, 'https-listen': '127.0.0.1:0', 'bootstrap-token': undefined }),
        ),
      );
      await using started = new AsyncDisposableStack();
      for (const each of processes) started.use(each);

      const tokens = () => processes.flatMap(({ output }) => /^ {2}(\w{27}_\w{43})$/m.exec(output)?.[1] ?? []);
      const token = await until('one shows the first token', () => tokens()[0]);
      for (const each of processes) {
        const { status, body } = await each.call('GET', '/api_keys', undefined, { token });
        assert.equal(status, 200);
        assert.equal(body.keys.length, 1);
      }
      assert.equal(tokens().length, 1, 'the first token was shown once');
      await checkSoundness(database);
      assert.deepEqual(await countRows(database, ['accounts', 'users', 'api_keys', 'local_ca']), [1, 1, 1, 1]);
    }
  });

  test('those who find the same empty database at the same moment make one account', async () => {
    const url = await newEmpty();
    const database = await openDatabase(url);
    await migrate(database, [...storeMigrations, ...migrations]);
    // All processes wait here for the write lock, and none has seen the writes of another.
    const holder = await database.connect();
    await database.beginExclusive(holder);
    await using started = new AsyncDisposableStack();
    const processes = [1, 2, 3].map(() => started.use(Running.launch(url)));
    // SQLite does not say who waits.
    try {
      if (url.startsWith('sqlite:')) await sleep(3_000);
      else await until('all wait', async () => (await column(database.reader, waitingSql)).length === processes.length);
    } finally {
      await holder.close();
      await database.close();
    }
    for (const each of processes) await each.prints(/^Gatehouse listens on/m);
    assert.deepEqual(await countRows(url, ['accounts', 'users', 'api_keys']), [1, 1, 1]);
  });
});

async function countRows(databaseUrl: string, tables: readonly string[]): Promise<readonly number[]> {
  const database = await openDatabase(databaseUrl);
  try {
    const counts: number[] = [];
    for (const table of tables)
      counts.push(Number((await column(database.reader, `SELECT count(*) FROM ${table}`))[0]));
    return counts;
  } finally {
    await database.close();
  }
}
