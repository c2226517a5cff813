import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { makeCertificate } from '../../../test/gateway/support/https-certificate.ts';
import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser, newName, runOnHost } from '../../../test/support/people.ts';
import { countAgain } from '../../../test/support/quota-counts.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { overQuota } from '../../errors/shared.ts';
import { readTables } from '../../host-commands/catalog.ts';
import { migrations } from '../../start/open-context.ts';
import type { Migration } from '../../store/migrate.ts';
import { openStore } from '../../store/store.ts';
import { countedTables, quotas } from './table.ts';

const { code } = overQuota;
const counted = countedTables(quotas);
const clientAuthority = new ClientAuthority('quotas');
const { certificate: certificate_pem, key: private_key_pem } = makeCertificate('DNS:quotas.test');

/** A new account, in which nothing of what is counted is shared with other tests. */
async function newAccount(gatehouse: Gatehouse) {
  const account = await createAccount(gatehouse);
  const { token } = await createUser(gatehouse, 'admin', account);
  const options = { token };
  return {
    account,
    options,
    create: (path: string, body: unknown = {}) => gatehouse.create(path, body, options),
    set: (wanted: string) => runOnHost(gatehouse, 'accounts quotas', { set: wanted, account }),
    async used(name: string): Promise<number> {
      const { body } = await gatehouse.get('/quotas', options);
      return body.quotas.find((each: { name: string }) => each.name === name).used;
    },
    refuses: (path: string, body: unknown, method = 'POST') =>
      refuses(gatehouse, [method, path, body, options], 403, code),
  };
}

type Account = Awaited<ReturnType<typeof newAccount>>;

/** For each quota, a call that uses one more of it; those of agents stand in `test/agents/`. */
const calls: Readonly<Record<string, (account: Account) => Promise<readonly [path: string, body: () => unknown]>>> = {
  edges: async () => ['/edges/https', () => ({ hostports: [`e-${freePort()}.example.com:443`] })],
  edge_routes: async ({ create }) => {
    const { id } = await create('/edges/https');
    return [`/edges/https/${id}/routes`, () => ({ match_type: 'path_prefix', match: `/${newName('route')}` })];
  },
  tcp_ports: async () => ['/edges/tcp', () => ({ hostports: [`any:${freePort()}`] })],
  backends: async () => ['/backends/static', () => ({ address: 'app.internal:8080' })],
  ip_policies: async () => ['/ip_policies', () => ({})],
  ip_policy_rules: async ({ create }) => {
    const { id } = await create('/ip_policies');
    return ['/ip_policy_rules', () => ({ cidr: `10.0.${freePort() % 250}.0/24`, action: 'allow', ip_policy_id: id })];
  },
  ip_restrictions: async ({ create }) => {
    const { id } = await create('/ip_policies');
    return ['/ip_restrictions', () => ({ type: 'endpoints', enforced: true, ip_policy_ids: [id] })];
  },
  api_keys: async () => ['/api_keys', () => ({})],
  credentials: async () => ['/credentials', () => ({})],
  bot_users: async () => ['/bot_users', () => ({ name: newName('bot') })],
  users: async () => ['/invitations', () => ({ name: newName('guest'), role: 'viewer' })],
  tls_certificates: async () => ['/tls_certificates', () => ({ certificate_pem, private_key_pem })],
  certificate_authorities: async () => ['/certificate_authorities', () => ({ ca_pem: clientAuthority.pem })],
  reserved_domains: async () => ['/reserved_domains', () => ({ domain: `r-${freePort()}.example.com` })],
  reserved_addrs: async () => ['/reserved_addrs', () => ({})],
  vaults: async () => ['/vaults', () => ({ name: newName('vault').replace(' ', '-') })],
  vault_secrets: async ({ create }) => {
    const { id } = await create('/vaults', { name: newName('vault').replace(' ', '-') });
    return ['/vault_secrets', () => ({ vault_id: id, name: newName('secret').replace(' ', '-'), value: 'v' })];
  },
  event_destinations: async () => ['/event_destinations', () => eventDestination],
  event_subscriptions: async ({ create }) => {
    const { id } = await create('/event_destinations', eventDestination);
    return ['/event_subscriptions', () => ({ sources: [], destination_ids: [id] })];
  },
};

const eventDestination = {
  target: { webhook: { url: 'https://hooks.example.com/', secret: `whsec_${Buffer.alloc(32).toString('base64')}` } },
};

/** Tables with rows of accounts that no quota counts. */
const uncounted: readonly string[] = [
  // Made on the host alone.
  'accounts',
  // A row for each user or bot, each key, or each resource that has a name.
  'principals',
  'api_key_uses',
  'configuration_names',
  // Bounded by limits of their own, or deleted in time.
  'dashboard_sessions',
  'acme_orders',
  'idempotency_keys',
  'ip_restriction_decisions',
  'change_log',
  'configuration_earlier_names',
  'observed_changes',
  'account_usage',
  'event_deliveries',
  'undelivered_events',
  'sent_mails',
  'alerts',
  // Deleted with the last of their sessions, which are counted.
  'app_users',
];

