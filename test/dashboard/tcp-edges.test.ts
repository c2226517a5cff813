import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { freePort } from '../support/free-port.ts';
import { onDashboard } from './support/dashboard.ts';

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
    afterEach(() => d().endTest());
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
      await dialog.getByText('is not a port').waitFor();
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
      await dialog.getByRole('button', { name: 'Delete backend' }).click();
      await dialog.getByText('is still used by').waitFor();
      assert.equal((await g().get(`/backends/static/${backend.id}`)).status, 200);
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
  { httpsListen: '127.0.0.1:0', tcpPorts: '1024-65535' },
);
