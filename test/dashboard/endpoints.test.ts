import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../e2e/gateway/support/until.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { visit } from './support/edge-traffic.ts';
import { lookAt } from './support/looks.ts';

const answering = (body: string): string =>
  `on_http_request:\n  - actions:\n      - type: custom-response\n        config: { status_code: 200, body: ${body} }\n`;
const forwarding = (url: string): string =>
  JSON.stringify({ on_http_request: [{ actions: [{ type: 'forward-internal', config: { url } }] }] });

onDashboard(
  'the page of endpoints',
  (d) => {
    const g = () => d().gatehouse;

    test('an endpoint is made, its faults stand beside their fields, and it answers visitors', async () => {
      await g().create('/reserved_domains', { domain: 'hello.test' });
      const page = await d().open({ path: '/endpoints' });
      await page.getByText('No endpoints').waitFor();
      await lookAt(page, 'endpoints-empty');
      await page.getByRole('button', { name: 'Create endpoint' }).first().click();
      const form = page.getByRole('dialog');
      const url = form.getByLabel('URL', { exact: true }).first();
      const submit = form.getByRole('button', { name: 'Create endpoint' });
      await url.fill('https://elsewhere.test');
      await submit.click();
      await form.getByText('No reserved domain of this account is for "https://elsewhere.test".').waitFor();
      assert.equal(await url.getAttribute('aria-invalid'), 'true');
      await url.fill('https://hello.test');
      await form.getByLabel('Policy', { exact: true }).fill('on_http_request: []');
      await submit.click();
      await form
        .getByText(/must end each visit|end every visit|ends/)
        .first()
        .waitFor();
      assert.equal(await form.getByLabel('Policy', { exact: true }).getAttribute('aria-invalid'), 'true');
      await lookAt(page, 'endpoint-create-refused');
      await form.getByLabel('Policy', { exact: true }).fill(answering('hello'));
      await submit.click();
      await page.getByRole('heading', { name: 'https://hello.test' }).waitFor();
      await until(async () => (await visit(g(), 'hello.test')).body === 'hello', 'the endpoint answers');
      await page.getByText('custom-response').first().waitFor();
    });

    test('an endpoint is changed over what somebody else has changed, and deleted by its name', async () => {
      const { id } = await g().create('/endpoints', { url: 'https://app.internal', traffic_policy: answering('one') });
      const page = await d().open({ path: `/endpoints/${id}` });
      await page.getByRole('heading', { name: 'https://app.internal' }).waitFor();
      // The page reads the endpoint over a slow line.
      await page.route(`**/endpoints/${id}`, async (route) => {
        if (route.request().method() === 'GET') await sleep(500);
        await route.continue();
      });
      await page.keyboard.press('e');
      await page.getByLabel('Description').fill('mine');
      await g().patch(`/endpoints/${id}`, { traffic_policy: answering('two') });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Your edit is kept and not saved.').waitFor();
      await page.getByRole('button', { name: 'Put mine on top' }).click();
      await page.getByText('Saved.').waitFor();
      const { body } = await g().get(`/endpoints/${id}`);
      assert.deepEqual([body.description, body.traffic_policy], ['mine', answering('two')]);

      await page.keyboard.press('e');
      await page.getByLabel('Policy', { exact: true }).fill(answering('three'));
      await page.getByLabel(/^Shared/).check();
      await page.keyboard.press('Control+Enter');
      await page.getByText('Yes, others may have this URL too').waitFor();
      assert.equal((await g().get(`/endpoints/${id}`)).body.traffic_policy, answering('three'));

      await page.getByRole('button', { name: 'Delete…' }).click();
      const act = page.getByRole('button', { name: 'Delete endpoint' });
      assert.ok(await act.isDisabled());
      await page.getByLabel('Type https://app.internal to go on').fill('https://app.internal');
      await act.click();
      await page.getByText('Deleted the endpoint https://app.internal.').waitFor();
      assert.equal((await g().get(`/endpoints/${id}`)).status, 404);
    });

    test('an internal endpoint names whoever forwards to it, and not to one whose name is longer', async () => {
      const url = 'https://inner.internal';
      const inner = await g().create('/endpoints', { url, traffic_policy: answering('in') });
      const longer = { url: `${url}:8443`, traffic_policy: answering('other') };
      await g().create('/endpoints', longer);
      await g().create('/endpoints', { url: 'https://outer.internal', traffic_policy: forwarding(url) });
      await g().create('/endpoints', { url: 'https://other.internal', traffic_policy: forwarding(longer.url) });
      const edge = await g().create('/edges/https', { description: 'Front' });
      await g().create(`/edges/https/${edge.id}/routes`, {
        match: '/in',
        match_type: 'path_prefix',
        traffic_policy: { value: forwarding(url) },
      });
      const page = await d().open({ path: `/endpoints/${inner.id}` });
      const panel = page.locator('section', { has: page.getByRole('heading', { name: 'Forwarded to by' }) });
      await panel.getByRole('link', { name: 'https://outer.internal' }).waitFor();
      await panel.getByRole('link', { name: 'Front /in' }).waitFor();
      assert.equal(await panel.getByRole('link', { name: 'https://other.internal' }).count(), 0);
      await lead(page, `/endpoints/${inner.id}?delete=1`);
      await page.getByRole('dialog').getByText('https://outer.internal').waitFor();
    });

    test('the endpoint of an edge is shown, and led to by the search, and cannot be changed here', async () => {
      await g().create('/edges/https', { description: 'Shop', hostports: ['shop.test:443'] });
      const endpoints = (await g().get('/endpoints')).body.endpoints as { id: string; hostport: string }[];
      const { id } = endpoints.find(({ hostport }) => hostport === 'shop.test:443') ?? assert.fail('it is listed');
      const page = await d().open({ path: '/' });
      await page.getByRole('link', { name: /^Endpoints \d/ }).waitFor();
      await page.keyboard.press('/');
      await page.getByRole('combobox').fill(id);
      await page.getByRole('option', { name: /^Open ep_/ }).click();
      await page.getByText('An edge has this endpoint').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0);
      assert.equal(await page.getByRole('button', { name: 'Delete…' }).count(), 0);
      await page.getByRole('link', { name: 'An edge', exact: true }).click();
      await page.getByRole('heading', { name: 'Shop' }).waitFor();
    });

    test('a key that only reads sees endpoints, and nothing that changes them', async () => {
      const { id } = await g().create('/endpoints', { url: 'https://look.internal', traffic_policy: answering('x') });
      const { token } = await g().create('/api_keys', { read_only: true });
      const page = await d().open({ path: '/endpoints', token: String(token) });
      await page.getByRole('link', { name: 'https://look.internal' }).waitFor();
      await page.getByText('You can look, but not change').waitFor();
      assert.equal(await page.getByRole('button', { name: 'Create endpoint' }).count(), 0);
      await lead(page, `/endpoints/${id}?edit=1&delete=1`);
      await page.getByRole('heading', { name: 'https://look.internal' }).waitFor();
      assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0);
      assert.equal(await page.getByRole('form').count(), 0);
      assert.equal(await page.getByRole('dialog').count(), 0);
    });
  },
  { httpsListen: '127.0.0.1:0' },
);
