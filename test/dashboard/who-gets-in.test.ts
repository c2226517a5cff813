import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { ClientAuthority } from '../support/client-certificates.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { callFrom, restrict } from './support/restrictions.ts';

onDashboard('who gets in', (d) => {
  /** The words of a door's row: now, if all were enforced, and what decides. */
  const rowOf = async (page: Page, door: string): Promise<readonly string[]> => {
    const row = page.getByRole('row').filter({ has: page.getByText(door, { exact: true }) });
    return (await row.getByRole('cell').allInnerTexts()).slice(1, 4).map((text) => text.trim());
  };

  test('shows the verdict of every door, rule by rule, and what enforcing all warnings would change', async () => {
    const { gatehouse } = d();
    await restrict(gatehouse, { type: 'api', description: 'API: offices', allow: ['127.0.0.1/32', '198.51.100.0/25'] });
    const { policyId: depots } = await restrict(gatehouse, {
      type: 'endpoints',
      description: 'Endpoints: depots',
      allow: ['203.0.113.0/25'],
    });
    const contractors = await gatehouse.create('/ip_policies', { description: 'Contractors' });
    await gatehouse.create('/ip_policy_rules', {
      ip_policy_id: contractors.id,
      cidr: '203.0.113.64/28',
      action: 'deny',
    });
    const https = await gatehouse.create('/edges/https', { description: 'Booking API' });
    await gatehouse.create(`/edges/https/${https.id}/routes`, { match: '/', match_type: 'path_prefix' });
    await gatehouse.create(`/edges/https/${https.id}/routes`, {
      match: '/v2/admin',
      match_type: 'path_prefix',
      ip_restriction: { ip_policy_ids: [depots, contractors.id] },
    });
    await gatehouse.create('/edges/tcp', { description: 'Depot MQTT', ip_restriction: { ip_policy_ids: [depots] } });
    await callFrom(gatehouse, '203.0.113.70', 1);

    const page = await d().open({ path: '/who-gets-in' });
    await page.getByRole('button', { name: '203.0.113.70' }).click();
    await page
      .getByRole('heading', {
        name: /^203\.0\.113\.70 gets into 5 of 6 doors now, depends on the route at 1, and would get into 4 if every warning were enforced$/,
      })
      .waitFor();
    assert.match(page.url(), /ip=203\.0\.113\.70/);
    await page.getByText('Refused by Booking API /v2/admin.').waitFor();
    assert.deepEqual(await rowOf(page, 'Dashboard'), ['Not restricted', 'Same', 'Nothing restricts it']);
    assert.deepEqual(await rowOf(page, 'Management API'), [
      'Let in, warned',
      'Refused',
      'No rule of API: offices policy contains it',
    ]);
    assert.deepEqual(await rowOf(page, 'Endpoints'), [
      'Let in',
      'Same',
      '203.0.113.0/25 allow, Endpoints: depots policy',
    ]);
    assert.deepEqual(await rowOf(page, 'Booking API'), [
      'Differs by route',
      'Same',
      '1 route lets it in, 1 refuses it',
    ]);
    assert.deepEqual(await rowOf(page, '/v2/admin'), ['Refused', 'Same', '203.0.113.64/28 deny, Contractors']);

    await page.getByRole('button', { name: 'Why: /v2/admin' }).click();
    await page.getByText('203.0.113.70 lies in 203.0.113.64/28, which is denied. A deny rule always wins.').waitFor();
    await page.getByText('Module ip_restriction of route /v2/admin').waitFor();
    await page.reload();
    await page.getByText('A deny rule always wins.').waitFor();
    await lookAt(page, 'who-gets-in');
  });

  test('never says “let in” for a door that asks for more than the address', async () => {
    const { gatehouse } = d();
    const asks = {
      oidc: { oidc: { issuer: 'https://id.example.com', client_id: 'g', client_secret: 's', groups: ['ops'] } },
      password: { basic_auth: { credentials: [{ username: 'ada', password: 'long enough' }] } },
      token: { jwt_validation: { issuer: 'https://id.example.com', audiences: ['a'] } },
      signature: { webhook_verification: { provider: 'github', secret: 'long enough' } },
      limit: { rate_limit: { limit: 5, window_seconds: 60 } },
    };
    for (const [name, module] of Object.entries(asks)) {
      const edge = await gatehouse.create('/edges/https', { description: `Asks: ${name}` });
      await gatehouse.create(`/edges/https/${edge.id}/routes`, { match: '/', match_type: 'path_prefix', ...module });
    }
    const { pem: ca_pem } = new ClientAuthority('devices');
    const authority = await gatehouse.create('/certificate_authorities', { description: 'Devices', ca_pem });
    const mutual_tls = { certificate_authority_ids: [authority.id] };
    const payments = await gatehouse.create('/edges/https', { description: 'Asks: certificate', mutual_tls });
    for (const match of ['/', '/v2'])
      await gatehouse.create(`/edges/https/${payments.id}/routes`, { match, match_type: 'path_prefix' });
    await gatehouse.create('/edges/tls', { description: 'Asks: MQTT', mutual_tls, tls_termination: {} });

    const page = await d().open({ path: '/who-gets-in?ip=203.0.113.1' });
    await page.getByRole('heading', { name: /doors now, is asked for more at 6\b/ }).waitFor();
    await page.getByText(/The address alone does not suffice at (Asks: [A-Za-z]+(, )?){4} and 2 more\./).waitFor();
    const rows: Readonly<Record<string, readonly [now: string, decided: string]>> = {
      oidc: ['Asked to sign in', 'Asked to sign in: ops'],
      password: ['Needs a password', 'Needs a password'],
      token: ['Needs a token', 'Needs a token of https://id.example.com'],
      signature: ['Needs a signature', 'Needs a signature of GitHub'],
      certificate: ['Needs a certificate', 'Needs a certificate of Devices'],
      MQTT: ['Needs a certificate', 'Needs a certificate of Devices'],
    };
    for (const [name, [now, decided]] of Object.entries(rows))
      assert.deepEqual(await rowOf(page, `Asks: ${name}`), [now, 'Same', decided]);
    assert.equal((await rowOf(page, 'Asks: limit'))[0], 'Let in');
    await page.getByRole('button', { name: 'Why: Asks: oidc' }).click();
    await page.getByText('Module oidc').waitFor();
    await page.getByText('The address is let in, but that is not enough.').waitFor();
    assert.equal(await page.getByText('Every check lets it in.').count(), 0);
    await lookAt(page, 'who-gets-in-asks');
  });

  test('never says “let in” for a door whose policy may refuse, endpoints among them', async () => {
    const { gatehouse } = d();
    const policyWith = (...rules: readonly object[]) => JSON.stringify({ on_http_request: rules });
    const hello = { actions: [{ type: 'custom-response', config: { body: 'hello' } }] };
    const put = { expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] };
    const office = { actions: [{ type: 'restrict-ips', config: { allow: ['203.0.113.0/24'] } }] };
    const edge = await gatehouse.create('/edges/https', { description: 'Ruled: route' });
    await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match: '/',
      match_type: 'path_prefix',
      traffic_policy: { value: policyWith(put) },
    });
    const tcp = JSON.stringify({
      on_tcp_connect: [{ expressions: ['conn.client_port > 1'], actions: [{ type: 'deny' }] }],
    });
    await gatehouse.create('/edges/tcp', { description: 'Ruled: port', traffic_policy: { value: tcp } });
    const endpoints: Readonly<Record<string, string>> = {
      put: policyWith(put, hello),
      hello: policyWith(hello),
      office: policyWith(office, hello),
    };
    const ids: Record<string, string> = {};
    for (const [name, traffic_policy] of Object.entries(endpoints)) {
      await gatehouse.create('/reserved_domains', { domain: `${name}.ruled.test` });
      ids[name] = (await gatehouse.create('/endpoints', { url: `https://${name}.ruled.test`, traffic_policy })).id;
    }
    await gatehouse.create('/endpoints', { url: 'https://unseen.internal', traffic_policy: policyWith(hello) });

    const page = await d().open({ path: '/who-gets-in?ip=198.51.100.9' });
    const depends = ['Depends on its policy', 'Must satisfy the rules of the traffic policy (deny)'];
    await page.getByText('https://put.ruled.test', { exact: true }).waitFor();
    const told = async (door: string) => {
      const [now, , by] = await rowOf(page, door);
      return [now, by];
    };
    assert.deepEqual(await told('Ruled: route'), depends);
    assert.deepEqual(await told('Ruled: port'), depends);
    assert.deepEqual(await told('https://put.ruled.test'), depends);
    assert.equal((await told('https://office.ruled.test'))[0], 'Refused');
    assert.match((await told('https://hello.ruled.test'))[0] ?? '', /^(?:Let in|Not restricted)/);
    assert.equal(await page.getByText('https://unseen.internal').count(), 0, 'visitors do not reach it');
    await lookAt(page, 'who-gets-in-policies');

    await lead(page, `/endpoints/${ids['office']}`);
    await page.getByRole('link', { name: 'Who gets in here' }).click();
    await page.getByRole('heading', { name: '127.0.0.1 does not get into https://office.ruled.test now' }).waitFor();
    await page.getByLabel('Address', { exact: true }).fill('203.0.113.9');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('heading', { name: '203.0.113.9 gets into https://office.ruled.test now' }).waitFor();
  });

  test('says of a visitor who is described what doors do that ask for more', async () => {
    const { gatehouse } = d();
    const home = await gatehouse.create('/ip_policies', { description: 'Office' });
    const rule = { ip_policy_id: home.id, cidr: '198.51.100.0/24', action: 'allow' };
    await gatehouse.create('/ip_policy_rules', rule);
    const login = { issuer: 'https://id.example.com', client_id: 'g', client_secret: 's', groups: ['ops'] };
    const addEdge = async (description: string, modules: object, ofEdge: object = {}) => {
      const { id } = await gatehouse.create('/edges/https', { description, ...ofEdge });
      await gatehouse.create(`/edges/https/${id}/routes`, { match: '/', match_type: 'path_prefix', ...modules });
      return id;
    };
    await addEdge('Home: wiki', { oidc: login });
    await addEdge('Home: pay', { oidc: { ...login, network: 'and_login', ip_policy_ids: [home.id] } });
    await addEdge('Home: shop', { basic_auth: { credentials: [{ username: 'ada', password: 'long enough' }] } });
    const { pem: ca_pem } = new ClientAuthority('laptops');
    const laptops = await gatehouse.create('/certificate_authorities', { description: 'Laptops', ca_pem });
    await addEdge('Home: build', {}, { mutual_tls: { certificate_authority_ids: [laptops.id] } });

    const page = await d().open({ path: '/who-gets-in?ip=203.0.113.1' });
    const expectRows = async (rows: Readonly<Record<string, readonly [now: string, decided: string | RegExp]>>) => {
      for (const [name, [now, decided]] of Object.entries(rows)) {
        const row = page.getByRole('row').filter({ hasText: `Home: ${name}` });
        await row.getByText(now, { exact: true }).first().waitFor();
        await row.getByText(decided).first().waitFor();
      }
    };
    await expectRows({ wiki: ['Asked to sign in', 'Asked to sign in: ops'] });
    await page.getByText('Describe the visitor').click();
    await page.getByLabel('Groups', { exact: true }).fill('ops, on-call');
    await page.getByLabel('Certificate', { exact: true }).selectOption({ label: 'The visitor shows none' });
    await page.getByRole('button', { name: 'Check with this' }).click();
    await expectRows({
      wiki: ['Let in', 'It goes by the login of a visitor, and that of this visitor is enough'],
      pay: ['Refused', 'No rule of Office contains it'],
      shop: ['Needs a password', 'Needs a password'],
      build: ['Refused', 'A visitor needs a certificate of Laptops, and this one has none that it takes'],
    });
    assert.match(page.url(), /groups=ops/);
    await page.getByRole('button', { name: 'Why: Home: build' }).click();
    await page.getByText('Module mutual_tls of Home: build').waitFor();
    await page.getByText('It is refused now, whatever else would let it in.').waitFor();
    assert.equal(await page.locator('tr.detail').getByRole('button', { name: 'Let it in…' }).count(), 0);
    await lookAt(page, 'who-gets-in-described');

    await page.getByLabel('Groups', { exact: true }).fill('sales');
    await page.getByLabel('Certificate', { exact: true }).selectOption({ label: 'A valid one of Laptops' });
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Header name').fill('Authorization');
    await page.getByLabel('Header value').fill(`Basic ${Buffer.from('ada:long enough').toString('base64')}`);
    await page.getByRole('button', { name: 'Check with this' }).click();
    await expectRows({
      wiki: ['Refused', 'Its login lets in others, and not this visitor'],
      shop: ['Let in', 'that of this visitor is enough'],
      build: ['Let in', 'It goes by the certificate of a visitor, and that of this visitor is enough'],
    });
    assert.doesNotMatch(page.url(), /authorization|basic/i);
    await page.getByRole('button', { name: 'Forget it' }).click();
    await expectRows({ wiki: ['Asked to sign in', 'Asked to sign in: ops'], shop: ['Needs a password', 'password'] });
    assert.match(page.url(), /\?ip=203\.0\.113\.1[^a-z]*/);
  });

  test('lets an address in from where it was refused', async () => {
    const { gatehouse } = d();
    await restrict(gatehouse, { type: 'agent', description: 'Agents: depots', allow: ['192.0.2.0/24'] });
    const page = await d().open({ path: '/who-gets-in?ip=2001:db8::7&open=agent' });
    await page.getByText('No rule of its policies contains 2001:db8::7').waitFor();
    await page.getByRole('row').getByRole('button', { name: 'Let it in…' }).click();
    assert.equal(await page.getByLabel('Range').inputValue(), '2001:db8::7/128');
    await page.getByLabel('Range').fill('2001:db8::7/64');
    await page.getByRole('button', { name: 'Add the allow rule' }).click();
    await page.getByText('Did you mean 2001:db8::/64?').waitFor();
    await page.getByLabel('Range').fill('2001:db8::/64');
    await page.getByRole('button', { name: 'Add the allow rule' }).click();
    await page.getByText('2001:db8::7 lies in 2001:db8::/64, which is allowed').waitFor();
    assert.deepEqual((await rowOf(page, 'Agents')).slice(0, 2), ['Let in', 'Same']);
  });

  test('asks about one edge where the page of that edge links to it, first for whoever follows the link', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'This machine' });
    const rule = { ip_policy_id: policy.id, cidr: '127.0.0.1/32', action: 'allow' };
    await gatehouse.create('/ip_policy_rules', rule);
    const module = { ip_restriction: { ip_policy_ids: [policy.id] } };
    const https = await gatehouse.create('/edges/https', { description: 'Guarded shop' });
    const route = { match: '/', match_type: 'path_prefix', ...module };
    await gatehouse.create(`/edges/https/${https.id}/routes`, route);
    const tcp = await gatehouse.create('/edges/tcp', { description: 'Guarded port', ...module });

    const page = await d().open({ path: `/https-edges/${https.id}` });
    await page.getByRole('link', { name: 'Who gets in here' }).click();
    await page.getByRole('heading', { name: '127.0.0.1 gets into Guarded shop now' }).waitFor();
    assert.match((await rowOf(page, 'Guarded shop'))[0] ?? '', /^Let in/);
    assert.equal(await page.getByText('Guarded port').count(), 0);
    await lookAt(page, 'who-gets-in-edge');
    await page.getByLabel('Address', { exact: true }).fill('192.0.2.9');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('heading', { name: '192.0.2.9 does not get into Guarded shop now' }).waitFor();
    await page.locator('.verdict.deny').waitFor();
    await page.getByRole('button', { name: 'Show every door' }).click();
    await page.getByText('Guarded port').first().waitFor();
    await page.getByRole('heading', { name: /^192\.0\.2\.9 gets into [1-9]/ }).waitFor();
    assert.equal(await page.locator('.verdict.deny').count(), 0, 'an address that is refused somewhere is no alarm');
    assert.match(page.url(), /\?ip=192\.0\.2\.9$/);

    await lead(page, `/tcp-edges/${tcp.id}`);
    await page.getByRole('link', { name: 'Who gets in here' }).click();
    await page.getByRole('heading', { name: '127.0.0.1 gets into Guarded port now' }).waitFor();
    await lead(page, `/who-gets-in?edge=${tcp.id.slice(0, -3)}aaa`);
    await page.getByText('The doors could not be read').waitFor();
  });

  test('says beside the field what is wrong with an address', async () => {
    const page = await d().open({ path: '/who-gets-in' });
    await page.getByLabel('Address', { exact: true }).fill('203.0.113.300');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('"203.0.113.300" is not an IPv4 or IPv6 address').waitFor();
    assert.equal(await page.getByLabel('Address', { exact: true }).getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByLabel('Address', { exact: true }).inputValue(), '203.0.113.300');
    await lookAt(page, 'who-gets-in-wrong');
  });
});
