import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { ReplicatedPostgres, startForeignPostgres } from './support/replicated-postgres.ts';
import { switchedAddress } from './support/switched-address.ts';

const limit = { timeout: 300_000 };
const clients =
  "SELECT COUNT(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;
const readyz = async ({ url }: Gatehouse) => {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, text: await answer.text() };
};

for (const workers of ['off', '1']) {
  test(
    `a standby is promoted and the old primary lives on: all go to the new one, workers ${workers}`,
    limit,
    async () => {
      await using upstream = await startUpstream();
      await using pair = await ReplicatedPostgres.start();
      await using one = await Gatehouse.start(pair.url, { role: 'all', httpsListen: '127.0.0.1:0', workers });
      const { id: backend_id } = await one.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const edge = await one.create('/edges/https', { hostports: ['closed.test:443'] });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
      await one.create(`/edges/https/${edge.id}/routes`, route);
      const isServed = () =>
        askHttps(one.httpsPort, 'closed.test').then(
          ({ status }) => status === 200,
          () => false,
        );
      await until(isServed, 'the edge is open');
      const { id: keyId, token } = await one.create('/api_keys', {});
      assert.equal((await one.get('/ip_policies', { token })).status, 200);

      await pair.cutOff();
      await pair.promote();
      await using other = await Gatehouse.start(pair.standby.url, { role: 'api' });
      assert.equal((await other.delete(`/api_keys/${keyId}`)).status, 204);
      assert.equal((await other.delete(`/edges/https/${edge.id}`)).status, 204);

      await until(async () => (await one.get('/ip_policies', { token })).status === 401, 'the key is dead everywhere');
      await until(async () => !(await isServed()), 'the edge is closed everywhere');
      await until(async () => (await pair.primary.ask(clients)) === 0, 'nothing is connected to the old primary');
      const { id } = await one.create('/ip_policies', {});
      assert.equal((await other.get(`/ip_policies/${id}`)).status, 200, 'writes go to the new primary');
      assert.equal(await pair.primary.ask(`SELECT COUNT(*)::int FROM ip_policies`), 0);
      await until(async () => (await readyz(one)).status === 200, 'the process is ready');
    },
  );
}

test('a process that starts while two servers take writes goes to the one on the higher timeline', limit, async () => {
  await using pair = await ReplicatedPostgres.start();
  await pair.cutOff();
  await pair.promote();
  await using one = await Gatehouse.start(pair.url, { role: 'api' });
  await one.create('/ip_policies', {});
  assert.equal(await pair.standby.ask('SELECT COUNT(*)::int FROM ip_policies'), 1);
  assert.equal(await pair.primary.ask('SELECT COUNT(*)::int FROM ip_policies'), 0);
});

test('an old primary does not count after the new one is gone', limit, async () => {
  await using pair = await ReplicatedPostgres.start();
  await using one = await Gatehouse.start(pair.url, { role: 'api' });
  await pair.cutOff();
  await pair.promote();
  await until(async () => (await pair.primary.ask(clients)) === 0, 'nothing is connected to the old primary');
  await until(async () => (await one.post('/ip_policies', {})).status === 201, 'writes go to the new primary');
  await pair.standby.crash();
  await until(async () => (await readyz(one)).text.includes('old primary'), 'the process says why it is not ready');
  assert.equal((await one.post('/ip_policies', {})).status, 503);
  assert.equal((await one.get('/ip_policies')).status, 503);
  assert.equal(await pair.primary.ask('SELECT COUNT(*)::int FROM ip_policies'), 0);
  await pair.standby.launch();
  await until(async () => (await one.post('/ip_policies', {})).status === 201, 'the new primary is back');
  await until(async () => (await readyz(one)).status === 200, 'the process is ready');
});

test('two servers that take writes on one timeline: neither counts until one has ended', limit, async () => {
  await using pair = await ReplicatedPostgres.start();
  await using one = await Gatehouse.start(pair.url, { role: 'api' });
  await pair.cutOff();
  await pair.splitOnOneTimeline();
  await until(async () => (await readyz(one)).text.includes('two servers'), 'the process says why it is not ready');
  assert.equal((await one.post('/ip_policies', {})).status, 503);
  assert.equal((await one.get('/ip_policies')).status, 503);
  await pair.standby.crash();
  await until(async () => (await one.post('/ip_policies', {})).status === 201, 'one is left');
  await until(async () => (await readyz(one)).status === 200, 'the process is ready');
});

suite('several servers behind one address', () => {
  const started = new AsyncDisposableStack();
  let pair: ReplicatedPostgres;
  let address: Awaited<ReturnType<typeof switchedAddress>>;
  let one: Gatehouse;
  let token: string;
  before(async () => {
    pair = started.use(await ReplicatedPostgres.start());
    address = started.use(await switchedAddress(pair.primary.port));
    one = started.use(await Gatehouse.start(urlOf(address.port), { role: 'api' }));
  });
  after(() => started.disposeAsync());

  test('one address that leads to a new primary is followed, and its old connections end', limit, async () => {
    const key = await one.create('/api_keys', {});
    ({ token } = key);
    await pair.cutOff();
    await pair.promote();
    await using other = await Gatehouse.start(pair.standby.url, { role: 'api' });
    assert.equal((await other.delete(`/api_keys/${key.id}`)).status, 204);
    address.leadTo(pair.standby.port);
    await until(async () => (await pair.primary.ask(clients)) === 0, 'no connection to the old primary is left');
    await until(async () => (await one.get('/ip_policies', { token })).status === 401, 'the key is dead');
    await until(async () => (await one.post('/ip_policies', {})).status === 201, 'writes go to the new primary');
  });

  test('one address that leads back to an old primary is refused until it leads to the new one', limit, async () => {
    address.leadTo(pair.primary.port);
    await until(async () => (await readyz(one)).text.includes('old primary'), 'the process says why it is not ready');
    assert.equal((await one.get('/ip_policies', { token })).status, 503, 'the old primary still knows the key');
    assert.equal((await one.post('/ip_policies', {})).status, 503);
    address.leadTo(pair.standby.port);
    await until(async () => (await one.post('/ip_policies', {})).status === 201, 'it leads to the new primary');
    assert.equal((await one.get('/ip_policies', { token })).status, 401);
  });

  test('one address that leads to another database system is refused', limit, async () => {
    await using foreign = await startForeignPostgres();
    address.leadTo(foreign.port);
    await until(async () => (await readyz(one)).text.includes('another database system'), 'the process says so');
    assert.equal((await one.post('/ip_policies', {})).status, 503);
    address.leadTo(pair.standby.port);
    await until(async () => (await one.post('/ip_policies', {})).status === 201, 'the address leads back');
  });
});
