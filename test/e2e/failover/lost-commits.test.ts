import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { ReplicatedPostgres } from './support/replicated-postgres.ts';

test('at a standby writes are 503 and traffic goes on; a promotion that lost commits is followed', async () => {
  await using upstream = await startUpstream();
  await using pair = await ReplicatedPostgres.start();
  await using api = await Gatehouse.start(pair.url, { role: 'api', metricsListen: '127.0.0.1:0' });
  await using gateway = await Gatehouse.start(pair.url, { role: 'gateway', httpsListen: '127.0.0.1:0' });
  const httpsPort = gateway.app.engine?.httpsPort() ?? 0;
  const statusOf = (host: string) =>
    askHttps(httpsPort, host).then(
      ({ status }) => status,
      () => 0,
    );
  const { id: backend_id } = await api.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
  const createEdge = async (host: string) => {
    const edge = await api.create('/edges/https', { hostports: [`${host}:443`] });
    const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
    await api.create(`/edges/https/${edge.id}/routes`, route);
  };
  const isLive = (host: string) => until(async () => (await statusOf(host)) === 200, `${host} is live`);
  await createEdge('kept.test');
  await isLive('kept.test');

  await pair.cutOff();
  await createEdge('lost.test');
  await isLive('lost.test');
  const { id: keyId, token } = await api.create('/api_keys', {});
  assert.equal((await api.get('/ip_policies', { token })).status, 200);

  await pair.primary.crash();
  const refused = await api.post('/ip_policies', {});
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await api.get('/ip_policies')).status, 503, 'nothing is read at a standby');
  assert.equal(await statusOf('kept.test'), 200);

  await pair.promote();
  await until(async () => (await statusOf('lost.test')) !== 200, 'what was lost is no longer served');
  assert.equal(await statusOf('kept.test'), 200);
  await until(async () => (await api.get('/ip_policies', { token })).status === 401, 'a lost key lets nobody in');
  await until(async () => (await api.post('/ip_policies', {})).status === 201, 'writes are taken again');
  for (const host of ['new-1.test', 'new-2.test', 'new-3.test']) {
    await createEdge(host);
    await isLive(host);
  }
  assert.equal((await fetch(`${api.url}/readyz`)).status, 200);

  const told = api.logLines.map((line) => JSON.parse(line)).find(({ msg }) => /another history/.test(msg));
  assert.ok(told.lost.some(({ kind, id }: { kind: string; id: string }) => kind === 'api_key' && id === keyId));
  await until(async () => {
    const { gateways } = (await api.get('/gateways')).body;
    const lostOf = (each: { history_change?: { lost: readonly { id: string }[] } }) => each.history_change?.lost ?? [];
    return gateways.length === 2 && gateways.every((each: object) => lostOf(each).some(({ id }) => id === keyId));
  }, 'each process says what was lost');
  assert.equal((await metricsOf(api)).get('gatehouse_history_changes_total'), 1);
  assert.ok(((await metricsOf(api)).get('gatehouse_lost_changes_total') ?? 0) > 2);
});

async function metricsOf(gatehouse: Gatehouse): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`)).text();
  return new Map(text.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}
