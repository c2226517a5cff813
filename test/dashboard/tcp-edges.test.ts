import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { freePort } from '../support/free-port.ts';
import { lead, onDashboard } from './support/dashboard.ts';

/** What a visitor of the port reads first; '' where the connection is refused or closed. */
async function firstWords(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let words = '';
  socket.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  socket.on('error', () => undefined);
  // An error comes before the close, and says no more than an empty text.
  await new Promise((resolve) => socket.once('close', resolve));
  return words;
}

onDashboard(
  'the pages of TCP edges and backends',
  (d) => {
    const g = () => d().gatehouse;

    test('a TCP edge is made with a new backend, and a connection comes through it until it is restricted', async (t) => {
      const server = createServer((socket) => socket.on('error', () => undefined).end('hello from behind'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      // A server that listens on a port has an address of this form.
      const { port: upstreamPort } = server.address() as AddressInfo;
      const port = await freePort();
      await g().create('/ip_policies', { description: 'Nobody' });

      const page = await d().open({ path: '/tcp-edges' });
      await page.getByRole('button', { name: 'Create TCP edge' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('Greeter');
      await dialog.getByLabel('Hostport', { exact: true }).fill('tcp.test:99999');
      await dialog.getByRole('button', { name: 'Create edge' }).click();
      await dialog.getByText('is not valid. Give a number').waitFor();
      await dialog.getByLabel('Hostport', { exact: true }).fill(`tcp.test:${port}`);
      await dialog.getByLabel('Backend').selectOption({ label: 'A new address…' });
      await dialog.getByLabel('Address').fill(`127.0.0.1:${upstreamPort}`);
      await dialog.getByRole('button', { name: 'Create edge' }).click();
      await page.getByRole('heading', { name: 'Greeter' }).waitFor();
      await until(async () => (await firstWords(port)) === 'hello from behind', 'a connection comes through');

      await page.getByRole('button', { name: 'Set up IP restriction' }).click();
      await page.getByLabel('Let in addresses of').selectOption({ label: 'Nobody' });
      await page.getByRole('button', { name: 'Save, then see who gets in' }).click();
      await dialog.getByText('no rule contains it').waitFor();
      assert.equal(await firstWords(port), 'hello from behind');
      await dialog.getByRole('button', { name: 'Switch on' }).click();
      await page.getByRole('switch', { name: 'IP restriction', checked: true }).waitFor();
      await until(async () => (await firstWords(port)) === '', 'connections are refused');

      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByText(`tcp.test:${port}`).waitFor();
      await dialog.getByLabel('Type Greeter to go on').fill('Greeter');
      await dialog.getByRole('button', { name: 'Delete edge' }).click();
      await page.getByText('Deleted the edge Greeter.').waitFor();
      assert.deepEqual((await g().get('/edges/tcp')).body.tcp_edges, []);
    });

    test('a backend says what uses it, is edited, and is not deleted while it is used', async () => {
      const backend = await g().create('/backends/static', { address: '10.0.0.1:80', description: 'Orders' });
      await g().create('/edges/tcp', { description: 'Replica', backend: { backend_id: backend.id } });
      const page = await d().open({ path: `/backends/${backend.id}` });
      await page.getByRole('link', { name: 'TCP edge Replica' }).waitFor();
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Address', { exact: true }).fill('10.0.0.2');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('The address "10.0.0.2" is not of the form host:port').waitFor();
      await page.getByLabel('Address', { exact: true }).fill('10.0.0.2:443');
      await page.getByLabel('It speaks TLS').check();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('over TLS').waitFor();
      const { body } = await g().get(`/backends/static/${backend.id}`);
      assert.deepEqual([body.address, body.tls.enabled], ['10.0.0.2:443', true]);

      await page.getByRole('button', { name: 'Delete…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('TCP edge Replica').first().waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Still used by 1' }).isDisabled());
    });

    test('a backend gets more addresses and checks, and shows what the gateway sees of each', async (t) => {
      const server = createServer((socket) => void socket.on('error', () => {}).end()).listen(0, '127.0.0.1');
      t.after(() => server.close());
      await once(server, 'listening');
      // The server listens on a port.
      const { port } = server.address() as AddressInfo;
      const backend = await g().create('/backends/static', { address: `127.0.0.1:${port}`, description: 'Pool' });
      const page = await d().open({ path: `/backends/${backend.id}` });
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('button', { name: 'Add address' }).click();
      await page.getByLabel('Address 2', { exact: true }).fill('127.0.0.1:1');
      await page.getByLabel('Weight 2').fill('5');
      await page.getByLabel('Which one a request goes to').selectOption('least_connections');
      await page.getByLabel('When all are down').selectOption('fail_closed');
      await page.getByLabel('Every gateway checks each of them').check();
      await page.getByLabel('Kind').selectOption('tcp');
      await page.getByLabel('Every seconds').fill('1');
      await page.getByLabel('Wait at most').fill('1');
      await page.getByLabel('Out after').fill('1');
      await page.getByLabel('Real requests count').check();
      await page.getByLabel('Failing answers').fill('502-504, 500');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: /^Addresses/ }).waitFor();
      const { body } = await g().get(`/backends/static/${backend.id}`);
      assert.deepEqual(body.addresses, [
        { address: `127.0.0.1:${port}`, weight: 1 },
        { address: '127.0.0.1:1', weight: 5 },
      ]);
      assert.deepEqual([body.balance, body.when_all_down], [{ by: 'least_connections' }, 'fail_closed']);
      assert.deepEqual(body.passive_check.statuses, ['502-504', '500']);
      assert.equal(body.active_check.kind, 'tcp');
      await page.getByText('1 of 2 answer').waitFor();
      await page.getByText('127.0.0.1:1 went down').waitFor();
      await page.getByRole('heading', { name: '127.0.0.1:1 is down' }).waitFor();
      await page
        .getByText(/ECONNREFUSED 127\.0\.0\.1:1, \d+ failures? in a row, down since .* carry its share\./)
        .waitFor();
      await page.getByText(/^A connection every 1 s from each gateway: opened within 1 s/).waitFor();
      await page.getByText('Fails closed: visitors get 503').waitFor();
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByRole('button', { name: 'Take out address 2' }).click();
      await page.getByLabel('Every gateway checks each of them').uncheck();
      await page.getByLabel('Real requests count').uncheck();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('heading', { name: /^Addresses/ }).waitFor({ state: 'detached' });
      const after = (await g().get(`/backends/static/${backend.id}`)).body;
      assert.deepEqual(
        [after.address, after.addresses, after.active_check],
        [`127.0.0.1:${port}`, undefined, undefined],
      );
      server.close();
    });

    test('a backend is made with several addresses at once', async () => {
      const page = await d().open({ path: '/backends?create=1' });
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Address').fill('10.0.0.1:80');
      await dialog.getByRole('button', { name: 'Add address' }).click();
      await dialog.getByLabel('Address 2', { exact: true }).fill('10.0.0.2:80');
      await dialog.getByLabel('Weight 2').fill('3');
      await dialog.getByLabel('Description').fill('both halls');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await page.getByRole('heading', { name: 'both halls' }).waitFor();
      const { backends } = (await g().get('/backends/static')).body;
      const made = backends.find(({ description }: { readonly description?: string }) => description === 'both halls');
      assert.deepEqual(made.addresses, [
        { address: '10.0.0.1:80', weight: 1 },
        { address: '10.0.0.2:80', weight: 3 },
      ]);
    });

    test('backends that stand for others are made with the mouse, and a member says who names it', async () => {
      const app = await g().create('/backends/static', { address: 'app.internal:80', description: 'the app' });
      const page = await d().open({ path: '/backends?kind=http_response' });
      await page.getByRole('button', { name: 'Create backend' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Status').fill('99');
      await dialog.getByLabel('Body').fill('Later.');
      await dialog.getByLabel('Description').fill('the page');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await dialog.getByText('status_code').first().waitFor();
      await dialog.getByLabel('Status').fill('503');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await page.getByRole('heading', { name: 'the page' }).waitFor();

      await lead(page, '/backends?kind=weighted&create=1');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await dialog.getByText('This backend needs other backends.').waitFor();
      await dialog.getByLabel('Backend 1', { exact: true }).selectOption({ label: 'the app' });
      await dialog.getByLabel('Weight 1').fill('90');
      await dialog.getByRole('button', { name: 'Add backend' }).click();
      await dialog.getByLabel('Backend 2', { exact: true }).selectOption({ label: 'the page' });
      await dialog.getByLabel('Weight 2').fill('10');
      await dialog.getByLabel('Description').fill('split');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await page.getByRole('heading', { name: 'split' }).waitFor();
      const [made] = (await g().get('/backends/weighted')).body.backends;
      assert.equal(made.backends[app.id], 90);
      await page.getByRole('link', { name: 'the app' }).click();
      await page.getByText('Weighted backend split').waitFor();
    });

    test('a tunnel group is made of labels', async () => {
      const page = await d().open({ path: '/backends?kind=tunnel_group' });
      await page.getByRole('button', { name: 'Create backend' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await dialog.getByText('The labels are not acceptable').waitFor();
      await dialog.getByLabel('Label', { exact: true }).fill('app');
      await dialog.getByLabel('Value').fill('scanner');
      await dialog.getByRole('button', { name: 'Create backend' }).click();
      await page.getByRole('heading', { name: 'app=scanner' }).waitFor();
      await page.getByText('No agent has a tunnel with these labels').waitFor();
      const { body } = await g().get('/backends/tunnel_group');
      assert.deepEqual(body.backends[0].labels, { app: 'scanner' });
    });
  },
  { httpsListen: '127.0.0.1:0', tcpPorts: '10000-32767' },
);
