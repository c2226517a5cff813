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
import { restrict } from './support/restrictions.ts';
import { visit } from './support/visit.ts';

const minuteMs = 60_000;

onDashboard(
  'pictures of traffic',
  (d) => {
    let [edgeId, accountId, otherId, backendId, restrictionId] = ['', '', '', '', ''];
    let keptMs = 0;
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
      [edgeId, otherId, backendId] = [edge.id, other.id, backend.id];
      ({ id: restrictionId } = await restrict(gatehouse, {
        type: 'endpoints',
        description: 'Depots',
        allow: ['0.0.0.0/0'],
      }));
      const [row] = await gatehouse.app.context.store.queries.all('SELECT account_id FROM https_edges');
      accountId = String(row?.[0]);
      const now = Date.now();
      keptMs = now;
      // Forty requests, of which four were refused and two failed. Decisions from before the start are not counted.
      for (let at = 0; at < 40; at++)
        keep({
          at_ms: now,
          backend_id: backendId,
          ...(at < 4
            ? { verdict: 'refused', module: 'ip_restriction', status: 403, rule: restrictionId }
            : { status: at < 6 ? 502 : 200 }),
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
      await pictures.getByText('What is usual is not known').first().waitFor();
      await pictures.getByText('2 answers of 5xx and 0 of 4xx', { exact: false }).waitFor();
      await pictures.getByText('4 by rules', { exact: false }).waitFor();
      const most = pictures.getByRole('link', { name: '203.0.113.9', exact: true });
      assert.match((await most.getAttribute('href')) ?? '', /verdict=refused.*source=203\.0\.113\.9/);
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

    test('of backends and restrictions lead to their requests, which the filters name', async () => {
      const page = await d().open({ path: `/backends/${backendId}` });
      const pictures = page.locator('.pictures').first();
      await pictures.getByText('40 requests in the last hour, 4 of them refused', { exact: false }).waitFor();
      await pictures.getByRole('link', { name: 'See them' }).click();
      await until(async () => (await page.locator('[data-row-link]').count()) === 4, 'the refused ones of the backend');
      assert.equal(await page.getByLabel('Backend').inputValue(), backendId);
      await lead(page, `/ip-restrictions/${restrictionId}`);
      await pictures.getByText('4 requests refused and 0 let in with a warning', { exact: false }).waitFor();
      assert.equal(await pictures.locator('canvas').count(), 1);
      await lookAt(page, 'pictures-restriction');
      await until(async () => {
        await lead(page, `/ip-restrictions/${restrictionId}`);
        const over = pictures.locator('.u-over');
        await over.waitFor();
        const { width = 0, height = 0 } = (await over.boundingBox()) ?? {};
        // The right half of the bar, which is a minute of the hour that ends with this one; the picture may be of the minute before.
        const ending = Math.floor(Date.now() / minuteMs) - Math.floor(keptMs / minuteMs) + 0.2;
        await over.click({ position: { x: width * (1 - ending / 60), y: height / 2 } });
        const row = page.locator('[data-row-link]').first();
        const isThere = await row.waitFor({ timeout: 5_000 }).then(
          () => true,
          () => false,
        );
        return isThere && (await page.locator('[data-row-link]').count()) === 4;
      }, 'those of the point');
      assert.match(page.url(), new RegExp(`restriction=${restrictionId}&since=[^&]+%3A00Z&until=[^&]+%3A59Z$`));
    });

    test('of a visitor are of the requests while signed in', async () => {
      const { gatehouse } = d();
      await visit(gatehouse, edgeId, 'jan@kestrel.example', []);
      for (const person of ['jan@kestrel.example', 'mirela@kestrel.example'])
        keep({ person, path: `/of/${person}`, edge_id: 'edghts_x' });
      const query = 'person=jan@kestrel.example';
      await until(async () => (await gatehouse.get(`/decisions?${query}`)).body.decisions.length === 1, 'it is kept');
      const page = await d().open({ path: '/visitors' });
      await page.getByRole('link', { name: 'jan@kestrel.example' }).click();
      await page.getByRole('heading', { level: 1, name: 'jan@kestrel.example' }).waitFor();
      await page.getByText('1 session', { exact: true }).waitFor();
      const pictures = page.locator('.pictures');
      await pictures.getByText('1 request in the last hour', { exact: false }).waitFor();
      await lookAt(page, 'visitor');
      await pictures.getByText('As a table').click();
      await pictures.getByRole('rowheader').getByRole('link').click();
      await page.getByRole('link', { name: 'GET /of/jan@kestrel.example' }).waitFor();
      assert.equal(await page.locator('[data-row-link]').count(), 1);
    });

    test('show nobody where nobody came', async () => {
      const page = await d().open({ path: `/https-edges/${otherId}` });
      await page.getByText('Nobody came in the last hour.').first().waitFor();
      assert.equal(await page.getByText(/^Usual: /).count(), 0);
      assert.equal(await page.getByText('As a table').count(), 1);
      await lead(page, '/');
      await page.getByRole('heading', { name: /^Traffic of all edges/ }).waitFor();
      await page.getByText('42 requests in the last hour', { exact: false }).waitFor();
      await lookAt(page, 'pictures-overview');
    });
  },
  { httpsListen: '127.0.0.1:0', drainSeconds: '0', decisions: scratchFolder() },
);
