import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';

import { ClientAuthority } from '../support/client-certificates.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { lead, onDashboard } from './support/dashboard.ts';

const host = 'greeter.site.test';

/** What a visitor reads first; '' where the handshake fails or the connection is closed. */
async function firstWords(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername: host, rejectUnauthorized: false });
  let words = '';
  socket.on('data', (chunk: Buffer) => {
    words += chunk.toString();
  });
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('close', resolve));
  return words;
}

onDashboard(
  'the pages of TLS edges',
  (d) => {
    const g = () => d().gatehouse;

    test('a TLS edge is made with a new backend, ends TLS, asks for certificates, and is deleted', async (t) => {
      const server = createServer((socket) => socket.on('error', () => undefined).end('hello from behind'));
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      // A server that listens on a port has an address of this form.
      const { port: upstreamPort } = server.address() as AddressInfo;
      const port = g().httpsPort;
      const authority = new ClientAuthority('staff');
      await g().create('/certificate_authorities', { ca_pem: authority.pem, description: 'Staff' });

      const page = await d().open({ path: '/tls-edges' });
      await page.getByRole('button', { name: 'Create TLS edge' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('Greeter');
      await dialog.getByLabel('Hostport', { exact: true }).fill(host);
      await dialog.getByLabel('Backend').selectOption({ label: 'A new address…' });
      await dialog.getByLabel('Address').fill(`127.0.0.1:${upstreamPort}`);
      await dialog.getByRole('button', { name: 'Create edge' }).click();
      await page.getByRole('heading', { name: 'Greeter' }).waitFor();
      await page.getByText('TLS is passed on unread').waitFor();

      await page.getByRole('button', { name: 'Set up TLS termination' }).click();
      await page.getByLabel('Where TLS ends').selectOption({ label: 'Here: TLS 1.3 alone' });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('switch', { name: 'TLS termination', checked: true }).waitFor();
      await page.getByText('Here: TLS 1.3 alone').waitFor();
      await until(async () => (await firstWords(port)) === 'hello from behind', 'a connection comes through');
      const [edge] = (await g().get('/edges/tls')).body.tls_edges;
      assert.deepEqual(edge.tls_termination, { enabled: true, terminate_at: 'edge', min_version: '1.3' });

      await page.getByText('Nobody is counted').waitFor();
      await page.getByRole('button', { name: 'Set up rate limit' }).click();
      const rate = page.getByRole('form', { name: 'Rate limit' });
      await rate.getByLabel('Connections that each may make').fill('7');
      assert.equal(await rate.getByLabel('Counted for each').count(), 0, 'connections are counted by source alone');
      await rate.getByRole('button', { name: 'Save rate limit' }).click();
      await page.getByText('7 within 60 seconds for each source address').waitFor();
      assert.equal((await g().get(`/edges/tls/${edge.id}`)).body.rate_limit.limit, 7);

      await lead(page, `/who-gets-in?ip=203.0.113.7&edge=${edge.id}`);
      await page.getByText('Greeter').first().waitFor();
      await lead(page, `/backends/${edge.backend.backend.id}`);
      await page.getByRole('link', { name: 'TLS edge Greeter' }).click();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByText(`${host}:443`).waitFor();
      await dialog.getByLabel('Type Greeter to go on').fill('Greeter');
      await dialog.getByRole('button', { name: 'Delete edge' }).click();
      await page.getByText('Deleted the edge Greeter.').waitFor();
      assert.deepEqual((await g().get('/edges/tls')).body.tls_edges, []);
    });

    test('what cannot be kept where TLS is passed on is said, and nothing is set', async () => {
      const authority = new ClientAuthority('staff');
      const ca = await g().create('/certificate_authorities', { ca_pem: authority.pem, description: 'Visitors' });
      const edge = await g().create('/edges/tls', {
        description: 'Guarded',
        mutual_tls: { certificate_authority_ids: [ca.id] },
        tls_termination: {},
      });
      const page = await d().open({ path: `/tls-edges/${edge.id}?module=tls_termination&act=edit` });
      await page.getByLabel('Where TLS ends').selectOption({ label: 'At the upstream: passed on unread' });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('mutual_tls needs TLS to end at the edge').waitFor();
      assert.deepEqual((await g().get(`/edges/tls/${edge.id}`)).body.tls_termination, edge.tls_termination);
    });
  },
  { httpsListen: '127.0.0.1:0' },
);
