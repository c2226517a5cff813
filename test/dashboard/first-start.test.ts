import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import type { Gatehouse } from '../support/gatehouse.ts';
import { onDashboard } from './support/dashboard.ts';
import { startUpstream } from './support/edge-traffic.ts';
import { lookAt } from './support/looks.ts';

const host = 'shop.kestrel.example';

async function visitFrom(localAddress: string, { app }: Gatehouse): Promise<[status: number, body: string]> {
  const sent = request({
    localAddress,
    host: '127.0.0.1',
    port: app.engine?.httpsPort(),
    servername: host,
    ca: app.engine?.caCertificatePem,
    headers: { host },
    agent: false,
  });
  sent.end();
  const [response] = await once(sent, 'response');
  return [response.statusCode, await text(response)];
}

onDashboard(
  'a first start',
  (d) => {
    test('leads with the mouse from an empty installation to an edge that lets in one address only', async () => {
      await using upstream = await startUpstream('the shop');
      const page = await d().openSignedOut();
      await page.getByLabel('API token').fill(d().gatehouse.token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();

      const step = page.locator('.steps [aria-current="step"]');
      const dialog = page.getByRole('dialog');
      await step.getByRole('link', { name: 'Add a backend' }).click();
      await dialog.getByLabel('Address').fill(upstream.address);
      await dialog.getByRole('button', { name: 'Create backend' }).click();

      await step.getByRole('link', { name: 'Create an HTTPS edge' }).click();
      await dialog.getByLabel('Hostport', { exact: true }).fill(host);
      await dialog.getByRole('button', { name: 'Create edge' }).click();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      assert.deepEqual(await visitFrom('127.0.0.1', d().gatehouse), [200, 'the shop']);
      assert.deepEqual(await visitFrom('127.0.0.2', d().gatehouse), [200, 'the shop']);

      await step.getByRole('link', { name: 'Add a restriction' }).click();
      await dialog.getByRole('button', { name: 'New IP policy…' }).click();
      await dialog.getByLabel('Name of the policy').fill('My own address');
      assert.equal(await dialog.getByLabel('Range to let in').inputValue(), '127.0.0.1/32');
      await lookAt(page, 'first-start-restriction');
      await dialog.getByRole('button', { name: 'Create and use it' }).click();
      await dialog.getByRole('button', { name: 'Take out My own address' }).waitFor();
      await dialog.getByRole('button', { name: 'Create, warning only' }).click();

      await page.getByText('Warns only').waitFor();
      assert.equal((await visitFrom('127.0.0.2', d().gatehouse))[0], 200, 'a restriction that warns refuses nobody');
      await page.getByRole('button', { name: 'Enforce…' }).click();
      await dialog.getByText('you stay in').waitFor();
      await dialog.getByRole('checkbox').check();
      await dialog.getByRole('button', { name: 'Enforce now' }).click();
      await page.getByText('Enforced: what no rule of its policies allows is refused').waitFor();

      await page.getByRole('main').getByRole('link', { name: 'Who gets in' }).click();
      const door = page.getByRole('row').filter({ hasText: host });
      await page.getByRole('button', { name: 'You, 127.0.0.1' }).click();
      await door.getByText('Let in', { exact: true }).first().waitFor();
      await page.getByLabel('Address', { exact: true }).fill('127.0.0.2');
      await page.getByRole('button', { name: 'Check' }).click();
      await door.getByText('Refused', { exact: true }).first().waitFor();
      assert.deepEqual(await visitFrom('127.0.0.1', d().gatehouse), [200, 'the shop']);
      assert.equal((await visitFrom('127.0.0.2', d().gatehouse))[0], 403);

      await page.getByRole('link', { name: 'Overview' }).click();
      await page.getByText('Nothing. No edge fails, no restriction only warns').waitFor();
      assert.equal(await page.locator('.steps').count(), 0);
    });
  },
  { httpsListen: '127.0.0.1:0' },
);
