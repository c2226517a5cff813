import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makePair } from '../support/certificate-pair.ts';
import { runOnHost } from '../support/people.ts';
import { onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

onDashboard('the overview', (d) => {
  test('of an empty installation is three steps, each with its button, and goes on with the first that is not done', async () => {
    const page = await d().open();
    await page.getByRole('heading', { name: 'Three steps to a protected edge' }).waitFor();
    const step = page.locator('.steps [aria-current="step"]');
    await step.getByRole('link', { name: 'Add a backend' }).waitFor();
    const backend = await d().gatehouse.create('/backends/static', { address: '127.0.0.1:9' });
    await page.reload();
    await step.getByRole('link', { name: 'Create an HTTPS edge' }).waitFor();
    const edge = await d().gatehouse.create('/edges/https', { hostports: ['app.example.com:443'] });
    await page.reload();
    await step.getByRole('link', { name: 'Finish the edge' }).click();
    await page.getByText('Requests find no route yet: add one.').waitFor();
    await d().gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match: '/',
      match_type: 'path_prefix',
      backend: { backend_id: backend.id },
    });
    await page.goto('/dashboard/');
    await step.getByRole('link', { name: 'Add a restriction' }).waitFor();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // Nothing guards it, which would need a person in the tests below.
    await d().gatehouse.delete(`/edges/https/${edge.id}`);
  });

  test('says what needs a person, and that nothing does', async () => {
    const policy = await d().gatehouse.create('/ip_policies');
    await d().gatehouse.create('/edges/https', { hostports: ['shop.example.com:443'] });
    const restriction = await d().gatehouse.create('/ip_restrictions', {
      type: 'api',
      description: 'API: offices',
      ip_policy_ids: [policy.id],
    });
    await d().gatehouse.get('/api_keys', { headers: { 'x-forwarded-for': '203.0.113.9' } });
    const san = 'subjectAltName=DNS:late.example';
    const pair = makePair('late', '-subj', '/CN=late.example', '-addext', san, '-days', '1');
    const certificate = await d().gatehouse.create('/tls_certificates', pair);
    const page = await d().open();
    await page.getByText('Certificate late.example ends tomorrow').waitFor();
    await d().gatehouse.delete(`/tls_certificates/${certificate.id}`);
    const item = page.getByRole('listitem').filter({ hasText: 'Restriction “API: offices” only warns' });
    await item.getByRole('link', { name: /^Review/ }).click();
    await page.waitForURL(`**/ip-restrictions/${restriction.id}`);
    await d().gatehouse.delete(`/ip_restrictions/${restriction.id}`);
    await page.goto('/dashboard/');
    await page.getByText('Nothing. No edge fails, no restriction only warns').waitFor();
  });

  test('shows the worst first and few, and what was put away is back when it is worse', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies');
    const ending = async (name: string, days: string) =>
      gatehouse.create('/tls_certificates', makePair(name, '-subj', `/CN=${name}.example`, '-days', days));
    const made = [await ending('later', '12'), await ending('sooner', '3')];
    for (const days of ['5', '6', '7', '8', '9']) made.push(await ending(`in${days}`, days));
    const restriction = await gatehouse.create('/ip_restrictions', {
      type: 'api',
      description: 'only API',
      ip_policy_ids: [policy.id],
    });
    const quiet = await gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy.id] });
    await gatehouse.get('/api_keys', { headers: { 'x-forwarded-for': '203.0.113.9' } });
    const page = await d().open();
    const rows = page.locator('main .list').first().locator('b');
    await page.getByText('Restriction “only API” only warns').waitFor();
    assert.equal(await rows.count(), 5, 'the figures of traffic stay in sight');
    await page.getByRole('button', { name: 'Show 5 more' }).click();
    const titles = await rows.allTextContents();
    const place = (words: string) => titles.findIndex((title) => title.includes(words));
    assert.ok(place('sooner.example') < place('later.example') && place('sooner.example') >= 0, titles.join(', '));
    assert.equal(place('Agents restriction'), titles.length - 1, 'what affects nobody stands last');
    const warned = page.getByRole('listitem').filter({ hasText: 'Restriction “only API”' });
    await lookAt(page, 'overview-needs');
    await warned.getByRole('button', { name: /^Put away until tomorrow/ }).click();
    await page.getByRole('button', { name: 'Show 1 put away until tomorrow' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Show 1 put away until tomorrow' }).waitFor();
    assert.equal(await warned.count(), 0);
    // One more address that would be refused.
    await gatehouse.get('/api_keys', { headers: { 'x-forwarded-for': '203.0.113.10' } });
    await page.reload();
    await warned.getByText(/^\d addresses would be refused/).waitFor();
    for (const { id } of made) await gatehouse.delete(`/tls_certificates/${id}`);
    for (const { id } of [restriction, quiet]) await gatehouse.delete(`/ip_restrictions/${id}`);
  });

  test('shows what is used of each quota, and warns where little is left', async () => {
    const { gatehouse } = d();
    const set = (quotas: string) => runOnHost(gatehouse, 'accounts quotas', { account: 'default', set: quotas });
    for (let made = 0; made < 5; made++) await gatehouse.create('/credentials');
    await gatehouse.create('/edges/https', { hostports: ['quota.example.com:443'] });
    const { body } = await gatehouse.get('/quotas');
    const { used } = body.quotas.find(({ name }: { name: string }) => name === 'edges');
    await set(`credentials=6,edges=${used},tls_certificates=7000`);
    const page = await d().open();
    const quotas = page.locator('section', { has: page.getByRole('heading', { name: 'Quotas' }) });
    await quotas.getByText('0 of 7,000').waitFor();
    await quotas.locator('.v.warn', { hasText: '5 of 6' }).waitFor();
    await quotas.locator('.v.deny', { hasText: `${used} of ${used}` }).waitFor();
    const item = (title: string) => page.getByRole('listitem').filter({ hasText: title });
    await item('Credentials: 5 of 6').getByText('The quota is nearly used up.').waitFor();
    await item(`Edges: ${used} of ${used}`).getByText('The quota is used up: more are refused.').waitFor();
    await set('credentials=default,edges=default,tls_certificates=default');
    await page.reload();
    await page.getByText('no quota is near').waitFor();
  });

  test('shows the gateways with their state, and the traffic of the last hour', async () => {
    await d().gatehouse.create('/edges/https', { hostports: ['depot.example.com:443'] });
    const page = await d().open();
    const gateways = page.getByRole('table', { name: 'Gateways' });
    await gateways.getByRole('cell', { name: 'Live' }).waitFor();
    await page.getByText('1 of 1 live').waitFor();
    await page
      .getByRole('img', { name: /^Requests and connections a minute in the last hour: 0 let in, 0 refused/ })
      .waitFor();
  });
});
