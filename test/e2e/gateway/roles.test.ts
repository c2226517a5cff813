import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { appHost, createAppEdge, createPolicy } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { askHttps, askTcp } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const rounds = 5;

onDatabasesInTurn('an API process and a gateway process over one database', (newDatabase) => {
  test('a change through the one is obeyed by the other, whose warnings the first one lists', async () => {
    await using upstream = await startUpstream();
    const databaseUrl = await newDatabase();
    await using api = await Program.start(databaseUrl, { role: 'api' });
    await using gateway = await Program.start(databaseUrl, { role: 'gateway' });
    await assert.rejects(fetch(`http://127.0.0.1:${gateway.apiPort}/healthz`), 'a gateway has no API');
    await assert.rejects(askHttps(api.httpsPort, appHost), { code: 'ECONNREFUSED' });

    const { routePath, tcpPath, tcpPort } = await createAppEdge(api, upstream.port);
    using agent = Object.assign(new Agent({ keepAlive: true, rejectUnauthorized: false }), {
      [Symbol.dispose]: () => agent.destroy(),
    });
    const sees = (what: string, expected: (header: unknown) => boolean) =>
      until(async () => {
        const header = await askHttps(gateway.httpsPort, appHost, { agent }).then(
          ({ headers }) => headers['x-response'],
          () => 'no edge',
        );
        return expected(header);
      }, what);
    await sees('the edge', (header) => header !== 'no edge');
    for (let round = 0; round < rounds; round++) {
      await api.must('PUT', `${routePath}/response_headers`, { add: { 'x-response': String(round) } });
      await sees(`change ${round}`, (header) => header === String(round));
    }

    const policy = await createPolicy(api, '127.0.0.1/32');
    await api.must('PUT', `${tcpPath}/ip_restriction`, { ip_policy_ids: [policy] });
    const isRefused = () =>
      askTcp(tcpPort, { from: '127.0.0.2' }).then(
        () => false,
        ({ code }) => code === 'ECONNRESET',
      );
    await until(isRefused, 'TCP traffic obeys');
    assert.equal((await askTcp(tcpPort, { from: '127.0.0.1' })).status, 200);

    const nobody = await createPolicy(api, '10.0.0.0/8');
    const trial = await api.must('POST', '/ip_restrictions', { type: 'endpoints', ip_policy_ids: [nobody] });
    await until(async () => {
      await askTcp(tcpPort, { from: '127.0.0.1' });
      const { warnings } = await api.must('GET', `/ip_restrictions/${trial.id}/warnings`);
      return warnings[0]?.source === '127.0.0.1';
    }, 'the API lists the warnings of the gateway');

    const ca = await api.must('GET', '/local_ca.pem');
    assert.equal((await askHttps(gateway.httpsPort, appHost, { ca })).status, 200, 'one authority for both');
  });
});