let port = 10_000;
function freePort(): number {
  port += 1;
  return port;
}

onEachGatehouse('quotas', (g) => {
  for (const [quota, prepare] of Object.entries(calls)) {
    test(`${quota}: refused at the limit with nothing stored, and free again after a deletion`, async () => {
      const account = await newAccount(g());
      const [path, body] = await prepare(account);
      const before = await account.used(quota);
      await account.set(`${quota}=${before + 2}`);
      const { id } = await account.create(path, body());
      await account.create(path, body());
      const message = await account.refuses(path, body());
      assert.ok(message.includes(`quota ${quota} of this account is ${before + 2}, ${before + 2} are`), message);
      assert.ok(
        message.includes(`gatehouse accounts quotas --account ${account.account} --set ${quota}=NUMBER`),
        message,
      );
      assert.equal(await account.used(quota), before + 2);
      assert.equal((await g().delete(`${path}/${id}`, account.options)).status, 204);
      assert.equal(await account.used(quota), before + 1);
      await account.create(path, body());
      await account.refuses(path, body());
      await countAgain(g());
    });
  }

  test('what the database deletes along with something counts no more', async () => {
    const account = await newAccount(g());
    const { id } = await account.create('/edges/tcp', { hostports: [`any:${freePort()}`, `any:${freePort()}`] });
    assert.equal(await account.used('tcp_ports'), 2);
    await g().patch(`/edges/tcp/${id}`, { hostports: [`any:${freePort()}`] }, account.options);
    assert.equal(await account.used('tcp_ports'), 1);
    await g().delete(`/edges/tcp/${id}`, account.options);
    assert.equal(await account.used('tcp_ports'), 0);
    await countAgain(g());
  });

  test('lists of rules are refused as a whole, short and long ones, and the rules in force stay', async () => {
    const account = await newAccount(g());
    const { id } = await account.create('/ip_policies');
    const path = `/ip_policies/${id}/rules`;
    const list = (length: number) => Array.from({ length }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
    const rules = async () => (await g().get(path, account.options)).body;
    await account.set('ip_policy_rules=10');
    assert.equal((await g().put(path, list(10), account.options)).status, 200);
    const before = await rules();
    await account.refuses(path, list(11), 'PUT');
    await account.set('ip_policy_rules=3000');
    // Long enough to be prepared as a set of its own.
    await account.refuses(path, list(4_000), 'PUT');
    assert.deepEqual(await rules(), before);
    await until(async () => (await account.used('ip_policy_rules')) === 10, 'what was prepared is deleted');
    assert.equal((await g().put(path, list(2_000), account.options)).status, 200);
    await countAgain(g());
  });

  test('a configuration that goes beyond is refused as a whole', async () => {
    const account = await newAccount(g());
    await account.set('ip_policies=2');
    const entries = ['one', 'two', 'three'].map((name) => ({ kind: 'ip_policies', name }));
    await account.refuses('/configuration', entries);
    assert.equal(await account.used('ip_policies'), 0);
  });

  test('the operator changes the defaults and single accounts, at once; nonsense changes nothing', async () => {
    const [own, other] = [await newAccount(g()), await newAccount(g())];
    const host = (set: string, account?: string) => runOnHost(g(), 'accounts quotas', { set, account });
    assert.match(await own.set('ip_policies=1, edges=7'), /^ip_policies +0 +1 {2}its own$/m);
    assert.match(await host('ip_policies=2'), /^ip_policies +2 +\d+$/m);
    try {
      const third = await newAccount(g());
      for (const [account, most] of [
        [own, 1],
        [other, 2],
        [third, 2],
      ] as const) {
        for (let made = 0; made < most; made++) await account.create('/ip_policies');
        await account.refuses('/ip_policies', {});
      }
      await own.set('ip_policies=default');
      await own.create('/ip_policies');
      // A later default holds for it again.
      await host('ip_policies=3');
      await own.create('/ip_policies');
      await own.refuses('/ip_policies', {});
      await own.set('ip_policies=1');
      // More than the quota: nothing comes in addition, and everything can be deleted.
      await own.refuses('/ip_policies', {});
      for (const { id } of (await g().get('/ip_policies', own.options)).body.ip_policies)
        assert.equal((await g().delete(`/ip_policies/${id}`, own.options)).status, 204);
    } finally {
      assert.match(await host('ip_policies=default'), /^ip_policies +100000 +\d+$/m, 'the one that was shipped');
    }
    await assert.rejects(host('edge=1'), /there is no quota "edge"; do you mean edges\?/);
    await assert.rejects(host('edges=many'), /edges: write a whole number/);
    await assert.rejects(host('edges=1', 'nobody'), /there is no account "nobody"/);
    const shown = await runOnHost(g(), 'accounts quotas', {});
    assert.match(shown, /^quota +default +most used\n/);
    assert.match(shown, /^edges +200000 +\d+$/m);
    assert.equal(new Set(shown.split('\n').map((line) => line.length)).size, 1, 'its columns are straight');
  });
});

onEachDatabase('quotas of two processes', (newDatabase) => {
  describe('over one database', () => {
    test('of 50 calls at the same time, as many succeed as the quota has room for', async () => {
      const url = await newDatabase();
      await using one = await Gatehouse.start(url, { metricsListen: '127.0.0.1:0' });
      await using two = await Gatehouse.start(url);
      const { account, options } = await newAccount(one);
      await runOnHost(two, 'accounts quotas', { set: 'edges=17', account });
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_each, at) => (at % 2 === 0 ? one : two).post('/edges/https', {}, options)),
      );
      assert.deepEqual(
        Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, all]) => [status, all?.length]),
        [
          ['201', 17],
          ['403', 33],
        ],
      );
      assert.equal((await one.get('/edges/https?limit=100', options)).body.https_edges.length, 17);
      const second = await newAccount(two);
      await second.set('edges=10, ip_policies=10');
      for (let made = 0; made < 8; made++) await second.create('/edges/https');
      for (let made = 0; made < 7; made++) await second.create('/ip_policies');
      await countAgain(one);
      const metrics = await (await fetch(`http://127.0.0.1:${one.app.metricsPort}/metrics`)).text();
      const lines = metrics.split('\n').filter((line) => line.startsWith('gatehouse_quota_used_ratio{'));
      const line = (of: string, ratio: number) => `gatehouse_quota_used_ratio{account="${of}",quota="edges"} ${ratio}`;
      assert.deepEqual(lines, [line(account, 1), line(second.account, 0.8)], 'the nearest first');
    });
  });
});

