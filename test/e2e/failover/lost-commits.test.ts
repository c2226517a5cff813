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
  const httpsPort = gateway.httpsPort;
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
  const versionOf = ({ app }: Gatehouse) => app.context.store.version;
  await until(() => versionOf(gateway) === versionOf(api), 'the gateway, too, has seen what will be lost');

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

test('with synchronous replication nothing that was answered is lost, nor answered before it is safe', async (t) => {
  await using pair = await ReplicatedPostgres.start();
  await using api = await Gatehouse.start(pair.url, { role: 'api' });
  await pair.primary.ask("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await pair.primary.ask('SELECT pg_reload_conf()');
  const synchronous = "SELECT COUNT(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
  await until(async () => (await pair.primary.ask(synchronous)) === '1', 'replication is synchronous');
  const answered: string[] = [];
  const over = new AbortController();
  const writer = async () => {
    while (!over.signal.aborted) {
      const { status, body } = await api.post('/ip_policies', {});
      if (status === 201) answered.push(body.id);
      else assert.equal(status, 503);
    }
  };
  const writing = Promise.all([writer(), writer(), writer()]);
  await until(() => answered.length >= 50, 'writes are answered');
  await pair.cutOff();
  // A commit that waits for the standby, and is told to wait no longer, is a success to the server.
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  await until(async () => (await pair.primary.ask(waiting)) !== undefined, 'a commit waits for the standby');
  const before = answered.length;
  assert.equal(await pair.primary.ask(waiting.replace('pid', 'pg_cancel_backend(pid)')), true);
  await until(async () => (await pair.primary.ask(waiting)) !== undefined, 'the next commit waits');
  assert.equal(answered.length, before, 'what is on one server alone is not answered as done');
  await pair.primary.crash();
  await pair.promote();
  await until(() => answered.length > before, 'writes are answered again');
  over.abort();
  await writing;
  for (const id of answered) assert.equal((await api.get(`/ip_policies/${id}`)).status, 200, `${id} is lost`);
  t.diagnostic(`${answered.length} writes answered, 0 lost`);
});

async function metricsOf(gatehouse: Gatehouse): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`)).text();
  return new Map(text.split('\n').map((line) => [line.split(' ')[0] ?? '', Number(line.split(' ')[1])]));
}
