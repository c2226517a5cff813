import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import type { Decision } from '../../src/decisions/decision-line.ts';
import type { Decisions } from '../../src/decisions/decisions.ts';
import { keptDecisions } from '../../src/resources/decisions/service.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { decision } from '../support/decisions.ts';
import { scratchFolder } from '../support/scratch.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

const minuteMs = 60_000;

onDashboard(
  'pictures of traffic',
  (d) => {
    let [edgeId, accountId, otherId] = ['', '', ''];
    before(async () => {
      const { gatehouse } = d();
      const backend = await gatehouse.create('/backends/static', { address: '127.0.0.1:9' });
      const edge = await gatehouse.create('/edges/https', { hostports: ['shop.example.com:443'], description: 'Shop' });
      await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
      });
      const other = await gatehouse.create('/edges/https', { hostports: ['quiet.example.com:443'] });
      await gatehouse.create(`/edges/https/${other.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
      });
      [edgeId, otherId] = [edge.id, other.id];
      const [row] = await gatehouse.app.context.store.queries.all('SELECT account_id FROM https_edges');
      accountId = String(row?.[0]);
      const now = Date.now();
      // Forty requests, of which four were refused and two failed. Decisions from before the start are not counted.
      for (let at = 0; at < 40; at++)
        keep({
          at_ms: now,
          ...(at < 4 ? { verdict: 'refused', module: 'ip_restriction', status: 403 } : { status: at < 6 ? 502 : 200 }),
        });
      const counted = async () => {
        const query = `edge_id=${edgeId}&since=${new Date(now - 60 * minuteMs).toISOString().slice(0, 19)}Z`;
        const answer = await gatehouse.get(`/decisions/summary?${query}`);
        return answer.body.total?.requests === 40;
      };
      await until(counted, 'the decisions are counted');
    });

    /** Puts decisions into the store that the gateway keeps, as visitors may have caused them. */
    function keep(each: Partial<Decision>): void {
      // start/open-and-publish.ts provides the whole of it.
      const store = d().gatehouse.app.context.services.get(keptDecisions) as Decisions;
      store.add(accountId, decision({ edge_id: edgeId, ...each }));
    }

    test('say in figures, sentences and a table what came, mark changes, and lead to the requests', async () => {
      const page = await d().open({ path: `/https-edges/${edgeId}` });
      const pictures = page.locator('.pictures').first();
      await pictures.getByText('40 requests in the last hour, 4 of them refused', { exact: false }).waitFor();
      await pictures.getByText('What is usual is not known yet').first().waitFor();
      await pictures.getByText('2 answers of 5xx and 0 of 4xx', { exact: false }).waitFor();
      await pictures.getByText('4 by rules', { exact: false }).waitFor();
      await pictures.getByRole('link', { name: /^\d+ changes? of the configuration$/ }).waitFor();
      assert.equal(await pictures.locator('canvas').count(), 3);
      assert.equal(await pictures.getByRole('img', { name: /40 requests in the last hour/ }).count(), 1);
      await lookAt(page, 'pictures');
      await pictures.getByText('As a table').click();
      const row = pictures.getByRole('row').filter({ hasText: '40' });
      await row.getByRole('cell', { name: '4', exact: true }).waitFor();
      await lookAt(page, 'pictures-table');
      const href = (await row.getByRole('link').getAttribute('href')) ?? '';
      assert.match(href, new RegExp(`/requests\\?edge=${edgeId}&since=[^&]+&until=`));
      await row.getByRole('link').click();
      await page.locator('[data-row-link]').first().waitFor();
      assert.match(page.url(), new RegExp(`edge=${edgeId}&since=[^&]+&until=`));
      await lead(page, `/https-edges/${edgeId}`);
      await pictures.getByRole('link', { name: 'See them' }).click();
      await until(async () => (await page.locator('[data-row-link]').count()) === 4, 'the refused ones');
      await lead(page, `/https-edges/${edgeId}`);
      await pictures.getByRole('button', { name: 'Week' }).click();
      await pictures.getByText('40 requests in the last week', { exact: false }).waitFor();
      assert.match(page.url(), /pictures=week/);
    });

    test('show nobody where nobody came', async () => {
      const page = await d().open({ path: `/https-edges/${otherId}` });
      await page.getByText('Nobody came in the last hour.').first().waitFor();
      assert.equal(await page.getByText(/^Usual: /).count(), 0);
      assert.equal(await page.getByText('As a table').count(), 1);
      await lead(page, '/');
      await page.getByRole('heading', { name: /^Traffic of all edges/ }).waitFor();
      await page.getByText('40 requests in the last hour', { exact: false }).waitFor();
      await lookAt(page, 'pictures-overview');
    });
  },
  { httpsListen: '127.0.0.1:0', drainSeconds: '0', decisions: scratchFolder() },
);
