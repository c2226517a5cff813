import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { portOf } from '../../gateway/support/https-upstream.ts';
import { nextTurn } from '../../../src/lib/next-turn.ts';
import { freePort } from '../../support/free-port.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { newSqlite } from '../../support/scratch.ts';

test('a first start that fails over a taken address says which, and the next one still shows the token', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = `127.0.0.1:${portOf(taken)}`;
  const databaseUrl = newSqlite();
  const settings = { bootstrapToken: '', httpsListen: '127.0.0.1:0', agentListen: '127.0.0.1:0' };
  try {
    for (const listener of ['httpsListen', 'httpListen', 'apiListen', 'metricsListen', 'agentListen', 'linkListen']) {
      await assert.rejects(Gatehouse.start(databaseUrl, { ...settings, [listener]: address }), (error: Error) => {
        const { message } = error.cause instanceof Error ? error.cause : error;
        assert.match(message, new RegExp(`EADDRINUSE.*${address}`), listener);
        return true;
      });
    }
  } finally {
    taken.close();
  }
  await using gatehouse = await Gatehouse.start(databaseUrl, settings);
  const { firstToken: token } = gatehouse.app;
  assert.equal((await gatehouse.get('/api_keys', { token })).status, 200);
});

test('a token that the operator has chosen is good for the first call that is answered', async () => {
  const port = await freePort();
  const bootstrapToken = 'a-token-that-the-operator-has-chosen-0123456789';
  const headers = { Authorization: `Bearer ${bootstrapToken}`, 'Service-Version': '2' };
  const failedStart = new AbortController();
  const firstAnswer = async (): Promise<Response> => {
    for (;;) {
      failedStart.signal.throwIfAborted();
      const answer = await fetch(`http://127.0.0.1:${port}/api_keys`, { headers }).catch(() => undefined);
      if (answer !== undefined) return answer;
      await nextTurn();
    }
  };
  const answer = firstAnswer();
  const listen = { apiListen: `127.0.0.1:${port}`, httpsListen: '127.0.0.1:0', metricsListen: '127.0.0.1:0' };
  const starting = Gatehouse.start(newSqlite(), { ...listen, bootstrapToken });
  // Nobody answers where the start fails.
  starting.catch((error: unknown) => failedStart.abort(error));
  const { status } = await answer;
  await using _ = await starting;
  assert.equal(status, 200);
});

test('a gateway alone makes no key: it has nobody to show it to', async () => {
  const databaseUrl = newSqlite();
  const settings = { bootstrapToken: '', httpsListen: '127.0.0.1:0' };
  await using gateway = await Gatehouse.start(databaseUrl, { ...settings, role: 'gateway' });
  assert.equal(gateway.app.firstToken, undefined);
  await using gatehouse = await Gatehouse.start(databaseUrl, { ...settings, role: 'api' });
  const { firstToken: token } = gatehouse.app;
  assert.equal((await gatehouse.get('/api_keys', { token })).status, 200);
});
