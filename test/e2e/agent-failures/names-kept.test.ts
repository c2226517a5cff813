import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { onAnyDatabase } from '../../support/each-database.ts';
import { backLimitMs, Served } from '../agents/support/served.ts';
import { Program } from '../gateway/support/program.ts';
import { until } from '../gateway/support/until.ts';

onAnyDatabase('an agent', (newDatabase) => {
  let served: Served;
  before(async () => {
    served = await Served.start(await newDatabase());
  });
  beforeEach(() => served.clear());
  after(() => served[Symbol.asyncDispose]());

  test('that was frozen for so long that it was dropped has its name again when it wakes up', async () => {
    const agent = await served.agent(await served.newToken(), [{}]);
    const statusOf = async () => (await served.ask(agent.hostname)).status;
    assert.equal(await statusOf(), 200);
    agent.signal('SIGSTOP');
    const { program } = served;
    const isDropped = async () => (await program.must('GET', '/tunnel_sessions')).tunnel_sessions.length === 0;
    await until(isDropped, 'the server has dropped it', 120_000);
    assert.equal(await statusOf(), 503);
    agent.signal('SIGCONT');
    await until(async () => (await statusOf()) === 200, 'it is back under its name', backLimitMs);
  });

  test('that is started anew after the server was killed has its name, while the server still remembers the old one', async () => {
    const token = await served.newToken();
    const listeners = [{ domain: 'again.localhost' }];
    const agent = await served.agent(token, listeners);
    served.program.signal('SIGKILL');
    await served.program.exited;
    agent.signal('SIGKILL');
    await served.startAgain();
    assert.equal((await served.agent(token, listeners)).url, agent.url);
    assert.equal((await served.ask('again.localhost')).status, 200);
  });

  test('that is well keeps its name against another one, which gets it from a frozen one, also at another gateway', async () => {
    const agentPort = await freePort();
    const settings = {
      role: 'gateway',
      'agent-listen': `127.0.0.1:${agentPort}`,
      'agent-url-port': '443',
      vendor: 'ngrok',
    };
    await using gateway = await Program.start(served.databaseUrl, settings);
    assert.ok(gateway.pid > 0);
    const token = await served.newToken();
    const listeners = [{ domain: 'mine.localhost' }];
    const elsewhere = { session: { server_addr: `localhost:${agentPort}` } };
    const first = await served.agent(token, listeners);
    for (const order of [{}, elsewhere])
      await assert.rejects(served.agent(token, listeners, order), { errorCode: 'ERR_NGROK_334' });
    assert.equal((await served.ask('mine.localhost')).status, 200);
    first.signal('SIGSTOP');
    assert.equal((await served.agent(token, listeners, elsewhere)).url, first.url);
  });
});
