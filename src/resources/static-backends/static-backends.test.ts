import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import type { BackendReport } from '../../observe/backend-health.ts';
import { writeReports } from './health-table.ts';
import { staticBackendsResource } from './index.ts';

const path = '/backends/static';
const longText = 'ü'.repeat(128);

onGatehousesInTurn(
  'static backends',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));

    test('a backend is created with every field, and read back the same', async () => {
      const body = { description: 'shop', metadata: '{"a":1}', address: 'App.internal:8080', tls: { enabled: true } };
      const { status, body: created } = await g().post(path, body);
      assert.equal(status, 201);
      assert.match(created.id, /^bkdsc_[0-9A-Za-z]{27}$/);
      assert.equal(created.uri, `${g().url}${path}/${created.id}`);
      assert.match(created.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const { id, uri, created_at, ...rest } = created;
      assert.deepEqual(rest, body);
      const read = await g().get(`${path}/${id}`);
      assert.equal(read.status, 200);
      assert.deepEqual(read.body, created);
      assert.ok(uri && created_at);
    });

    test('only an address is needed; TLS is off and shown, texts are left out', async () => {
      for (const body of [
        { address: '127.0.0.1:80' },
        { address: '[2001:db8::1]:80', tls: {}, description: '', metadata: '' },
        { address: 'a:65535', tls: null, description: null, metadata: null },
        { address: 'a:1', tls: { enabled: null } },
      ]) {
        const created = await g().create(path, body);
        assert.deepEqual(created.tls, { enabled: false });
        assert.equal(created.address, body.address);
        assert.deepEqual(Object.keys(created), ['id', 'uri', 'created_at', 'address', 'tls']);
      }
    });

    test('what is wrong with an address is told by its own number', async () => {
      for (const body of [undefined, {}, { address: null }, { address: '' }]) {
        await refuses(g(), ['POST', path, body], 400, 6505);
      }
      await refuses(g(), ['POST', path, { address: ':80' }], 400, 6507);
      for (const address of [
        'localhost',
        'localhost:',
        'localhost:0',
        'localhost:65536',
        'localhost:http',
        'localhost:080',
        'http://localhost:80',
        'local host:80',
        'localhost:80 ',
        'a\u0000b:80',
        'münchen.example:80',
        '2001:db8::1:80',
        '[fe80::1%eth0]:80',
        `${'a'.repeat(64)}.example:80`,
        `${'abcdefghi.'.repeat(30)}example:80`,
        'a:80\r\nx: y',
        '\uD800:80',
      ]) {
        const message = await refuses(g(), ['POST', path, { address }], 400, 6506);
        for (const hostile of ['\r', '\n', '\u0000']) assert.ok(!message.includes(hostile));
      }
    });

    test('forms and limits of the other fields', async () => {
      const address = 'localhost:80';
      await refuses(g(), ['POST', path, { address, description: longText }], 400, 6503);
      await refuses(g(), ['POST', path, { address, metadata: longText.repeat(17) }], 400, 6504);
      await refuses(g(), ['POST', path, { address, description: '\uDC00' }], 400, 20010);
      await refuses(g(), ['POST', path, { address: 80 }], 400, 215);
      await refuses(g(), ['POST', path, { address, tls: true }], 400, 215);
      await refuses(g(), ['POST', path, { address, tls: { enabled: 'yes' } }], 400, 215);
      await refuses(g(), ['POST', path, { address, tls: { verify: false } }], 400, 214);
      await refuses(g(), ['POST', path, { address, weight: 1 }], 400, 214);
      const most = { address, description: `${longText.slice(1)}x`, metadata: 'x'.repeat(4096) };
      const created = await g().create(path, most);
      assert.equal(created.description, most.description);
      assert.equal(created.metadata, most.metadata);
    });

    test('PATCH changes what is given and keeps the rest', async () => {
      const created = await g().create(path, { address: 'a:1', tls: { enabled: true }, description: 'd' });
      const one = `${path}/${created.id}`;
      const { version } = g().app.context.store;
      for (const nothing of [undefined, {}, { address: '', tls: {} }, { tls: { enabled: null } }, { id: created.id }]) {
        const { status, body } = await g().patch(one, nothing);
        assert.equal(status, 200);
        assert.deepEqual(body, created);
      }
      assert.equal(g().app.context.store.version, version, 'a PATCH of nothing has written something');
      const changed = await g().patch(one, {
        address: 'b:2',
        tls: { enabled: false },
        metadata: 'm',
        description: '',
      });
      const { description: _gone, ...kept } = created;
      assert.deepEqual(changed.body, { ...kept, address: 'b:2', tls: { enabled: false }, metadata: 'm' });
      assert.deepEqual((await g().get(one)).body, changed.body);
      await refuses(g(), ['PATCH', one, { address: 'b' }], 400, 6506);
      await refuses(g(), ['PATCH', one, { address: ':2' }], 400, 6507);
      await refuses(g(), ['PATCH', one, { id: 'bkdsc_other' }], 400, 20015);
      assert.deepEqual((await g().get(one)).body, changed.body);
    });

    test('several addresses are kept, and the first of them is the address', async () => {
      const addresses = [{ address: 'a:1', weight: 3 }, { address: 'b:2' }];
      const created = await g().create(path, { addresses });
      const one = `${path}/${created.id}`;
      const both = [addresses[0], { address: 'b:2', weight: 1 }];
      assert.deepEqual([created.address, created.addresses], ['a:1', both]);
      // As clients that know one address: they send what they read, or another.
      assert.deepEqual((await g().patch(one, { address: 'a:1', tls: {} })).body, created);
      const moved = await g().patch(one, { address: 'c:3' });
      assert.deepEqual([moved.body.address, moved.body.addresses], ['c:3', [{ address: 'c:3', weight: 3 }, both[1]]]);
      const replaced = await g().patch(one, { addresses: [{ address: 'd:4' }, { address: 'c:3', weight: 0 }] });
      assert.equal(replaced.body.address, 'd:4');
      const alone = await g().patch(one, { addresses: [] });
      assert.deepEqual([alone.body.address, alone.body.addresses], ['d:4', undefined]);
      assert.equal((await g().create(path, { addresses: [{ address: 'a:1' }] })).addresses, undefined);
      for (const refused of [
        { address: 'x:1', addresses },
        { addresses: [...addresses, { address: 'A:1' }] },
        { addresses: [{ address: 'a:1', weight: 0 }] },
        { addresses: [{ address: 'a' }] },
        { addresses: [{ address: 'a:1', weight: -1 }] },
        { addresses: Array.from({ length: 33 }, (_, port) => ({ address: `a:${port + 1}` })) },
      ])
        assert.equal((await g().post(path, refused)).status, 400, JSON.stringify(refused));
      await refuses(g(), ['PATCH', one, { address: 'x' }], 400, 6506);
    });

    test('how addresses are chosen and watched is kept with its defaults, shown when set, and taken back', async () => {
      const address = 'a:1';
      const settings = {
        balance: { by: 'header', header: 'X-User' },
        retries: 2,
        when_all_down: 'fail_closed',
        slow_start_seconds: 30,
      };
      const created = await g().create(path, {
        address,
        ...settings,
        passive_check: { statuses: ['502-504'] },
        active_check: { path: '/healthz', host: 'app.example.com' },
      });
      const one = `${path}/${created.id}`;
      const passive_check = { failures: 3, statuses: ['502-504'], down_seconds: 10 };
      const times = { interval_seconds: 30, timeout_seconds: 2, failures: 3, passes: 2 };
      const active_check = {
        kind: 'http',
        path: '/healthz',
        host: 'app.example.com',
        statuses: ['200-399'],
        ...times,
      };
      const { id, uri, created_at, ...shown } = created;
      assert.ok(id && uri && created_at);
      assert.deepEqual(shown, { address, tls: { enabled: false }, ...settings, passive_check, active_check });
      assert.deepEqual((await g().patch(one, { description: '' })).body, created);
      const tcp = await g().patch(one, { active_check: { kind: 'tcp' }, passive_check: { enabled: false } });
      assert.deepEqual(tcp.body.active_check, { kind: 'tcp', ...times });
      assert.equal(tcp.body.passive_check, undefined);
      const bare = await g().patch(one, {
        active_check: { enabled: false },
        balance: { by: 'round_robin' },
        retries: 1,
        when_all_down: 'fail_open',
        slow_start_seconds: 0,
      });
      assert.deepEqual(Object.keys(bare.body), ['id', 'uri', 'created_at', 'address', 'tls']);
      for (const refused of [
        { balance: { by: 'header' } },
        { balance: { by: 'header', header: 'a b' } },
        { balance: { by: 'luck' } },
        { retries: 6 },
        { when_all_down: 'closed' },
        { passive_check: { statuses: ['600'] } },
        { passive_check: { statuses: ['504-502'] } },
        { passive_check: { failures: 0 } },
        { active_check: { path: 'healthz' } },
        { active_check: { path: '/a b' } },
        { active_check: { host: 'a\r\nb' } },
        { active_check: { interval_seconds: 1, timeout_seconds: 2 } },
        { active_check: { kind: 'udp' } },
      ])
        assert.equal((await g().patch(one, refused)).status, 400, JSON.stringify(refused));
    });

    test('what a file leaves out is taken back, setting by setting', async () => {
      const { token } = await newStranger();
      const entry = { kind: 'static_backends', name: 'app', address: 'a:1' };
      const settings = {
        addresses: [{ address: 'a:1' }, { address: 'a:2' }],
        tls: { enabled: true },
        balance: { by: 'source' },
        retries: 2,
        when_all_down: 'fail_closed',
        slow_start_seconds: 30,
        passive_check: { statuses: ['503'] },
        active_check: { kind: 'tcp' },
      };
      const apply = async (given: object) => {
        assert.equal((await g().post('/configuration', [{ ...entry, ...given }], { token })).status, 200);
        const { id, uri, created_at, ...shown } = (await g().get(path, { token })).body.backends[0];
        assert.ok(id && uri && created_at);
        return shown;
      };
      const bare = await apply({});
      const all = await apply(settings);
      assert.deepEqual(Object.keys(all).toSorted(), [...Object.keys(settings), 'address'].toSorted());
      assert.deepEqual(await apply({}), bare);
    });

    test('the health of a backend is shown to its account', async () => {
      const plain = await g().create(path, { address: 'a:1' });
      const { body } = await g().get(`${path}/${plain.id}/health`);
      const uri = `${g().url}${path}/${plain.id}/health`;
      const addresses = [{ address: 'a:1', weight: 1, gateways: [] }];
      assert.deepEqual(body, { id: plain.id, uri, state: 'unwatched', addresses, flips: [] });
      await refuses(g(), ['GET', `${path}/${plain.id}/health`, undefined, await newStranger()], 404, 6514);
      await refuses(g(), ['GET', `${path}/bkdsc_none/health`], 404, 6514);
    });

    test('reports about many backends are all written, and all removed', async () => {
      const { store } = g().app.context;
      const ids = Array.from({ length: 450 }, (_, at) => `bkdsc_${at}`);
      const count = async () => {
        const sql = "SELECT COUNT(*) FROM backend_health WHERE process_id = 'proc_many'";
        return Number((await store.queries.all(sql))[0]?.[0]);
      };
      const write = (report: BackendReport | undefined) =>
        writeReports(
          store,
          'proc_many',
          ids.map((id) => [id, report]),
        );
      await write({ addresses: [], flips: [] });
      assert.equal(await count(), 450);
      await write(undefined);
      assert.equal(await count(), 0);
    });

    test('backends are listed newest first, page by page', async () => {
      const made = [await g().create(path, { address: 'a:1' }), await g().create(path, { address: 'a:2' })];
      const { body } = await g().get(`${path}?limit=2`);
      assert.deepEqual(body.backends, made.toReversed());
      assert.equal(body.uri, `${g().url}${path}`);
      assert.equal(body.next_page_uri, `${g().url}${path}?before_id=${made[0].id}&limit=2`);
    });

    test('a backend in use cannot be deleted, and can once nothing uses it', async () => {
      const backend = await g().create(path, { address: 'a:1' });
      const module = { backend: { backend_id: backend.id } };
      const edge = await g().create('/edges/tcp', { ...module, description: 'db' });
      const https = await g().create('/edges/https');
      const route = await g().create(`/edges/https/${https.id}/routes`, {
        match: '/',
        match_type: 'exact_path',
        ...module,
      });
      const message = await refuses(g(), ['DELETE', `${path}/${backend.id}`], 409, 20013);
      assert.ok(message.includes(`the TCP edge "db" (${edge.id})`), message);
      assert.ok(message.includes(`the route "/" (${route.id})`), message);
      await g().delete(`/edges/tcp/${edge.id}`);
      await refuses(g(), ['DELETE', `${path}/${backend.id}`], 409, 20013);
      await g().delete(`/edges/https/${https.id}/routes/${route.id}/backend`);
      assert.equal((await g().delete(`${path}/${backend.id}`)).status, 204);
      await refuses(g(), ['GET', `${path}/${backend.id}`], 404, 6514);
      const other = await refuses(g(), ['GET', `${path}/${edge.id}`], 404, 6514);
      assert.ok(other.includes(`(such ids begin with "bkdsc_")`), other);
      await refuses(g(), ['DELETE', `${path}/${backend.id}`], 404, 6514);
    });

    test('an address that leads to the installation itself is taken with a warning', async () => {
      const { host, port } = new URL(g().url);
      for (const address of [host, `localhost:${port}`, `[::1]:${port}`, `0.0.0.0:${port}`, `[::]:${port}`]) {
        const made = await g().post(path, { address: '192.0.2.1:80' });
        assert.equal(made.headers.get('gatehouse-warning'), null);
        const changed = await g().patch(`${path}/${made.body.id}`, { address });
        const warning = changed.headers.get('gatehouse-warning') ?? '';
        assert.ok(
          warning.startsWith(`${address} is the listener "api" of this installation`),
          `${address}: ${warning}`,
        );
        const pool = await g().post(path, { addresses: [{ address: '192.0.2.1:80' }, { address }] });
        assert.equal(pool.headers.get('gatehouse-warning'), warning);
      }
      const other = await g().post(path, { address: '127.0.0.1:1' });
      assert.deepEqual([other.status, other.headers.get('gatehouse-warning')], [201, null]);
    });

    test("another account's backends do not exist", async () => {
      const { id } = await g().create(path, { address: 'a:1' });
      const stranger = await newStranger();
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? {} : undefined;
        await refuses(g(), [method, `${path}/${id}`, body, stranger], 404, 6514);
      }
      assert.deepEqual((await g().get(path, stranger)).body.backends, []);
      await refuses(g(), ['POST', '/edges/tcp', { backend: { backend_id: id } }, stranger], 400, 6501);
    });

    test('the gateway is told account, host, port and TLS', async () => {
      const { id } = await g().create(path, { address: '[2001:DB8::1]:8443', tls: { enabled: true } });
      const { context } = g().app;
      const [compiler] = staticBackendsResource.compilers?.(context) ?? [];
      const entries = await compiler?.load(context.store.queries, [id, 'bkdsc_gone']);
      const [row] = await context.store.queries.all('SELECT account_id FROM static_backends WHERE id = $1', [id]);
      const accountId = String(row?.[0]);
      assert.deepEqual(entries, [{ kind: 'backend', id, accountId, host: '2001:db8::1', port: 8443, tls: true }]);
      const several = await g().create(path, {
        addresses: [{ address: 'A:1' }, { address: '[2001:DB8::1]:2', weight: 0 }],
        balance: { by: 'header', header: 'X-User' },
        slow_start_seconds: 30,
        passive_check: { statuses: ['503', '500-501'] },
        active_check: { path: '/healthz', interval_seconds: 5, timeout_seconds: 3 },
      });
      assert.deepEqual(await compiler?.load(context.store.queries, [several.id]), [
        {
          kind: 'backend',
          id: several.id,
          accountId,
          host: 'a',
          port: 1,
          tls: false,
          balance: {
            addresses: [
              { host: 'a', port: 1, weight: 1 },
              { host: '2001:db8::1', port: 2, weight: 0 },
            ],
            by: 'header',
            header: 'x-user',
            retries: 1,
            whenAllDown: 'fail_open',
            slowStartMs: 30_000,
            active: {
              kind: 'http',
              path: '/healthz',
              statuses: [[200, 399]],
              intervalMs: 5000,
              timeoutMs: 3000,
              failures: 3,
              passes: 2,
            },
            passive: {
              failures: 3,
              statuses: [
                [503, 503],
                [500, 501],
              ],
              downMs: 10_000,
            },
          },
        },
      ]);
      const all = await compiler?.load(context.store.queries, undefined);
      assert.ok(all?.some((entry) => entry.id === id) && all.length > 1);
    });
  },
  { role: 'api' },
);
