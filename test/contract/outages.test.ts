import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { pino } from 'pino';

import { startApp } from '../../src/start/app.ts';
import { readConfig } from '../../src/config/config.ts';
import { StoreUnavailableError } from '../../src/store/database.ts';
import { failAt } from '../support/database-faults.ts';
import type { Fault } from '../support/database-faults.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { finiteOperations, forEach } from './support/operations.ts';
import type { ApiOperation } from './support/operations.ts';
import { World } from './support/world.ts';

/** `TEST_LONG=1` takes every operation; the usual form a share of them, another one in each round. */
const isLong = process.env['TEST_LONG'] === '1';
const share = 12;
const rounds = [
  ['lost', false],
  ['lost', true],
  ['unanswered', false],
] as const;
/** Commands to agents lead through the database: one that is lost on the way counts as unanswered, after seconds. */
const isCommand = ({ id }: ApiOperation) => /^TunnelSessions(Restart|Stop|Update)$/.test(id);
/** More statements than any operation has. */
const statementLimit = 200;

onEachDatabase('a database that fails', (newDatabase) => {
  describe('in the middle of a call', () => {
    for (const round of rounds) {
      const [fault, isOutage] = round;
      test(`at each statement in turn: ${fault}${isOutage ? ', and all later ones' : ''}`, async (t) => {
        const url = await newDatabase();
        await using world = await World.start(url);
        const chosen = isLong ? finiteOperations : sampleFor(url, rounds.indexOf(round));
        let faults = 0;
        await forEach(chosen, async (operation) => {
          faults += await failAtEach(world, operation, fault, isOutage);
        });
        t.diagnostic(`${chosen.length} operations, ${faults} faults`);
        assert.ok(faults > chosen.length, `only ${faults} faults were met`);
      });
    }
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

  test('while only tasks in the background ask: the process goes on, and they do when it answers again', async () => {
    await using world = await World.start(await newDatabase());
    const { gatehouse } = world;
    const { token, id } = await gatehouse.create('/api_keys');
    await gatehouse.get('/ip_policies', { token });
    const faults = failAt(1, 'lost', true);
    const failed = () => faults.failed.filter((sql) => sql.startsWith('BEGIN')).length;
    while (failed() < 2) await sleep(50);
    faults.end();
    await recovered(world);
    assert.equal((await gatehouse.patch(`/api_keys/${id}`, { description: 'after' })).status, 200);
  });

  test('at the start: the start fails or goes on, leaves nothing behind, and the next one succeeds', async (t) => {
    const url = await newDatabase();
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
    let statement = 1;
    for (let isMet = true; isMet; statement += isLong ? 1 : 5) {
      const faults = failAt(statement, 'lost', false);
      try {
        await using app = await startApp(config, log);
        isMet = faults.end().length > 0;
        assert.ok(app.context);
      } catch (error) {
        faults.end();
        assert.ok(error instanceof StoreUnavailableError, `statement ${statement}: ${String(error)}`);
      }
    }
    t.diagnostic(`${statement} statements`);
  });
});

/** Statements travel to PostgreSQL: fewer operations there. */
function sampleFor(url: string, round: number): readonly ApiOperation[] {
  const every = url.startsWith('sqlite') ? share : 2 * share;
  return finiteOperations.filter((operation, at) => at % every === round && !isCommand(operation));
}

/** Makes the call until it meets no fault. Returns the number of faults. */
async function failAtEach(world: World, operation: ApiOperation, fault: Fault, isOutage: boolean): Promise<number> {
  const { own } = world;
  let prepared = await own.prepare(operation);
  let met = 0;
  for (let statement = 1; statement < statementLimit; statement++) {
    const version = await world.version();
    const before = await world.content();
    const faults = failAt(statement, fault, isOutage);
    const { status, text } = await own.call(operation, prepared).finally(() => faults.end());
    const failed = faults.end();
    await recovered(world);
    const where = `statement ${statement}, ${failed[0] ?? 'none'}: ${status} ${text}`;
    const unavailable = isCommand(operation) ? [503, 504] : [503];
    if (!unavailable.includes(status)) assert.equal(status, operation.successStatus, where);
    if (failed.length === 0) return met;
    met += 1;
    const moved = (await world.version()) - version;
    if (moved === 0 && status === 503) assert.equal(await world.content(), before, `something is half done: ${where}`);
    // It was carried out, or may have been: the next call needs things of its own.
    if (moved > 0 || status !== 503) prepared = await own.prepare(operation);
  }
  throw new Error(`more than ${statementLimit} statements`);
}

/** Waits until the process has found its way back to the database. */
async function recovered({ own: { gatehouse, token } }: World): Promise<void> {
  for (let round = 0; ; round++) {
    const { status, text } = await gatehouse.get('/ip_policies?limit=1', { token });
    if (status === 200) return;
    assert.ok(round < 100, `it does not recover: ${text}`);
    await sleep(50);
  }
}
