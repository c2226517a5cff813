import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { until } from '../e2e/gateway/support/until.ts';
import { clientId, clientSecret, IdentityProvider } from '../support/identity-provider.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { startUpstream, visit } from './support/edge-traffic.ts';
import { lookAt } from './support/looks.ts';

const check = { kind: 'tcp', interval_seconds: 1, timeout_seconds: 1, failures: 1 };

onDashboard(
  'what pages say of health',
  (d) => {
    const g = () => d().gatehouse;

    async function makeEdge(host: string, backendId: string, route: object = {}) {
      const edge = await g().create('/edges/https', { hostports: [`${host}:443`], description: host });
      const made = { match: '/', match_type: 'path_prefix', backend: { backend_id: backendId }, ...route };
      await g().create(`/edges/https/${edge.id}/routes`, made);
      return edge;
    }

    const backendsAre = (states: Readonly<Record<string, string>>) =>
      until(async () => {
        const { backends } = (await g().get('/traffic/health')).body;
        return Object.entries(states).every(([id, state]) =>
          backends.some(
            (each: { readonly id: string; readonly state: string }) => each.id === id && each.state === state,
          ),
        );
      }, 'the gateway has checked the addresses');

    const inList = (page: Page, name: string) => page.locator('tbody tr').filter({ hasText: name });

    test('an address that checks find down is told wherever its backend is, and no edge before it is green', async () => {
      await using upstream = await startUpstream('well');
      const dead = '127.0.0.1:1';
      const half = await g().create('/backends/static', {
        description: 'half of it',
        addresses: [{ address: upstream.address }, { address: dead }],
        active_check: check,
      });
      const gone = await g().create('/backends/static', {
        description: 'all of it',
        address: dead,
        active_check: check,
      });
      const well = await g().create('/backends/static', {
        description: 'spare hall',
        address: upstream.address,
        active_check: check,
      });
      const group = await g().create('/backends/failover', { description: 'halls', backends: [gone.id, well.id] });
      const edges = [
        await makeEdge('half.test', half.id),
        await makeEdge('gone.test', gone.id),
        await makeEdge('halls.test', group.id),
      ];
      await backendsAre({ [half.id]: 'in_part', [gone.id]: 'down', [well.id]: 'up' });
      await until(async () => (await visit(g(), 'half.test')).body === 'well', 'a request comes through');

      const page = await d().open({ path: '/backends' });
      await inList(page, 'half of it').getByText('1 of 2 answer').waitFor();
      await inList(page, 'all of it').getByText('Does not answer').waitFor();
      await inList(page, 'spare hall').getByText('Answers', { exact: true }).waitFor();
      await page.getByRole('link', { name: /^Backends 2 in trouble$/ }).waitFor();
      await page.getByRole('link', { name: /^HTTPS edges 3 in trouble$/ }).waitFor();
      await lead(page, '/https-edges');
      await inList(page, 'half.test').getByText('Answers in part').waitFor();
      await inList(page, 'gone.test').getByText('Does not answer').waitFor();
      await inList(page, 'halls.test').getByText('Answers in part').waitFor();
      assert.equal(await page.locator('tbody .v.allow').count(), 0, 'nothing in the list is green');

      await lead(page, `/https-edges/${edges[0]?.id}`);
      await page.getByRole('heading', { name: 'Answers in part: half of it: 1 of 2 addresses answer' }).waitFor();
      await page.getByText(/^127\.0\.0\.1:1 went down, .+ECONNREFUSED/).waitFor();
      await page.getByRole('link', { name: 'See the backend' }).click();
      await page.getByRole('heading', { name: '127.0.0.1:1 is down' }).waitFor();
      assert.equal(await page.getByText('Nobody has come yet').count(), 0);
      await lookAt(page, 'backend-half-down');
      await lead(page, `/https-edges/${edges[1]?.id}`);
      await page.getByRole('heading', { name: 'Does not answer: all of it is down' }).waitFor();
      await page.getByRole('table', { name: 'routes' }).getByText('Does not answer').waitFor();
      await lookAt(page, 'https-edge-backend-down');
      await lead(page, `/backends/${group.id}`);
      await page.locator('.facts > div', { hasText: 'Serves now' }).getByRole('link', { name: 'spare hall' }).waitFor();
      await page.locator('.title').getByText('Answers in part').waitFor();
      await lead(page, '/');
      await page.getByText('gone.test: Does not answer: all of it is down').waitFor();
    });

    test('an edge from whose login nobody comes back is not green, and tells what refused the others', async () => {
      await using provider = await IdentityProvider.start({}, ['http://127.0.0.1:1']);
      await using upstream = await startUpstream('behind the login');
      const backend = await g().create('/backends/static', { address: upstream.address });
      const oidc = { issuer: provider.issuer, client_id: clientId, client_secret: clientSecret };
      const edge = await makeEdge('login.test', backend.id, { oidc });
      const leaves = async () => (await visit(g(), 'login.test', '/', { accept: 'text/html' })).status;
      await until(async () => (await leaves()) === 302, 'visitors are sent to the provider');
      for (let visitor = 0; visitor < 3; visitor++) assert.equal(await leaves(), 302);
      assert.equal((await visit(g(), 'login.test', '/api')).status, 401);
      await g().create(`/edges/https/${edge.id}/routes`, {
        match: '/hooks',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
        basic_auth: { credentials: [{ username: 'hook', password: 'a long password' }] },
      });
      await until(async () => (await visit(g(), 'login.test', '/hooks')).headers['www-authenticate'] !== undefined, '');
      assert.equal((await visit(g(), 'login.test', '/hooks')).status, 401);
      const page = await d().open({ path: `/https-edges/${edge.id}` });
      await page
        .getByRole('heading', { name: /^Nobody signs in: \d+ visitors left for the provider, and none/ })
        .waitFor();
      await page.getByText(/^Refused: .*\d+ without a permitted login/).waitFor();
      await page.getByText(/^Last refusal .+ 127\.0\.0\.1:/).waitFor();
      await page
        .getByText(/[12] without the right password/)
        .first()
        .waitFor();
      const hooks = page.getByRole('table', { name: 'routes' }).getByRole('row').filter({ hasText: '/hooks' });
      await hooks.getByText('All refused').waitFor();
      await hooks.getByRole('cell', { name: /^[12]$/ }).waitFor();
      await page.locator('.title').getByText('Nobody signs in').waitFor();
      assert.equal(await page.locator('.verdict.allow, .title .v.allow').count(), 0);
      await lookAt(page, 'https-edge-login-lost');
      const authorization = `Basic ${Buffer.from('hook:a long password').toString('base64')}`;
      assert.equal((await visit(g(), 'login.test', '/hooks', { authorization })).body, 'behind the login');
      await page.reload();
      await page.getByRole('heading', { name: /^Answers: 1 request/ }).waitFor();
      await page.getByText(/^But nobody signs in anew: \d+ visitors left for the provider/).waitFor();
    });
  },
  { httpsListen: '127.0.0.1:0' },
);
