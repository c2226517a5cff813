import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { isLong } from '../../support/long-form.ts';
import { appHost } from './support/app-edge.ts';
import { InwardAttack, spellings, trustedAddresses } from './support/inward-attack.ts';
import type { Setup } from './support/inward-attack.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { newSqlite } from '../../support/scratch.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

const everywhere = { host: '[::]' };
const common = { 'tcp-listen-host': '::', 'trusted-proxies': trustedAddresses, 'drain-seconds': '0' };
const proxied = { ...common, 'proxy-protocol': 'tcp,https' };

/** One spelling of each kind; `test/gateway/inward.test.ts` tries them all. */
const hosts = isLong ? spellings : ['127.0.0.1', '[::1]', 'localhost'];

/** Tries spellings of its address against every listener. */
async function attackAll(setup: Setup): Promise<void> {
  await using upstream = await startUpstream();
  const attack = await InwardAttack.prepare(setup, upstream.port);
  for (const target of attack.targets) {
    for (const host of hosts) {
      const { answer, leadsTo } = await attack.lead(`${host}:${target.port}`, target);
      assert.equal(answer, '', `${target.name} by ${host}`);
      assert.equal(leadsTo, target.name, `${target.name} by ${host}`);
    }
  }
  assert.equal(upstream.requests, 0);
}

const forms = [
  ['a PROXY header', 'off'],
  ['X-Forwarded-For', 'off'],
  ['X-Forwarded-For', '2'],
  ['a PROXY header', '2'],
] as const;
for (const [header, workers] of forms) {
  test(`a TCP edge cannot speak as a trusted proxy with ${header} (workers ${workers})`, async () => {
    const databaseUrl = newSqlite();
    const proxyProtocol = header === 'a PROXY header';
    const settings = { ...(proxyProtocol ? proxied : common), workers };
    await using program = await Program.start(databaseUrl, settings, everywhere);
    await attackAll({ api: program, gateway: program, databaseUrl, proxyProtocol });
    const { samples } = readExposition(await program.metrics());
    const refusals = samples.get('gatehouse_inward_refusals_total{leads_to="api"}') ?? 0;
    assert.ok(refusals >= hosts.length, `${refusals} refusals of the API are counted`);
  });
}

onAnyDatabase('with an API process and a gateway process over one database', (newDatabase) => {
  test('a TCP edge of the gateway cannot reach a listener of either', async () => {
    const databaseUrl = await newDatabase();
    await using gateway = await Program.start(databaseUrl, { ...proxied, role: 'gateway', workers: 'off' }, everywhere);
    await using api = await Program.start(databaseUrl, { ...common, role: 'api' }, everywhere);
    await attackAll({ api, gateway, databaseUrl, proxyProtocol: true });
  });

  test('a process that has stopped in order may be followed by a server of another kind', async () => {
    const databaseUrl = await newDatabase();
    await using api = await Program.start(databaseUrl, { role: 'api' });
    await using gateway = await Program.start(databaseUrl, { role: 'gateway', workers: 'off' });
    const second = await Program.start(databaseUrl, { role: 'api' });
    const host = `127.0.0.1:${second.apiPort}`;
    const backend = await api.must('POST', '/backends/static', { address: host });
    const edge = await api.must('POST', '/edges/https', { hostports: [`${appHost}:443`] });
    await api.must('POST', `/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend.id },
    });
    const code = () =>
      askHttps(gateway.httpsPort, appHost).then(
        (answer) => answer.errorCode,
        () => 0,
      );
    await until(async () => (await code()) === 20110, 'the second API is refused');
    const { status, text } = await askHttps(gateway.httpsPort, appHost);
    assert.equal(status, 502);
    assert.ok(!text.includes(String(second.apiPort)) && !text.includes('127.0.0.1'), text);
    second.signal('SIGTERM');
    await second.exited;
    await until(async () => (await code()) === 3006, 'nobody listens there, and nothing speaks against it');
  });
});
