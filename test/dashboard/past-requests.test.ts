import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Page } from 'playwright-core';

import type { DecisionsPage } from '../../client/src/index.ts';
import { joinTold } from '../../dashboard/src/pages/requests/join-told.ts';
import type { Decision } from '../../src/decisions/decision-line.ts';
import type { Decisions } from '../../src/decisions/decisions.ts';
import { keptDecisions } from '../../src/resources/decisions/service.ts';
import { askHttps } from '../e2e/gateway/support/traffic.ts';
import type { Answered, Asking } from '../e2e/gateway/support/traffic.ts';
import { startUpstream } from '../e2e/gateway/support/upstream.ts';
import type { Upstream } from '../e2e/gateway/support/upstream.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { decision } from '../support/decisions.ts';
import { scratchFolder } from '../support/scratch.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { restrict } from './support/restrictions.ts';

const host = 'booking.kestrel.test';

test('a gateway that has not told for one page is missing in all that is shown', () => {
  type State = DecisionsPage['gateways'][number]['state'];
  const page = (one: State, other: State): DecisionsPage => ({
    decisions: [],
    uri: '',
    next_page_uri: null,
    gateways: [
      { process_id: 'gw_1', state: one },
      { process_id: 'gw_2', state: other },
    ],
    other_gateways: 0,
    dropped: 0,
    was_cut_off: false,
  });
  const statesOf = (...pages: readonly DecisionsPage[]) => joinTold(pages)?.gateways.map(({ state }) => state);
  assert.equal(statesOf(), undefined);
  assert.deepEqual(statesOf(page('answered', 'answered')), ['answered', 'answered']);
  assert.deepEqual(statesOf(page('no_answer', 'answered'), page('answered', 'busy')), ['no_answer', 'busy']);
});

