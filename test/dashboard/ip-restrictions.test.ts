import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { createUser, from } from '../support/people.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { callFrom, restrict, watchForDays } from './support/restrictions.ts';

onDashboard('the pages of IP restrictions', (d) => {
  const isEnforced = async (id: string): Promise<boolean> =>
    (await d().gatehouse.get(`/ip_restrictions/${id}`)).body.enforced;
  const remove = async (id: string) => assert.equal((await d().gatehouse.delete(`/ip_restrictions/${id}`)).status, 204);
  const openEnforce = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Enforce…' }).click();
    await page.getByRole('dialog').waitFor();
  };

  test('lead from a warning over a decision on each address to an enforced restriction', async () => {
    const { gatehouse } = d();
    const allow = ['127.0.0.1/32', '198.51.100.0/25'];
    const { id } = await restrict(gatehouse, { type: 'api', description: 'API: offices and VPN', allow });
    await callFrom(gatehouse, '203.0.113.70', 12);
    await callFrom(gatehouse, '198.18.40.9', 3);
    await callFrom(gatehouse, '2001:db8:40:7::1a', 1);
    await watchForDays(gatehouse, id);
    const page = await d().open({ path: `/ip-restrictions/${id}` });
    await page.getByRole('heading', { name: 'Not yet: 3 addresses need a decision' }).waitFor();
    await page.getByText('You stay in').waitFor();
    await page.getByText('16 calls would have been refused in the last 7 days').first().waitFor();
    await lookAt(page, 'restriction');
    await page.setViewportSize({ width: 1280, height: 900 });

    await page.getByRole('button', { name: 'Refuse 198.18.40.9 on purpose' }).click();
    await page.getByRole('heading', { name: 'Not yet: 2 addresses need a decision' }).waitFor();
    await page.getByRole('button', { name: 'Let in… 203.0.113.70' }).click();
    await page.getByLabel('Description').fill('deploy pipeline');
    await lookAt(page, 'restriction-let-in');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Add the allow rule' }).click();
    await page.getByRole('heading', { name: 'Not yet: 1 address needs a decision' }).waitFor();
    await page.getByText('Let in since').waitFor();
    await page.getByRole('button', { name: 'Refuse 2001:db8:40:7::1a on purpose' }).click();
    await page.getByRole('heading', { name: 'Safe to enforce: nobody unexpected would be refused' }).waitFor();
    await lookAt(page, 'restriction-safe');
    await page.setViewportSize({ width: 1280, height: 900 });

    await openEnforce(page);
    await page.getByText(`gatehouse restrictions disable ${id}`).waitFor();
    assert.equal(await page.getByRole('checkbox').count(), 0, 'nothing is left to be ticked');
    await page.getByRole('button', { name: 'Enforce now' }).click();
    await page.getByRole('heading', { name: 'Enforced: what no rule of its policies allows is refused' }).waitFor();
    await lookAt(page, 'restriction-enforced');
    assert.equal(await isEnforced(id), true);
    assert.equal((await gatehouse.get('/ip_policies', from('203.0.113.70'))).status, 200);
    assert.equal((await gatehouse.get('/ip_policies', from('198.18.40.9'))).status, 403);
    await remove(id);
  });

  test('ask for one deliberate tick while somebody is undecided', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, { type: 'api', description: 'API: early', allow: ['127.0.0.1/32'] });
    await callFrom(gatehouse, '203.0.113.70', 2);
    await callFrom(gatehouse, '198.18.40.9', 3);
    const page = await d().open({ path: `/ip-restrictions/${id}` });
    await page.getByRole('heading', { name: 'Too early to say' }).waitFor();
    await lookAt(page, 'restriction-early');
    await page.setViewportSize({ width: 1280, height: 900 });
    await openEnforce(page);
    const enforce = page.getByRole('button', { name: 'Enforce now' });
    assert.equal(await enforce.isDisabled(), true);
    await page.getByRole('dialog').getByText('203.0.113.70').waitFor();
    await lookAt(page, 'restriction-enforce');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Refuse the 2 addresses as well that nobody has decided on.').check();
    await enforce.click();
    await page.getByRole('heading', { name: /^Enforced:/ }).waitFor();
    assert.equal(await isEnforced(id), true);

    await page.getByRole('button', { name: 'Turn back to warning…' }).click();
    await page.getByRole('button', { name: 'Turn to warning' }).click();
    await page.getByRole('heading', { name: 'Too early to say' }).waitFor();
    assert.equal(await isEnforced(id), false);
    await remove(id);
  });

  test('do not lock out who enforces, and let them in by one click', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, {
      type: 'dashboard',
      description: 'Dashboard: offices',
      allow: ['192.0.2.0/24'],
    });
    const page = await d().open({ path: `/ip-restrictions/${id}?enforce=1` });
    await page.getByRole('dialog').getByText('you would be refused').waitFor();
    await page.getByRole('checkbox').check();
    const enforce = page.getByRole('button', { name: 'Enforce now' });
    await enforce.click();
    await page.getByText('This would lock you out: your next call from 127.0.0.1 would be refused.').waitFor();
    assert.equal(await page.getByText(/Terraform|header/).count(), 0);
    assert.doesNotMatch((await enforce.getAttribute('class')) ?? '', /primary/);
    await page.locator('.btn.primary', { hasText: 'Allow my address and go on' }).waitFor();
    await lookAt(page, 'restriction-lockout');
    await page.setViewportSize({ width: 1280, height: 900 });
    assert.equal(await isEnforced(id), false, 'nothing was changed');
    await page.getByRole('button', { name: 'Allow my address and go on' }).click();
    await page.getByRole('heading', { name: /^Enforced:/ }).waitFor();
    assert.equal(await isEnforced(id), true);

    const elsewhere = await d().openSignedOut({ context: { extraHTTPHeaders: { 'x-forwarded-for': '127.0.0.2' } } });
    await elsewhere.getByLabel('API token').fill(gatehouse.token);
    await elsewhere.getByRole('button', { name: 'Sign in', exact: true }).click();
    await elsewhere.getByText('Calls from 127.0.0.2 are refused by the IP restriction').waitFor();
    await page.reload();
    await page.getByRole('heading', { name: /^Enforced:/ }).waitFor();
    await remove(id);
  });

  test('lock out who means it', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, {
      type: 'dashboard',
      description: 'Dashboard: nobody',
      allow: ['192.0.2.0/24'],
    });
    const page = await d().open({ path: `/ip-restrictions/${id}?enforce=1` });
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Enforce now' }).click();
    await page.getByRole('button', { name: 'Lock me out' }).click();
    await page.getByLabel('API token').waitFor();
    assert.equal(await isEnforced(id), true);
    await remove(id);
  });

  test('show what somebody else has changed, and overwrite nothing unseen', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, { type: 'endpoints', description: 'Edges', allow: ['192.0.2.0/24'] });
    const page = await d().open({ path: `/ip-restrictions/${id}?edit=1` });
    await page.getByLabel('Description').fill('Edges: mine');
    await gatehouse.patch(`/ip_restrictions/${id}`, { metadata: 'SEC-1142' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('changed this just now').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'Edges: mine', 'the input stays');
    await page.getByRole('button', { name: 'Show that change' }).click();
    await page.getByText('"metadata": "SEC-1142"').first().waitFor();
    await lookAt(page, 'restriction-stale');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Put mine on top' }).click();
    await page.getByRole('heading', { name: 'Edges: mine' }).waitFor();
    const { body } = await gatehouse.get(`/ip_restrictions/${id}`);
    assert.deepEqual([body.description, body.metadata], ['Edges: mine', 'SEC-1142']);
    await remove(id);
  });

  test('show somebody else’s change before enforcing over it', async () => {
    const { gatehouse } = d();
    const { id, policyId } = await restrict(gatehouse, {
      type: 'agent',
      description: 'Agents',
      allow: ['192.0.2.0/24'],
    });
    const page = await d().open({ path: `/ip-restrictions/${id}?enforce=1` });
    await page.getByRole('checkbox').check();
    const other = await gatehouse.create('/ip_policies', { description: 'other' });
    await gatehouse.patch(`/ip_restrictions/${id}`, { ip_policy_ids: [policyId, other.id] });
    await page.getByRole('button', { name: 'Enforce now' }).click();
    await page.getByRole('button', { name: 'Show that change' }).waitFor();
    assert.equal(await isEnforced(id), false);
    await page.getByRole('button', { name: 'Put mine on top' }).click();
    await page.getByRole('heading', { name: /^Enforced:/ }).waitFor();
    await remove(id);
  });

  test('are made with the mouse, and begin with a warning', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Offices' });
    const page = await d().open({ path: '/ip-restrictions' });
    await page.getByRole('button', { name: 'Create restriction' }).first().click();
    await page.getByRole('dialog').getByLabel('Guards').selectOption('endpoints');
    await page.getByLabel('Let in addresses of').selectOption(policy.id);
    await page.getByLabel('Description').fill('Edges: offices');
    await lookAt(page, 'restriction-create');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Create, warning only' }).click();
    await page.getByRole('heading', { name: 'Edges: offices', exact: true }).waitFor();
    await page.getByText('Warns only').first().waitFor();
    await lead(page, '/ip-restrictions?type=endpoints');
    await page.getByRole('link', { name: 'Edges: offices' }).waitFor();
    await lookAt(page, 'restrictions');
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('link', { name: 'Edges: offices' }).click();
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete restriction' }).click();
    await page.waitForURL('**/dashboard/ip-restrictions');
    assert.deepEqual((await gatehouse.get('/ip_restrictions')).body.ip_restrictions, []);
  });

  test('let members look, and change nothing', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, { type: 'api', description: 'API: looked at', allow: ['127.0.0.1/32'] });
    await callFrom(gatehouse, '203.0.113.70', 1);
    const { token } = await createUser(gatehouse, 'member');
    const page = await d().open({ token, path: `/ip-restrictions/${id}` });
    await page.getByText('only an admin may write IP restrictions').waitFor();
    await page.getByRole('table').getByText('Undecided').waitFor();
    for (const name of ['Enforce…', 'Edit', 'Delete…'])
      assert.equal(await page.getByRole('button', { name }).count(), 0);
    await remove(id);
  });
});
