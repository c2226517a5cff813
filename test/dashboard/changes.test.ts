import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { createUser, runOnHost } from '../support/people.ts';
import { onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { restrict } from './support/restrictions.ts';

onDashboard('the change log', (d) => {
  afterEach(() => d().endTest());

  test('tells who did what, and shows before and after beside the list', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, { type: 'endpoints', description: 'Abuse feed', allow: ['0.0.0.0/0'] });
    await gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
    await runOnHost(gatehouse, 'restrictions disable', { id });
    const page = await d().open({ path: '/changes' });
    await page.getByRole('link', { name: 'Abuse feed is no longer enforced' }).waitFor();
    await page.getByRole('link', { name: 'Abuse feed created' }).waitFor();
    await page.getByRole('link', { name: 'Abuse feed is now enforced' }).click();
    const sheet = page.getByRole('complementary', { name: 'Abuse feed is now enforced' });
    await sheet.getByText('"enforced": true').waitFor();
    await sheet.getByText('"enforced": false').waitFor();
    await sheet.getByText('admin', { exact: true }).waitFor();
    assert.match(page.url(), /open=chg_/);
    await page.reload();
    await sheet.getByText('"enforced": true').waitFor();
    await lookAt(page, 'changes');
    await page.setViewportSize({ width: 1280, height: 900 });
    await sheet.getByRole('button', { name: 'All fields' }).click();
    await sheet.getByText('"type": "endpoints"').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await lookAt(page, 'changes-list');
  });

  test('has its filters in the URL', async () => {
    const { gatehouse } = d();
    const bot = await gatehouse.create('/bot_users', { name: 'terraform' });
    const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
    await gatehouse.create(
      '/backends/static',
      {
        address: '10.20.4.12:8080',
        description: 'booking-green',
      },
      { token },
    );
    const page = await d().open({ path: '/changes' });
    await page.getByLabel('Who').selectOption(bot.id);
    await page.getByRole('link', { name: 'booking-green created' }).waitFor();
    await page.getByRole('link', { name: 'terraform created' }).waitFor({ state: 'detached' });
    assert.match(page.url(), new RegExp(`who=${bot.id}`));
    await page.getByLabel('Action').selectOption('delete');
    await page.getByText('No change fits the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: 'terraform created' }).waitFor();
    await page.goto('/dashboard/changes?kind=bot_user');
    await page.getByRole('link', { name: 'terraform created' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'booking-green created' }).count(), 0);
  });

  test('is for admins', async () => {
    const { token } = await createUser(d().gatehouse, 'member');
    const page = await d().open({ token, path: '/changes' });
    await page.getByText('Only admins read the change log').waitFor();
  });
});