onDashboard(
  'past requests',
  (d) => {
    let upstream: Upstream;
    let [edgeId, routeId, accountId, restrictionId, policyId] = ['', '', '', '', ''];
    /** Id that the page shows which has turned the visitor away. */
    let refusedId = '';
    before(async () => {
      upstream = await startUpstream();
      const { gatehouse } = d();
      const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
      const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`], description: 'Booking API' });
      const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
      });
      [edgeId, routeId] = [edge.id, route.id];
      const [row] = await gatehouse.app.context.store.queries.all('SELECT account_id FROM https_edges');
      accountId = String(row?.[0]);
      ({ id: restrictionId, policyId } = await restrict(gatehouse, {
        type: 'endpoints',
        description: 'Depots',
        allow: ['127.0.0.0/29'],
      }));
      await gatehouse.patch(`/ip_restrictions/${restrictionId}`, { enforced: true });
      await ask('/v2/bookings?token=secret-of-a-query', { from: '127.0.0.1' });
      refusedId = idIn(await ask('/v2/admin', { from: '127.0.0.9' }));
      await haveKept('', 2);
    });
    after(() => upstream[Symbol.asyncDispose]());

    const ask = (path: string, asking: Asking) => askHttps(d().gatehouse.httpsPort, host, { path, ...asking });
    const idIn = ({ text }: Answered): string => /op_\w+/.exec(text)?.[0] ?? assert.fail(text);

    /** Waits until so many decisions that pass the query can be read. */
    async function haveKept(query: string, count: number): Promise<void> {
      await until(
        async () => (await d().gatehouse.get(`/decisions?limit=100&${query}`)).body.decisions.length >= count,
        `${count} decisions are kept`,
      );
    }

    /** Puts decisions into the store that the gateway keeps, as visitors may have caused them. */
    function keep(...all: readonly Partial<Decision>[]): void {
      // start/open-and-publish.ts provides the whole of it.
      const store = d().gatehouse.app.context.services.get(keptDecisions) as Decisions;
      for (const each of all) store.add(accountId, decision({ edge_id: edgeId, route_id: routeId, host, ...each }));
    }

    const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

    test('are listed newest first, and the refused ones say by what and whom', async () => {
      const page = await d().open();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await until(async () => {
        await page.keyboard.press('g');
        await page.keyboard.press('h');
        return page.getByRole('heading', { name: 'Past requests' }).isVisible();
      }, 'both keys lead to the page');
      const refused = rowOf(page, '/v2/admin');
      await refused.getByText('Refused').waitFor();
      await refused.getByText('127.0.0.9').first().waitFor();
      await refused.getByRole('link', { name: 'IP restriction “Depots”' }).waitFor();
      await rowOf(page, '/v2/bookings').getByText('Let in').waitFor();
      const links = await page.locator('[data-row-link]').allTextContents();
      assert.deepEqual(links, ['GET /v2/admin', 'GET /v2/bookings']);
      assert.ok(!(await page.content()).includes('secret-of-a-query'));
      await lookAt(page, 'past-requests');
      await page.setViewportSize({ width: 390, height: 800 });
      await page.getByText(/127\.0\.0\.9 · IP restriction “Depots”/).waitFor();
    });

    test('are filtered by what the URL says, and what is chosen is in the URL', async () => {
      const page = await d().open({ path: `/requests?edge=${edgeId}&verdict=refused&range=day` });
      await rowOf(page, '/v2/admin').waitFor();
      assert.equal(await page.locator('[data-row-link]').count(), 1);
      await page.getByLabel('Verdict').selectOption('allowed');
      await rowOf(page, '/v2/bookings').waitFor();
      assert.equal(await page.locator('[data-row-link]').count(), 1);
      assert.match(page.url(), /verdict=allowed/);
      await page.getByLabel('Address or network').fill('127.0.0.8/29');
      await page.getByText('No past request fits the filter').waitFor();
      assert.match(page.url(), /source=127\.0\.0\.8%2F29/);
      await page.getByRole('button', { name: 'Clear the filter' }).click();
      await rowOf(page, '/v2/admin').waitFor();
      await rowOf(page, '/v2/bookings').waitFor();
      for (const [name, value, row] of [
        ['restriction', restrictionId, '/v2/admin'],
        ['status', '200', '/v2/bookings'],
        ['source', '127.0.0.9', '/v2/admin'],
        ['edge', edgeId, '/v2/admin'],
        ['route', routeId, '/v2/bookings'],
        ['host', host, '/v2/admin'],
        ['since', '2026-01-01T00:00:00Z', '/v2/admin'],
      ]) {
        await lead(page, `/requests?${name}=${encodeURIComponent(value ?? '')}`);
        await rowOf(page, row ?? '').waitFor();
      }
      for (const query of ['person=nobody', 'module=oidc', 'until=2020-01-01T00:00:00Z', 'host=other']) {
        await lead(page, `/requests?${query}`);
        await page.getByText('No past request fits the filter').waitFor();
      }
      await lead(page, '/requests?source=nowhere');
      await page.getByText(/source "nowhere" selects nothing/).waitFor();
    });

    test('have pages, of which older ones are read when they are asked for', async () => {
      keep(...Array.from({ length: 230 }, (_, at) => ({ source: '198.51.100.7', path: `/many/${at}` })));
      await haveKept('source=198.51.100.7', 100);
      await until(async () => {
        const { body } = await d().gatehouse.get('/decisions?source=198.51.100.7&limit=100');
        return body.decisions[0]?.path === '/many/229';
      }, 'all are kept');
      const page = await d().open({ path: '/requests?source=198.51.100.7' });
      await page.getByText('The newest 200 requests').waitFor();
      assert.ok((await page.locator('[data-row-link]').count()) < 100, 'only rows near what is seen exist');
      await page.getByRole('button', { name: 'Read older ones' }).click();
      await page.getByText('230 requests', { exact: true }).waitFor();
      await page.evaluate(`document.querySelector('main .window').scrollTo(0, 1e6)`);
      await rowOf(page, '/many/0').first().waitFor();
    });

    test('show what visitors have sent without its tricks', async () => {
      keep(
        { source: '198.51.100.8', host: `${'very-long.'.repeat(20)}test`, path: `/${'a'.repeat(500)}` },
        {
          source: '198.51.100.8',
          path: '/<b>\u202Egpj.exe',
          person: 'ada\u2066\u200B@kestrel.test',
          verdict: 'refused',
        },
      );
      await haveKept('source=198.51.100.8', 2);
      const page = await d().open({ path: '/requests?source=198.51.100.8' });
      const tricky = rowOf(page, 'gpj.exe');
      await tricky.getByTitle('GET /<b>\\u{202e}gpj.exe').waitFor();
      await tricky.getByTitle('ada\\u{2066}\\u{200b}@kestrel.test').waitFor();
      await tricky.getByTitle('What decided was not kept').waitFor();
      assert.doesNotMatch(await page.locator('main').innerText(), /[\u202A-\u202E\u2066-\u2069\u200B]/);
      await lookAt(page, 'past-requests-hostile');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /^Refused on/ }).waitFor();
      assert.doesNotMatch(await page.locator('main').innerText(), /[\u202A-\u202E\u2066-\u2069\u200B]/);
      await lookAt(page, 'past-request-hostile');
    });

    test('are found by the id that the visitor reads out, anywhere', async () => {
      const page = await d().open({ path: '/bot-users' });
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Search' }).fill(refusedId);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /^Refused on .*\. Today the same would happen$/ }).waitFor();
      assert.match(page.url(), new RegExp(`/requests/${refusedId}$`));
      await page.getByRole('link', { name: 'IP restriction “Depots”' }).first().waitFor();
      await page.getByText('The upstream was not asked.').waitFor();
      const { gatehouse } = d();
      const rule = await gatehouse.create('/ip_policy_rules', {
        ip_policy_id: policyId,
        cidr: '127.0.0.9/32',
        action: 'allow',
      });
      await page.reload();
      await page.getByRole('heading', { name: /^Refused on .*\. Today it would be let in$/ }).waitFor();
      const ladders = page.locator('.then-now > div');
      const met = ladders.getByRole('listitem').filter({ hasText: 'IP restriction “Depots”' });
      await met.nth(0).getByText('no rule of it contains the address').waitFor();
      await met.nth(1).getByText('Changed since').waitFor();
      await met.nth(1).getByText('127.0.0.9/32', { exact: true }).waitFor();
      await ladders.nth(1).getByText('It would be let in', { exact: true }).waitFor();
      await lookAt(page, 'past-request');
      assert.equal((await gatehouse.delete(`/ip_policy_rules/${rule.id}`)).status, 204);
      await page.getByLabel('Id of a request').fill('op_2tQzYDLwIVU45s8sSMNpRfQp1Ng');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('No request with this id is kept').waitFor();
      await page.getByText(/end after 7 days/).waitFor();
      await lookAt(page, 'past-request-not-found');
      const { body } = await d().gatehouse.get('/decisions?verdict=allowed&source=127.0.0.1');
      await lead(page, `/requests/${body.decisions[0].id}`);
      await page.getByRole('heading', { name: /^Let in on .*\. Today the same would happen$/ }).waitFor();
      await page.getByText('GET /v2/bookings').first().waitFor();
    });

    test('are what a change is tried on, before it is saved and before it is reverted', async () => {
      const { gatehouse } = d();
      const page = await d().open({ path: `/ip-policies/${policyId}` });
      const sheet = page.getByRole('complementary', { name: 'Who would notice?' });
      const focused = () => page.evaluate('document.activeElement.textContent');
      await page.getByRole('button', { name: 'Delete the rule 127.0.0.0/29' }).click();
      await page.getByRole('button', { name: 'See who would notice' }).click();
      const refused = sheet.getByRole('region', { name: 'Newly refused' });
      await refused.getByText('1 source', { exact: true }).waitFor();
      await refused.getByRole('link', { name: '127.0.0.1', exact: true }).waitFor();
      await refused.getByText('Booking API').waitFor();
      await sheet.locator('.btn.danger', { hasText: 'Save and refuse 1 source' }).waitFor();
      assert.equal(await focused(), 'Keep editing');
      await sheet.getByText('You would be refused').waitFor();
      await lookAt(page, 'rehearsal-refused');
      await page.keyboard.press('Escape');
      await sheet.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Keep it' }).click();

      await lead(page, `/ip-policies/${policyId}?add=1`);
      await page.getByLabel('CIDR').fill('127.0.0.9/32');
      await page.keyboard.press('Control+Enter');
      const admitted = sheet.getByRole('region', { name: 'Newly admitted' });
      await admitted.getByRole('link', { name: '127.0.0.9', exact: true }).waitFor();
      await sheet.getByText('Newly let in: HTTPS edge booking-api, route /').waitFor();
      assert.equal(await sheet.getByRole('region', { name: 'Newly refused' }).count(), 0);
      await lookAt(page, 'rehearsal-admitted');
      assert.equal((await ask('/still-tried', { from: '127.0.0.9' })).status, 403, 'it was only tried');
      await sheet.locator('.btn.primary', { hasText: 'Save and let in 1 source' }).click();
      await page.getByText('Added allow 127.0.0.9/32.').waitFor();
      await until(async () => (await ask('/now-in', { from: '127.0.0.9' })).status === 200, 'it is let in');
      await haveKept('source=127.0.0.9&verdict=allowed', 1);

      const { body } = await gatehouse.get('/changes?limit=1');
      await lead(page, `/changes?open=${body.changes[0].id}`);
      await page.getByRole('button', { name: /^Revert/ }).click();
      await page.getByRole('button', { name: 'See who would notice' }).click();
      await sheet.getByRole('region', { name: 'Newly refused' }).getByText('127.0.0.9').waitFor();
      await sheet.getByRole('button', { name: 'Save and refuse 1 source' }).click();
      await until(async () => (await ask('/out-again', { from: '127.0.0.9' })).status === 403, 'it is refused again');
    });

    test('are what a module is tried on before it is switched on', async () => {
      const { gatehouse } = d();
      const offices = await gatehouse.create('/ip_policies', { description: 'Offices' });
      await gatehouse.put(`/ip_policies/${offices.id}/rules`, ['127.0.0.2/32']);
      const path = `/edges/https/${edgeId}/routes/${routeId}`;
      await gatehouse.patch(path, { ip_restriction: { enabled: false, ip_policy_ids: [offices.id] } });
      const page = await d().open({ path: `/https-edges/${edgeId}?route=${routeId}` });
      await page.getByRole('switch', { name: 'IP restriction' }).click();
      await page.getByRole('button', { name: 'See who would notice' }).click();
      const sheet = page.getByRole('complementary', { name: 'Who would notice?' });
      const refused = sheet.getByRole('region', { name: 'Newly refused' });
      await refused.getByRole('link', { name: '127.0.0.1', exact: true }).waitFor();
      assert.equal((await gatehouse.get(path)).body.ip_restriction.enabled, false);
      await sheet.getByRole('button', { name: /^Save and refuse / }).click();
      await page.getByText('The IP restriction is on.').waitFor();
      await page.getByRole('switch', { name: 'IP restriction', checked: true }).click();
      const admitted = sheet.getByRole('region', { name: 'Newly admitted' });
      await admitted.getByRole('link', { name: '127.0.0.1', exact: true }).waitFor();
      await sheet.getByRole('button', { name: /^Save and let in / }).click();
      await page.getByRole('switch', { name: 'IP restriction', checked: false }).waitFor();
      await gatehouse.patch(path, { ip_restriction: null });
    });

    test('are led to from what has decided', async () => {
      const page = await d().open({ path: `/ip-restrictions/${restrictionId}` });
      await page.getByRole('link', { name: 'Refused in the last day' }).click();
      await rowOf(page, '/v2/admin').waitFor();
      assert.match(page.url(), new RegExp(`restriction=${restrictionId}`));
      await lead(page, `/ip-policies/${policyId}`);
      await page.getByRole('link', { name: 'refused in the last day by Depots' }).click();
      await rowOf(page, '/v2/admin').waitFor();
      await lead(page, `/https-edges/${edgeId}`);
      await page.getByRole('link', { name: 'Refused in the last day' }).first().click();
      await rowOf(page, '/v2/admin').waitFor();
      assert.match(page.url(), new RegExp(`edge=${edgeId}`));
    });
  },
  { httpsListen: '127.0.0.1:0', drainSeconds: '0', decisions: scratchFolder() },
);
