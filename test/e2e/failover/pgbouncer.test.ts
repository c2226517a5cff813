import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { startPostgres } from '../../support/postgres.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { startPgBouncer } from './support/pgbouncer.ts';

describe('through PgBouncer in transaction mode', () => {
  const running = new AsyncDisposableStack();
  let serverUrl = '';
  let url = '';
  before(async () => {
    serverUrl = running.use(await startPostgres()).url;
    url = running.use(await startPgBouncer(Number(new URL(serverUrl).port))).url;
  });
  after(() => running.disposeAsync());

  for (const [name, listenUrl] of [
    ['with a URL to listen at', () => serverUrl],
    ['by polling', () => 'off'],
  ] as const) {
    test(`many writes at once, and gateways follow: ${name}`, async () => {
      await using upstream = await startUpstream();
      const settings = { databaseListenUrl: listenUrl() };
      await using api = await Gatehouse.start(url, { ...settings, role: 'api' });
      await using other = await Gatehouse.start(url, { ...settings, role: 'api' });
      await using gateway = await Gatehouse.start(url, { ...settings, role: 'gateway', httpsListen: '127.0.0.1:0' });
      const { id: backend_id } = await api.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const hosts = Array.from({ length: 10 }, (_, at) => `${settings.databaseListenUrl.length}-${at}.test`);
      await Promise.all(
        hosts.map(async (host, at) => {
          const writer = at % 2 === 0 ? api : other;
          const edge = await writer.create('/edges/https', { hostports: [`${host}:443`] });
          const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
          await writer.create(`/edges/https/${edge.id}/routes`, route);
          assert.equal((await writer.get(`/edges/https/${edge.id}`)).status, 200);
        }),
      );
      const httpsPort = gateway.httpsPort;
      const isLive = (host: string) =>
        askHttps(httpsPort, host).then(
          ({ status }) => status === 200,
          () => false,
        );
      for (const host of hosts) await until(() => isLive(host), `${host} is live`);
      const { id, token } = await api.create('/api_keys', {});
      await until(async () => (await other.get('/ip_policies', { token })).status === 200, 'a key is good everywhere');
      assert.equal((await api.delete(`/api_keys/${id}`)).status, 204);
      await until(async () => (await other.get('/ip_policies', { token })).status === 401, 'and gone everywhere');
      const faults = [api, other, gateway]
        .flatMap(({ logLines }) => logLines)
        .filter((line) => /"level":50/.test(line));
      assert.deepEqual(faults, []);
    });
  }
});
