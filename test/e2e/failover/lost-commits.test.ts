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
  await using api = await Gatehouse.start(pair.url, { role: 'api' });
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
  await pair.primary.crash();
  const refused = await api.post('/ip_policies', {});
  assert.equal(refused.status, 503, refused.text);
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await api.get('/ip_policies')).status, 503, 'nothing is read at a standby');
  assert.equal(await statusOf('kept.test'), 200);

  await pair.promote();
  await until(async () => (await api.post('/ip_policies', {})).status === 201, 'writes are taken again');
});