const open = (url: string, steps: readonly Migration[]) =>
  openStore({ url, migrations: steps, onFeedFault: assert.ifError });

onEachDatabase('quotas of a database from before there were any', (_newDatabase, newEmpty) => {
  test('nothing is lost: an account that has much may have twice as much, others the defaults', async () => {
    const url = await newEmpty();
    const isLater = (name: string) => name.startsWith('quotas ') || name === 'edges 0001 accounts of ports';
    await using before = await open(
      url,
      migrations.filter(({ name }) => !isLater(name)),
    );
    await before.writeUnlogged(async (writer) => {
      for (const id of ['ac_large', 'ac_small'])
        await writer.run(`INSERT INTO accounts (id, account_id, document, name) VALUES ($1, $1, '{}', $1)`, [id]);
      await writer.run(`
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5001)
        INSERT INTO ip_restrictions (id, account_id, document, type, enforced)
        SELECT 'ipx_' || n, 'ac_large', '{}', 'api', 0 FROM numbers`);
      await writer.run(`INSERT INTO tcp_edges (id, account_id, document) VALUES ('edgtcp_1', 'ac_small', '{}')`);
      await writer.run(`INSERT INTO tcp_edge_ports (port, edge_id) VALUES (10001, 'edgtcp_1')`);
    });
    await using after = await open(url, migrations);
    const sql =
      'SELECT account_id, quota, used, most, is_own FROM account_usage WHERE used > 0 ORDER BY account_id, quota';
    assert.deepEqual(await after.queries.all(sql), [
      ['ac_large', 'ip_restrictions', 5001, 10_002, 1],
      ['ac_small', 'edges', 1, 200_000, 0],
      ['ac_small', 'tcp_ports', 1, 5_000, 0],
    ]);
    await after.writeUnlogged(async (writer) => {
      await writer.run(`DELETE FROM tcp_edges WHERE id = 'edgtcp_1'`);
    });
    const [left] = await after.queries.all(`SELECT SUM(used) FROM account_usage WHERE account_id = 'ac_small'`);
    assert.equal(Number(left?.[0]), 0);
  });

  test('every table with rows of accounts is counted, or is known to be bounded otherwise', async () => {
    const url = await newEmpty();
    await using store = await open(url, migrations);
    const tables = await readTables(store.queries, url.startsWith('sqlite:') ? 'sqlite' : 'postgres');
    const ofAccounts = tables.filter(({ columns }) => columns.includes('account_id')).map(({ name }) => name);
    const known = new Set([...counted.map(({ table }) => table), ...uncounted]);
    assert.deepEqual(ofAccounts.toSorted(), [...known].toSorted());
  });
});
