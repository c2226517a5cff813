import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';

interface Listed {
  readonly id: string;
  readonly role: string;
  readonly host?: string;
  readonly lag_ms?: number;
  readonly configuration_version?: number;
  readonly listeners?: readonly { readonly kind: string; readonly port: number }[];
  readonly unopened_ports: readonly { readonly port: number; readonly edge_id: string; readonly reason: string }[];
}

onDatabasesInTurn('GET /gateways', (newDatabase) => {
  const list = async (gatehouse: Gatehouse, token?: string) => {
    const { status, body } = await gatehouse.get('/gateways', { token });
    assert.equal(status, 200);
    return body as { readonly gateways: readonly Listed[]; readonly configuration_version: number };
  };

  test('lists every process, where it listens and the version it obeys', async () => {
    const url = await newDatabase();
    await using one = await Gatehouse.start(url, { httpsListen: '127.0.0.1:0', metricsListen: '127.0.0.1:0' });
    await using other = await Gatehouse.start(url, { role: 'gateway', httpsListen: '127.0.0.1:0' });
    assert.equal(other.app.api, undefined);
    await one.create('/ip_policies');
    const { gateways, configuration_version: version } = await list(one);
    assert.deepEqual(
      gateways.map(({ role }) => role),
      ['all', 'gateway'],
    );
    const [first] = gateways;
    assert.ok(first);
    assert.deepEqual([first.configuration_version, first.lag_ms], [version, undefined]);
    assert.deepEqual(
      first.listeners?.map(({ kind }) => kind),
      ['api', 'https', 'tcp', 'links'],
    );
    assert.equal(first.listeners?.[0]?.port, Number(new URL(one.url).port));
    assert.deepEqual(
      gateways.flatMap(({ unopened_ports: ports }) => ports),
      [],
    );
  });

  test('tells names of machines and addresses of listeners to admins only, and everybody what serves', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { httpsListen: '127.0.0.1:0' });
    const member = await createUser(gatehouse, 'member');
    const bot = await gatehouse.create('/bot_users', { name: 'watcher' });
    const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
    const [asAdmin] = (await list(gatehouse)).gateways;
    assert.ok(asAdmin?.host !== undefined && asAdmin.listeners !== undefined);
    const { id, role, host, listeners } = asAdmin;
    assert.equal(host, hostname());
    assert.deepEqual(
      listeners.map(({ kind }) => kind),
      ['api', 'https', 'tcp', 'links'],
    );
    for (const caller of [member.token, token]) {
      const [seen] = (await list(gatehouse, caller)).gateways;
      assert.deepEqual([seen?.id, seen?.role, seen?.unopened_ports], [id, role, []]);
      assert.deepEqual([seen?.host, seen?.listeners], [undefined, undefined]);
    }
  });

  for (const workers of ['off', '2']) {
    test(`names the ports that could not be opened, to their own account (workers: ${workers})`, async (context) => {
      const holder = createServer().listen(0, '127.0.0.1');
      context.after(() => holder.close());
      await once(holder, 'listening');
      // The server listens on a port.
      const { port } = holder.address() as AddressInfo;
      await using gatehouse = await Gatehouse.start(await newDatabase(), { tcpPorts: '1024-65535', workers });
      const edge = await gatehouse.create('/edges/tcp', { hostports: [`tcp.example.com:${port}`] });
      const unopened = async (token?: string) => (await list(gatehouse, token)).gateways[0]?.unopened_ports;
      assert.deepEqual(await unopened(), [{ port, edge_id: edge.id, reason: 'another program has this port' }]);
      const stranger = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      assert.deepEqual(await unopened(stranger.token), []);
      holder.close();
      await once(holder, 'close');
      await until(async () => (await unopened())?.length === 0, 'the port is open at last');
      await gatehouse.delete(`/edges/tcp/${edge.id}`);
    });
  }

  test('tells how far a process is behind, and not of changes that it cannot have known', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    await gatehouse.create('/ip_policies');
    const { store } = gatehouse.app.context;
    const behind = store.version;
    await gatehouse.create('/ip_policies');
    const write = async (id: string, seenAtMs: number) => {
      const document = {
        id,
        hostname: 'h',
        network_id: 'n',
        addresses: [],
        listeners: [],
        started_at: '2020-01-01T00:00:00Z',
      };
      const status = { configurationVersion: behind, unopenedPorts: [], seenAtMs };
      const sql = 'INSERT INTO processes (id, document, beat, status) VALUES ($1, $2, 0, $3)';
      const values = [id, JSON.stringify(document), JSON.stringify(status)];
      await store.writeUnlogged(async (notes) => notes.run(sql, values));
    };
    await write('proc_a', Date.now() + 30_000);
    await write('proc_b', Date.now() - 30_000);
    const found = new Map((await list(gatehouse)).gateways.map((each) => [each.id, each]));
    const lagMs = found.get('proc_a')?.lag_ms ?? 0;
    assert.ok(lagMs > 25_000 && lagMs < 120_000, `${lagMs}`);
    assert.equal(found.get('proc_b')?.lag_ms, undefined);
    assert.equal(found.get('proc_b')?.configuration_version, behind);
  });
});
