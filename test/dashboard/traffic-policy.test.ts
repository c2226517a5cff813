import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { freePort } from '../support/free-port.ts';
import { onDashboard } from './support/dashboard.ts';
import { startUpstream, visit } from './support/edge-traffic.ts';
import { lookAt } from './support/looks.ts';

const faulty = `on_http_request:
  - name: offices only
    expressions:
      - req.url.pth.startsWith('/admin')
    actions:
      - type: deny
        config: { status_code: 404 }
  - actions:
      - type: add-headers
        config: { headers: { x-client: "\${conn.client_ip}" } }
`;
const sound = faulty.replace('req.url.pth', 'req.url.path');

onDashboard(
  'traffic policies in the dashboard',
  (d) => {
    const g = () => d().gatehouse;

    test('the policy of a route is written with its faults in place and a trial beside it, and traffic obeys', async () => {
      await using upstream = await startUpstream('the shop');
      const backend = await g().create('/backends/static', { address: upstream.address });
      const edge = await g().create('/edges/https', { hostports: ['policy.test:443'] });
      const route = await g().create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
      });
      const page = await d().open({ path: `/https-edges/${edge.id}?route=${route.id}` });
      await page.getByRole('button', { name: 'Set up Traffic policy' }).click();
      const form = page.getByRole('form', { name: 'Traffic policy' });
      const text = form.getByLabel('Policy', { exact: true });
      await form.getByText('Write a rule, and see here what becomes of a request.').waitFor();

      await text.fill(faulty);
      await form.getByText('Line 4, column 17.').waitFor();
      await form.getByText('did you mean req.url.path?').waitFor();
      await form.getByText('The policy has a fault.').waitFor();
      assert.equal(await text.getAttribute('aria-invalid'), 'true');
      await lookAt(page, 'traffic-policy-fault');
      await form.getByRole('button', { name: 'Show line 4' }).click();
      const chosen =
        '(({ selectionStart, selectionEnd, value }) => value.slice(selectionStart, selectionEnd))(document.activeElement)';
      assert.equal(await page.evaluate(chosen), 'pth.startsWith');

      await page.locator('.wave').waitFor();
      await text.press('Home');
      await text.press('F8');
      assert.equal(await page.evaluate(chosen), 'pth.startsWith');

      await text.fill(sound);
      await form.getByLabel('URL').fill('https://policy.test/admin/users');
      await form.getByText('on_http_request[0].actions[0] (deny) refuses it with 404.').waitFor();
      await form.getByText('offices only Matches').waitFor();
      // The expression is on the fourth line.
      await page.waitForFunction(`document.querySelector('.marked.true')?.style.top === '60px'`);
      await form.getByText('What the visitor gets: 404').waitFor();
      await lookAt(page, 'traffic-policy-refused');
      await form.getByLabel('URL').fill('https://policy.test/');
      await form.getByText('The request goes on to the upstream.').waitFor();
      await lookAt(page, 'traffic-policy-trial');
      const widthOf = async () => (await form.getByLabel('URL').boundingBox())?.width ?? 0;
      const usual = page.viewportSize();
      await page.setViewportSize({ width: 390, height: 800 });
      assert.ok((await widthOf()) > 200, 'a URL can be read on a phone');
      if (usual !== null) await page.setViewportSize(usual);

      await form.getByRole('button', { name: 'Save traffic policy' }).click();
      await page.getByRole('switch', { name: 'Traffic policy', checked: true }).waitFor();
      const stored = (await g().get(`/edges/https/${edge.id}/routes/${route.id}`)).body.traffic_policy;
      assert.deepEqual(stored, { enabled: true, value: sound });
      await until(async () => (await visit(g(), 'policy.test')).body === 'the shop', 'the upstream answers');
      assert.equal(upstream.seen.at(-1)?.['x-client'], '127.0.0.1');
      assert.equal((await visit(g(), 'policy.test', '/admin')).status, 404);
    });

    test('names are completed by keys alone, Tab indents, and Esc and Tab leave the editor', async () => {
      const edge = await g().create('/edges/https', { hostports: ['typed.test:443'] });
      const route = await g().create(`/edges/https/${edge.id}/routes`, { match: '/', match_type: 'path_prefix' });
      const page = await d().open({ path: `/https-edges/${edge.id}?route=${route.id}` });
      await page.getByRole('button', { name: 'Set up Traffic policy' }).click();
      const text = page.getByLabel('Policy', { exact: true });
      const list = page.getByRole('listbox', { name: 'Completion' });
      /** Types until the list has the name, and takes it. */
      const takes = async (typed: string, name: string, key = 'Tab') => {
        await text.pressSequentially(typed);
        await list.getByRole('option', { name, exact: false }).first().waitFor();
        await text.press(key);
        await list.waitFor({ state: 'detached' });
      };
      await text.focus();
      // The names are loaded when the editor opens.
      await until(async () => {
        await text.press('Control+Space');
        return list.isVisible();
      }, 'the names are there');
      await text.press('Escape');
      await list.waitFor({ state: 'detached' });
      await text.pressSequentially('on_h');
      assert.equal(await list.getByRole('option').count(), 2);
      assert.match((await text.getAttribute('aria-activedescendant')) ?? '', /-0$/);
      await lookAt(page, 'traffic-policy-completion');
      await text.press('ArrowDown');
      await text.press('ArrowUp');
      await text.press('Enter');
      await text.press('Enter');
      await takes('- act', 'actions');
      await text.press('Enter');
      await takes('- ty', 'type', 'Enter');
      await takes('den', 'deny');
      await text.press('Enter');
      await takes('conf', 'config');
      await text.press('Enter');
      await takes('stat', 'status_code');
      await text.pressSequentially('404');
      const written =
        'on_http_request: \n  - actions: \n      - type: deny\n        config: \n          status_code: 404';
      assert.equal(await text.inputValue(), written);
      await text.press('Control+z');
      assert.notEqual(await text.inputValue(), written);
      await text.press('Control+Shift+z');

      await text.press('Tab');
      assert.equal(await text.inputValue(), `${written}  `);
      await text.press('Shift+Tab');
      assert.ok(await text.evaluate((area) => area.matches(':focus')));
      await text.press('Escape');
      await text.press('Tab');
      assert.equal(await text.evaluate((area) => area.matches(':focus')), false);
    });

    test('the policy of a TCP edge has other phases, which the form says where it is saved', async () => {
      const port = await freePort();
      const edge = await g().create('/edges/tcp', { hostports: [`any:${port}`], description: 'raw' });
      const page = await d().open({ path: `/tcp-edges/${edge.id}` });
      await page.getByRole('button', { name: 'Set up Traffic policy' }).click();
      const form = page.getByRole('form', { name: 'Traffic policy' });
      const text = form.getByLabel('Policy', { exact: true });
      await text.fill('on_http_request:\n  - actions: [{ type: deny }]\n');
      await form.getByRole('button', { name: 'Save traffic policy' }).click();
      await form.getByText('The traffic policy has rules in on_http_request').waitFor();
      assert.equal(await text.getAttribute('aria-invalid'), 'true');
      await text.fill('on_tcp_connect:\n  - actions: [{ type: deny }]\n');
      await form.getByText('on_tcp_connect[0].actions[0] (deny) closes the connection.').waitFor();
      await form.getByRole('button', { name: 'Save traffic policy' }).click();
      await page.getByText('Rules in on_tcp_connect').waitFor();
      assert.equal((await g().get(`/edges/tcp/${edge.id}`)).body.traffic_policy.enabled, true);
    });
  },
  { httpsListen: '127.0.0.1:0', tcpPorts: '10000-32767' },
);
