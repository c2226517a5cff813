import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { pino } from 'pino';

import { startApp } from '../../src/start/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { StoreUnavailableError } from '../../src/store/database.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { failAt } from '../support/database-faults.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { isLong } from '../support/long-form.ts';
import { decide } from '../support/sample.ts';
import { failAtEach, recovered } from './support/fail-at-each.ts';
import { waysFor } from './support/failing-operations.ts';
import { finiteOperations, forEach } from './support/operations.ts';
import { World } from './support/world.ts';

/** After each fault the whole content is read: it must not grow with all operations. */
const operationsPerWorld = 12;

onEachDatabase('a database that fails', (newDatabase, newEmpty) => {
  describe('in the middle of a call', () => {
    test('at each statement of each operation that writes, and of some that read', async (t) => {
      let [operations, faults, at] = [0, 0, 0];
      for (let url = await newDatabase(); ; url = await newDatabase()) {
        const database = url.startsWith('sqlite') ? 'SQLite' : 'PostgreSQL';
        const failing = finiteOperations.filter((each) => waysFor(each, database) !== undefined);
        await using world = await World.start(url);
        await forEach(failing.slice(at, (at += operationsPerWorld)), async (operation) => {
          operations += 1;
          faults += await failAtEach(world, operation, waysFor(operation, database) ?? (() => []));
        });
        if (at >= failing.length) break;
      }
      t.diagnostic(`${operations} operations, ${faults} faults`);
      assert.ok(faults > operations, `only ${faults} faults were met`);
    });
  });

  test('while the owner of a known key is read again: the call is answered 503, and the process goes on', async () => {
    await using world = await World.start(await newDatabase());
    const { gatehouse } = world;
    const bot = await gatehouse.create('/bot_users', { name: 'bot' });
    const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
    assert.equal((await gatehouse.get('/ip_policies', { token })).status, 200);
    // The owner is dropped from memory, the key is not.
    assert.equal((await gatehouse.patch(`/bot_users/${bot.id}`, { name: 'renamed' })).status, 200);
    const faults = failAt(1, 'lost', true);
    assert.equal((await gatehouse.get('/ip_policies', { token })).status, 503);
    assert.ok(faults.end().length > 0);
    await recovered(world);
    assert.equal((await gatehouse.get('/ip_policies', { token })).status, 200);
  });

  test('while only timers ask: the process goes on, says so once, and once that it is back', async () => {
    await using world = await World.start(await newDatabase());
    const { gatehouse } = world;
    const { token, id } = await gatehouse.create('/api_keys');
    await gatehouse.get('/ip_policies', { token });
    const logged = (words: string) => gatehouse.logLines.filter((line) => line.includes(words)).length;
    using faults = failAt(0, 'lost', true);
    // Each of them asks once a second or more often; a new connection to PostgreSQL fails with its first statement.
    const failed = (pattern: RegExp) => faults.failed.filter((sql) => pattern.test(sql)).length;
    await until(() => failed(/^SELECT (s\.version|NOT \(pg_is_in_recovery)/) > 4, 'the feed fails again and again');
    await until(() => failed(/^(PRAGMA busy|SELECT NOT \(pg_is_in)/) > 0, 'the use of the key cannot be stored');
    assert.equal(logged('cannot read what other processes have changed'), 1);
    assert.equal(logged('can be read again'), 0);
    faults.end();
    await until(() => logged('can be read again') > 0, 'the feed is back');
    await recovered(world);
    assert.equal((await gatehouse.patch(`/api_keys/${id}`, { description: 'after' })).status, 200);
    assert.equal(logged('cannot read what other processes have changed'), 1);
    assert.equal(logged('can be read again'), 1);
  });

  test('at the start: the start fails or goes on, leaves nothing behind, and the next one succeeds', async (t) => {
    const url = await newEmpty();
    const config = readConfig(
      {},
      {
        apiListen: '127.0.0.1:0',
        databaseUrl: url,
        bootstrapToken: 'the-token-that-tests-begin-with-0123456789',
        httpsListen: '127.0.0.1:0',
        agentListen: '127.0.0.1:0',
        snapshotFile: 'off',
        drainSeconds: '0',
      },
    );
    const log = pino({ level: 'silent' });
    let starts = 0;
    for (const isOutage of [false, true]) {
      const step = isLong ? 1 : 20;
      const first =
        1 +
        decide(step, [
          'first statement of a start that fails',
          url.startsWith('sqlite') ? 'SQLite' : 'PostgreSQL',
          String(isOutage),
        ]);
      for (let statement = first, isMet = true; isMet; statement += step) {
        const faults = failAt(statement, 'lost', isOutage);
        try {
          await using app = await startApp(config, log);
          isMet = faults.end().length > 0;
          // In an outage, nobody can remove a process that did not start; the others find it gone.
          const running = await app.context.store.queries.all('SELECT id FROM processes');
          assert.ok(isOutage || running.length === 1, 'a start that failed left its process behind');
        } catch (error) {
          faults.end();
          assert.ok(error instanceof StoreUnavailableError, `statement ${statement}: ${String(error)}`);
        }
        starts += 1;
      }
    }
    t.diagnostic(`${starts} starts`);
    await using gatehouse = await Gatehouse.start(url);
    assert.equal((await gatehouse.get('/api_keys')).body.keys.length, 1);
    assert.equal((await gatehouse.app.context.store.queries.all('SELECT id FROM accounts')).length, 1);
  });
});
