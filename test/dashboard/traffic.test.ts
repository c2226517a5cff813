import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Page } from 'playwright-core';

import { askHttps } from '../e2e/gateway/support/traffic.ts';
import type { Asking } from '../e2e/gateway/support/traffic.ts';
import { startUpstream } from '../e2e/gateway/support/upstream.ts';
import type { Upstream } from '../e2e/gateway/support/upstream.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { restrict } from './support/restrictions.ts';

const host = 'booking.kestrel.test';

onDashboard(
  'live traffic',
  (d) => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      const { gatehouse } = d();
      const backend = await gatehouse.create('/backends/static', {
        address: `127.0.0.1:${upstream.port}`,
        description: 'booking-blue',
      });
      const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`], description: 'Booking API' });
      await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
        request_headers: { add: { 'x-internal-zone': 'booking' }, remove: ['x-debug-user'] },
      });
    });
    after(() => upstream[Symbol.asyncDispose]());

    const ask = (path: string, asking: Asking = {}) => askHttps(d().gatehouse.httpsPort, host, { path, ...asking });
    const openLive = async (path = '/traffic'): Promise<Page> => {
      const page = await d().open({ path });
      await page.getByText(/^[\d.,]+ a second/).waitFor();
      return page;
    };

    test('shows requests as they happen, and opens one to its decision', async () => {
      const { id } = await restrict(d().gatehouse, {
        type: 'endpoints',
        description: 'Depots',
        allow: ['127.0.0.0/30'],
      });
      await d().gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
      const page = await openLive();
      await ask('/v2/bookings?token=secret-of-a-query');
      await ask('/v2/admin', { from: '127.0.0.9' });
      const refused = page.getByRole('row').filter({ hasText: '/v2/admin' });
      await refused.getByText('Refused').waitFor();
      await refused.getByText('127.0.0.9').first().waitFor();
      await refused.getByText('403').waitFor();
      await refused.getByText(host, { exact: true }).waitFor();
      await refused.getByText('Booking API', { exact: true }).waitFor();
      await page.setViewportSize({ width: 1024, height: 768 });
      const { y = 768, height = 0 } = (await refused.boundingBox()) ?? {};
      assert.ok(y + height < 768, `a row ends at ${y + height}`);
      await lookAt(page, 'traffic-list');
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.getByRole('link', { name: 'GET /v2/bookings' }).click();
      const sheet = page.getByRole('complementary', { name: /^Let in, 200 in/ });
      await sheet.getByText('added: x-internal-zone').waitFor();
      await sheet.getByText('removed: x-debug-user').waitFor();
      await sheet.getByText('booking-blue').waitFor();
      await sheet.getByRole('link', { name: 'Booking API' }).waitFor();
      await lookAt(page, 'traffic');
      await page.setViewportSize({ width: 1280, height: 900 });
      assert.ok(!(await page.content()).includes('secret-of-a-query'));
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'GET /v2/admin' }).click();
      const denied = page.getByRole('complementary', { name: /^Refused, 403/ });
      await denied.getByRole('link', { name: 'Depots', exact: true }).waitFor();
      assert.equal((await d().gatehouse.delete(`/ip_restrictions/${id}`)).status, 204);
    });

    test('is held by the space bar, and goes on with what has come since', async () => {
      const page = await openLive();
      await ask('/before');
      await page.getByRole('link', { name: 'GET /before' }).waitFor();
      await page.keyboard.press('Space');
      await page.getByRole('button', { name: 'Go on' }).waitFor();
      await ask('/while-held');
      await page.getByText('1 newer one waits').waitFor();
      assert.equal(await page.getByRole('link', { name: 'GET /while-held' }).count(), 0);
      await page.keyboard.press('Space');
      await page.getByRole('link', { name: 'GET /while-held' }).waitFor();
    });

    test('has its filters in the URL', async () => {
      const page = await openLive('/traffic?q=%2Fwanted');
      await ask('/other');
      await ask('/wanted');
      await page.getByRole('link', { name: 'GET /wanted' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'GET /other' }).count(), 0);
      await page.getByLabel('Verdict').selectOption('refused');
      await page.getByText('Nothing that came fits the filter').waitFor();
      assert.match(page.url(), /verdict=refused/);
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await page.getByRole('link', { name: 'GET /other' }).waitFor();
    });

    test('says in words what the last hour was', async () => {
      await ask('/counted');
      const page = await openLive();
      await page.getByRole('img', { name: /came in the last hour; \d+ refused, \d+ warned/ }).waitFor();
    });

    test('draws the last hour of one edge, on its own page too', async () => {
      const { gatehouse } = d();
      const edge = await gatehouse.create('/edges/https', { hostports: ['alone.test:443'], description: 'Alone' });
      const page = await openLive(`/traffic?edge=${edge.id}`);
      await page.getByRole('heading', { name: 'a minute, this edge' }).waitFor();
      await page.getByRole('img', { name: 'Nothing came in the last hour.' }).waitFor();
      await askHttps(gatehouse.httpsPort, 'alone.test', { path: '/' });
      await page.getByRole('img', { name: /^1 came in the last hour/ }).waitFor();
      await lead(page, `/https-edges/${edge.id}`);
      await page.getByRole('img', { name: /^1 came in the last hour/ }).waitFor();
    });

    test('leads to past requests, which name the setting where none are kept, and show nothing green', async () => {
      const page = await openLive();
      await page.getByRole('link', { name: 'Past requests' }).last().click();
      await page.getByText('No decisions are kept, so nothing can be shown').waitFor();
      await page.getByText('GATEHOUSE_DECISIONS=/', { exact: false }).waitFor();
      assert.equal(await page.locator('main .g-allow').count(), 0);
      await lookAt(page, 'past-requests-not-kept');
      await lead(page, '/requests/op_2tQzYDLwIVU45s8sSMNpRfQp1Ng');
      await page.getByText('No decisions are kept, so nothing can be shown').waitFor();
    });
  },
  { httpsListen: '127.0.0.1:0', drainSeconds: '0' },
);
