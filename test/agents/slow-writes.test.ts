import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../e2e/gateway/support/until.ts';
import { connectPostgres } from '../support/postgres-client.ts';
import { createDatabase, startPostgres } from '../support/postgres.ts';
import { newToken, serveAgents } from './support/served-agents.ts';

/** Longer than the time between two looks at what is stored, and shorter than the limit of a statement. */
const heldMs = 11_000;

describe('a database that takes its time', () => {
  test('does not cost an agent its session while the session is being written', async () => {
    const url = process.env['TEST_POSTGRES_URL'];
    await using own = url === undefined ? await startPostgres() : undefined;
    const databaseUrl = await createDatabase(url ?? own?.url ?? '');
    const served = await serveAgents(databaseUrl, { agentAuthSeconds: '60' });
    await using gatehouse = served.gatehouse;
    const token = await newToken(gatehouse);
    await using blocker = await connectPostgres(databaseUrl);
    await blocker.query('BEGIN');
    // Reads pass it, writes wait for it.
    await blocker.query('LOCK TABLE tunnel_sessions IN SHARE MODE');
    const connecting = served.agent(token);
    const waiting = "SELECT 1 FROM pg_locks WHERE relation = 'tunnel_sessions'::regclass AND NOT granted";
    await until(async () => (await blocker.query(waiting)).rowCount === 1, 'the session is being written');
    await sleep(heldMs);
    await blocker.query('COMMIT');
    const { sessionId } = await connecting;
    const { tunnel_sessions } = (await gatehouse.get('/tunnel_sessions')).body;
    assert.deepEqual(
      tunnel_sessions.map(({ id }: { readonly id: string }) => id),
      [sessionId],
    );
    await served.cleanUp();
  });
});
