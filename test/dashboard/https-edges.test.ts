import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ClientAuthority } from '../support/client-certificates.ts';
import type { Page } from 'playwright-core';

import { until } from '../e2e/gateway/support/until.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { startUpstream, visit } from './support/edge-traffic.ts';
import { lookAt } from './support/looks.ts';

onDashboard(
  'the pages of HTTPS edges',
  (d) => {
    const g = () => d().gatehouse;

    /** An edge with a route to a backend, made through the API. */
    async function makeEdge(host: string, address: string, route: object = {}) {
      const backend = await g().create('/backends/static', { address, description: `behind ${host}` });
      const edge = await g().create('/edges/https', { hostports: [`${host}:443`], description: host });
      const made = await g().create(`/edges/https/${edge.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
        ...route,
      });
      return { edge, backend, route: made, path: `/https-edges/${edge.id}?route=${made.id}` };
    }

    const row = (page: Page, title: string) => page.locator('.modules > li', { hasText: title });

    test('an edge is made with the mouse, from nothing to a request that comes through it', async () => {
      await using upstream = await startUpstream('the shop');
      const page = await d().open({ path: '/https-edges' });
      await page.getByRole('button', { name: 'Create HTTPS edge' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Description').fill('Shop');
      await dialog.getByLabel('Hostport', { exact: true }).fill('shop.test:x');
      await dialog.getByRole('button', { name: 'Create edge' }).click();
      await dialog.getByText('The port "x" of "shop.test:x" is not valid').waitFor();
      await dialog.getByLabel('Hostport', { exact: true }).fill('shop.test');
      await dialog.getByRole('button', { name: 'Create edge' }).click();

      await page.getByRole('heading', { name: 'Shop' }).waitFor();
      await page.getByText('Requests find no route yet: add one.').waitFor();
      await page.getByRole('button', { name: 'Add route' }).click();
      await dialog.getByLabel('Backend').selectOption({ label: 'A new address…' });
      await dialog.getByLabel('Address').fill('127.0.0.1');
      await dialog.getByRole('button', { name: 'Add route' }).click();
      await dialog.getByText('The address "127.0.0.1" is not of the form host:port').waitFor();
      await dialog.getByLabel('Address').fill(upstream.address);
      await dialog.getByRole('button', { name: 'Add route' }).click();
      await row(page, 'Backend').getByText(upstream.address).waitFor();
      await page
        .getByText(/^(?:Nobody yet|No requests)$/)
        .first()
        .waitFor();

      await until(async () => (await visit(g(), 'shop.test')).body === 'the shop', 'the request comes through');
      assert.equal((await g().get('/backends/static')).body.backends.length, 1);
    });

    test('edges, routes and backends say how they do by their traffic, and the overview names those that fail', async () => {
      const upstream = await startUpstream('well');
      const { edge, backend } = await makeEdge('health.test', upstream.address);
      const counted = (requests: number) =>
        until(async () => {
          const { health } = (await g().get('/traffic/health')).body;
          const own = health.find(({ id }: { id: string }) => id === edge.id);
          return own?.requests === requests;
        }, 'the requests are counted');
      await visit(g(), 'health.test');
      await counted(1);
      const page = await d().open({ path: `/https-edges/${edge.id}` });
      await page.getByRole('heading', { name: /^Answers: 1 request since .+, errors 0 %$/ }).waitFor();
      await page.getByRole('table', { name: 'routes' }).getByText('Answers', { exact: true }).waitFor();

      await upstream[Symbol.asyncDispose]();
      assert.equal((await visit(g(), 'health.test', '/checkout')).status, 502);
      await counted(2);
      const group = await g().create('/backends/tunnel_group', { labels: { app: 'nobody' } });
      const offline = await g().create('/edges/https', { hostports: ['offline.test:443'], description: 'offline' });
      await g().create(`/edges/https/${offline.id}/routes`, {
        match: '/',
        match_type: 'path_prefix',
        backend: { backend_id: group.id },
      });
      await page.goto('/dashboard/https-edges');
      const inList = (name: string) => page.getByRole('row').filter({ hasText: name });
      await inList('health.test').getByText('Answers in part').waitFor();
      await inList('health.test').getByText('50 %').waitFor();
      await inList('offline').getByText('Does not answer').waitFor();
      await page.getByRole('link', { name: /^HTTPS edges 2 in trouble$/ }).waitFor();

      await lead(page, '/');
      const item = page
        .getByRole('listitem')
        .filter({ hasText: 'health.test: Answers in part: 1 of 2 requests failed in the last ten minutes' });
      await item.getByText('The upstream server refused the connection.').waitFor();
      await item.getByRole('link', { name: 'See the edge' }).click();
      await page.getByRole('heading', { name: 'Answers in part: 1 of 2 requests' }).waitFor();
      await page.getByText('GET /checkout was answered 502: The upstream server refused the connection.').waitFor();
      await lookAt(page, 'https-edge-in-trouble');
      await lead(page, `/backends/${backend.id}`);
      await page.getByRole('heading', { name: 'Answers in part: 1 of 2 requests' }).waitFor();
    });

    test('headers are set, switched off and removed, and traffic follows', async () => {
      await using upstream = await startUpstream('headers');
      const { edge, route, path } = await makeEdge('headers.test', upstream.address);
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Set up Request headers' }).click();
      const form = page.getByRole('form', { name: 'Request headers' });
      await form.getByLabel('Header name').fill('Transfer-Encoding');
      await form.getByLabel('Header value').fill('identity');
      await form.getByRole('button', { name: 'Save request headers' }).click();
      await form.getByText('The header "transfer-encoding" cannot be added').waitFor();
      assert.equal(await form.getByLabel('Header name').getAttribute('aria-invalid'), 'true');

      await form.getByLabel('Header name').fill('x-zone');
      await form.getByLabel('Header value').fill('é'.repeat(2100));
      await form.getByText('value 4200 of 4096 bytes').waitFor();
      await form.getByLabel('Header value').fill('inside');
      await form.getByLabel('Remove').fill('x-debug');
      await form.getByRole('button', { name: 'Save request headers' }).click();
      await row(page, 'Request headers').getByText('x-zone').waitFor();
      const last = async () => {
        await visit(g(), 'headers.test', '/', { 'x-debug': '1' });
        return upstream.seen.at(-1) ?? {};
      };
      await until(async () => (await last())['x-zone'] === 'inside', 'the header is added');
      assert.equal((await last())['x-debug'], undefined);

      await page.getByRole('switch', { name: 'Request headers' }).click();
      await page.getByRole('switch', { name: 'Request headers', checked: false }).waitFor();
      await until(async () => (await last())['x-zone'] === undefined, 'the header is not added any more');
      const stored = (await g().get(`/edges/https/${edge.id}/routes/${route.id}`)).body.request_headers;
      assert.deepEqual(stored, { enabled: false, add: { 'x-zone': 'inside' }, remove: ['x-debug'] });

      await page.getByRole('button', { name: 'Remove Request headers' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('switch it off instead').waitFor();
      await dialog.getByText('x-zone').waitFor();
      await dialog.getByRole('button', { name: 'Remove module' }).click();
      await page.getByRole('button', { name: 'Set up Request headers' }).waitFor();
      assert.equal((await g().get(`/edges/https/${edge.id}/routes/${route.id}`)).body.request_headers, null);
    });

    test('a module whose form is only its schema is switched on', async () => {
      const { edge, route, path } = await makeEdge('small.test', '127.0.0.1:1');
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Set up Compression' }).waitFor();
      assert.deepEqual(await page.locator('.inset .modules .m > b').allTextContents(), ['Backend']);
      const unset = await page.locator('.inset .addable button').allTextContents();
      const places = ['IP restriction', 'Request headers', 'Response headers', 'Compression'];
      assert.deepEqual(
        unset.filter((title) => places.includes(title)),
        places,
      );
      assert.equal(new Set(unset).size, unset.length);
      // The whole row of a route opens and closes it, as rows of other lists do.
      await page.getByRole('cell', { name: 'prefix', exact: true }).click();
      await page.locator('.inset').waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: 'prefix', exact: true }).click();
      await page.getByRole('button', { name: 'Set up Compression' }).click();
      await page.getByText('Compresses responses for clients that accept it').waitFor();
      await page.getByRole('button', { name: 'Save compression' }).click();
      await page.getByRole('switch', { name: 'Compression', checked: true }).waitFor();
      const { body } = await g().get(`/edges/https/${edge.id}/routes/${route.id}`);
      assert.deepEqual(body.compression, { enabled: true });
    });

    test('a password is asked for, stays when the form is saved without it, and patterns are lines', async () => {
      const { edge, route, path } = await makeEdge('secret.test', '127.0.0.1:1');
      const routePath = `/edges/https/${edge.id}/routes/${route.id}`;
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Set up Password' }).click();
      const form = page.getByRole('form', { name: 'Password' });
      await form.getByLabel('User name').fill('ada');
      await form.getByRole('button', { name: 'Save password' }).click();
      await form.getByText('There is no password for "ada"').waitFor();
      await form.getByLabel('Password', { exact: true }).fill('a long one');
      assert.equal(await form.getByLabel('Password', { exact: true }).getAttribute('type'), 'password');
      await form.getByRole('button', { name: 'Save password' }).click();
      await page.getByRole('switch', { name: 'Password', checked: true }).click();
      await page.getByRole('switch', { name: 'Password', checked: false }).click();
      await page.getByRole('switch', { name: 'Password', checked: true }).waitFor();
      assert.deepEqual((await g().get(routePath)).body.basic_auth, {
        enabled: true,
        credentials: [{ username: 'ada' }],
      });
      assert.equal((await visit(g(), 'secret.test')).status, 401);

      await page.getByRole('button', { name: 'Set up Webhook signature' }).click();
      const webhook = page.getByRole('form', { name: 'Webhook signature' });
      await webhook.getByLabel('Provider').fill('acme');
      await webhook.getByLabel('Secret').fill('s3cret');
      await webhook.getByRole('button', { name: 'Save webhook signature' }).click();
      await webhook.getByText('there is no provider of this name').waitFor();
      await webhook.getByLabel('Provider').fill('github');
      await webhook.getByRole('button', { name: 'Save webhook signature' }).click();
      await page.getByText('Signed by github').waitFor();
      await page.getByRole('switch', { name: 'Webhook signature', checked: true }).click();
      await page.getByRole('switch', { name: 'Webhook signature', checked: false }).waitFor();
      assert.deepEqual((await g().get(routePath)).body.webhook_verification, { enabled: false, provider: 'github' });

      await page.getByRole('table', { name: 'routes' }).getByRole('button', { name: 'Set up Rate limit' }).click();
      const rate = page.getByRole('form', { name: 'Rate limit' });
      assert.doesNotMatch((await rate.textContent()) ?? '', /TCP|TLS|docs\/|false:/, 'only what concerns a route');
      assert.equal(await rate.getByLabel('Header').count(), 0, 'sources are counted');
      await rate.getByLabel('Requests that each may make').fill('7');
      await rate.getByLabel('Counted for each').selectOption('header');
      await rate.getByRole('button', { name: 'Save rate limit' }).click();
      await rate.getByText('needs the name of the header').waitFor();
      await rate.getByLabel('Header').fill('X-Api-Key');
      await rate.getByRole('button', { name: 'Save rate limit' }).click();
      await page.getByText('7 within 60 seconds for each value of x-api-key').waitFor();

      await page.getByRole('button', { name: 'Set up User agent filter' }).click();
      await page.getByLabel('Deny').fill('curl\n\n  wget ');
      await page.getByRole('button', { name: 'Save user agent filter' }).click();
      await page.getByRole('switch', { name: 'User agent filter', checked: true }).waitFor();
      assert.deepEqual((await g().get(routePath)).body.user_agent_filter.deny, ['curl', 'wget']);
    });

    test('an authority of visitors is added, and an edge asks for its certificates and for a version', async () => {
      const { edge, path } = await makeEdge('mutual.test', '127.0.0.1:1');
      const page = await d().open({ path: '/certificates?kind=client' });
      await page.getByRole('button', { name: 'Add authority' }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Certificate', { exact: true }).fill('no certificate');
      await dialog.getByLabel('Description').fill('Staff');
      await dialog.getByRole('button', { name: 'Add authority' }).click();
      await dialog.getByText('cannot be used').waitFor();
      await dialog.getByLabel('Certificate', { exact: true }).fill(new ClientAuthority('staff').pem);
      await dialog.getByRole('button', { name: 'Add authority' }).click();
      await page.getByRole('heading', { name: 'Staff' }).waitFor();

      await lead(page, path);
      await page.getByRole('button', { name: 'Set up Mutual TLS' }).click();
      await page.getByLabel('Certificates by').selectOption({ label: 'Staff' });
      await page.getByRole('button', { name: 'Save mutual TLS' }).click();
      await page.getByRole('switch', { name: 'Mutual TLS', checked: true }).waitFor();
      await page.getByRole('button', { name: 'Set up TLS version' }).click();
      await page.getByLabel('Oldest version').selectOption('1.3');
      await page.getByRole('button', { name: 'Save TLS version' }).click();
      await page.getByText('TLS 1.3 alone').waitFor();
      const { mutual_tls: module, tls_termination: version } = (await g().get(`/edges/https/${edge.id}`)).body;
      assert.equal(module.certificate_authorities.length, 1);
      assert.equal(version.min_version, '1.3');

      const tls = await g().create('/edges/tls', {
        hostports: ['mutual-too.test:443'],
        tls_termination: {},
        mutual_tls: { certificate_authority_ids: [module.certificate_authorities[0].id] },
      });
      await page.goto(`${g().url}/dashboard/certificates/${module.certificate_authorities[0].id}`);
      await page.getByRole('button', { name: 'Delete…' }).click();
      await dialog.getByText('TLS edge mutual-too.test:443').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Still used by 2' }).isDisabled());
      await g().delete(`/edges/tls/${tls.id}`);
    });

    test('an IP restriction shows who gets in before it refuses anybody', async () => {
      await using upstream = await startUpstream('behind the gate');
      const { edge, route, path } = await makeEdge('gate.test', upstream.address);
      const policy = await g().create('/ip_policies', { description: 'Offices' });
      await g().create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '198.51.100.0/24', action: 'allow' });
      const module = async () => (await g().get(`/edges/https/${edge.id}/routes/${route.id}`)).body.ip_restriction;
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Set up IP restriction' }).click();
      const form = page.getByRole('form', { name: 'IP restriction' });
      await form.getByRole('button', { name: 'Save, then see who gets in' }).click();
      await form.getByText('needs at least one IP policy').waitFor();
      await form.getByLabel('Let in addresses of').selectOption({ label: 'Offices' });
      await form.getByRole('button', { name: 'Save, then see who gets in' }).click();

      const dialog = page.getByRole('dialog', { name: 'Who gets in at the route /?' });
      const tried = (ip: string) => dialog.locator('.rules > li', { hasText: ip });
      await tried('127.0.0.1').getByText('Refused').waitFor();
      assert.equal((await module()).enabled, false);
      await dialog.getByLabel('Address', { exact: true }).fill('198.51.100.7');
      await dialog.getByRole('button', { name: 'Try it' }).click();
      await tried('198.51.100.7').getByText('Let in').waitFor();
      await tried('198.51.100.7').getByText('Allow 198.51.100.0/24, Offices').waitFor();
      await dialog.getByLabel('Address', { exact: true }).fill('nowhere');
      await dialog.getByRole('button', { name: 'Try it' }).click();
      await dialog.getByText('is not an IPv4 or IPv6 address').waitFor();
      assert.equal((await visit(g(), 'gate.test')).status, 200);

      await dialog.getByRole('button', { name: 'Switch on' }).click();
      await page.getByRole('switch', { name: 'IP restriction', checked: true }).waitFor();
      await until(async () => (await visit(g(), 'gate.test')).status === 403, 'everybody else is refused');
      assert.equal((await module()).enabled, true);
    });

    test('the softer way makes a restriction that only warns, and leaves the module off', async () => {
      const policy = await g().create('/ip_policies', { description: 'Partners' });
      const { edge, route, path } = await makeEdge('soft.test', '127.0.0.1:1', {
        ip_restriction: { enabled: false, ip_policy_ids: [policy.id] },
      });
      const page = await d().open({ path });
      await page.getByRole('switch', { name: 'IP restriction', checked: false }).click();
      await page.getByRole('button', { name: 'Warn first instead' }).click();
      await page.waitForURL(/\/ip-restrictions\/ipx_/);
      const { body } = await g().get(`/ip_restrictions/${page.url().split('/').at(-1)}`);
      assert.deepEqual([body.type, body.enforced, body.ip_policies[0].id], ['endpoints', false, policy.id]);
      const { body: after } = await g().get(`/edges/https/${edge.id}/routes/${route.id}`);
      assert.equal(after.ip_restriction.enabled, false);
    });

    test('of two people who edit one edge, the second sees the change of the first before anything is overwritten', async () => {
      const { edge, route, path } = await makeEdge('shared.test', '127.0.0.1:1', {
        request_headers: { add: { a: '1' } },
      });
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Edit Request headers' }).click();
      await page.getByLabel('Header value').fill('mine');
      const routePath = `/edges/https/${edge.id}/routes/${route.id}`;
      await g().put(`${routePath}/request_headers`, { add: { a: '1' }, remove: ['theirs'] });
      await page.getByRole('button', { name: 'Save request headers' }).click();
      await page.getByText('Your edit is kept and not saved.').waitFor();
      assert.deepEqual((await g().get(routePath)).body.request_headers.add, { a: '1' });
      await page.getByRole('button', { name: 'Show that change' }).click();
      await page.locator('.diff .add', { hasText: 'theirs' }).waitFor();
      assert.equal(await page.getByLabel('Header value').inputValue(), 'mine');
      await page.getByRole('button', { name: 'Put mine on top' }).click();
      await row(page, 'Request headers').getByText('removes').waitFor();
      const { body } = await g().get(routePath);
      assert.deepEqual(body.request_headers, { enabled: true, add: { a: 'mine' }, remove: ['theirs'] });

      await page.goto(`/dashboard/https-edges/${edge.id}?edit=1`);
      await page.getByLabel('Description').fill('my name');
      await g().patch(`/edges/https/${edge.id}`, { metadata: 'their note' });
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Your edit is kept and not saved.').waitFor();
      await page.getByRole('button', { name: 'Put mine on top' }).click();
      await page.getByRole('heading', { name: 'my name' }).waitFor();
      assert.equal((await g().get(`/edges/https/${edge.id}`)).body.metadata, 'their note');
    });

    test('a switch that somebody else was faster with changes nothing, and says so', async () => {
      const { edge, route, path } = await makeEdge('fast.test', '127.0.0.1:1', { compression: {} });
      const page = await d().open({ path });
      await page.getByRole('switch', { name: 'Compression', checked: true }).waitFor();
      const routePath = `/edges/https/${edge.id}/routes/${route.id}`;
      await g().patch(routePath, { description: 'theirs' });
      await page.getByRole('switch', { name: 'Compression' }).click();
      await page.getByText('Somebody else changed this in the meantime.').waitFor();
      assert.equal((await g().get(routePath)).body.compression.enabled, true);
      await page.getByText('theirs').waitFor();
      await page.getByRole('switch', { name: 'Compression' }).click();
      await page.getByRole('switch', { name: 'Compression', checked: false }).waitFor();
    });

    test('deleting an edge names its routes and asks for its name; a route alone can be changed and deleted', async () => {
      const { edge, route, path } = await makeEdge('gone.test', '127.0.0.1:1');
      const page = await d().open({ path });
      await page.getByRole('button', { name: 'Edit route' }).click();
      await page.getByLabel('Path', { exact: true }).fill('blog');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('The match "blog" is not acceptable').waitFor();
      await page.getByLabel('Path', { exact: true }).fill('/blog');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: '/blog' }).waitFor();
      await g().create(`/edges/https/${edge.id}/routes`, { match: '/other', match_type: 'exact_path' });
      await page.getByRole('button', { name: 'Delete route…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('It sends traffic to behind gone.test').waitFor();
      await dialog.getByRole('button', { name: 'Delete route' }).click();
      await dialog.waitFor({ state: 'hidden' });
      assert.equal((await g().get(`/edges/https/${edge.id}/routes/${route.id}`)).status, 404);

      await g().create(`/edges/https/${edge.id}/routes`, {
        match: '/again',
        match_type: 'exact_path',
        backend: { backend_id: (await g().create('/backends/static', { address: '127.0.0.1:2' })).id },
      });
      await page.reload();
      await page.getByRole('button', { name: 'Delete…', exact: true }).click();
      await dialog.getByText('/again').waitFor();
      assert.ok(await dialog.getByRole('button', { name: 'Delete edge' }).isDisabled());
      await dialog.getByLabel('Type gone.test to go on').fill('gone.test');
      await dialog.getByRole('button', { name: 'Delete edge' }).click();
      await page.getByText('Deleted the edge gone.test.').waitFor();
      assert.equal((await g().get(`/edges/https/${edge.id}`)).status, 404);
    });

    test('filter and order of the list are in the URL', async () => {
      await makeEdge('zulu.test', '127.0.0.1:1');
      await g().create('/edges/https', { description: 'alpha without a name' });
      const page = await d().open({ path: '/https-edges?q=zulu' });
      await page.getByRole('link', { name: 'zulu.test' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'alpha without a name' }).count(), 0);
      await page.goto('/dashboard/https-edges?state=unfinished');
      await page.getByRole('link', { name: 'alpha without a name' }).waitFor();
      assert.equal(await page.getByRole('link', { name: 'zulu.test' }).count(), 0);
      await page.goto('/dashboard/https-edges?sort=-name');
      await page.locator('tbody tr').first().getByRole('link', { name: 'zulu.test' }).waitFor();
    });
  },
  { httpsListen: '127.0.0.1:0' },
);
