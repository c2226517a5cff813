import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lead, onDashboard } from './support/dashboard.ts';

onDashboard('the page of bot users', (d) => {
  test('a bot is created, and the server says beside the field why a name is refused', async () => {
    const page = await d().open({ path: '/bot-users' });
    const create = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Create bot' }).first().click();
      await page.getByRole('dialog').getByLabel('Name').fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Create bot' }).click();
    };
    await create('feed loader');
    await page.getByRole('heading', { name: 'feed loader' }).waitFor();
    await lead(page, '/bot-users');
    await create('feed loader');
    await page.getByRole('dialog').getByText('A bot named "feed loader" exists already').waitFor();
    await page.getByRole('dialog').getByLabel('Name').fill('ü'.repeat(130));
    await page.getByText('260 of 255 bytes').waitFor();
    await page.getByText('Too long. Shorten it by 5 bytes.').waitFor();
  });

  test('a bot is deactivated, and its keys are refused', async () => {
    const bot = await d().gatehouse.create('/bot_users', { name: 'inventory sync' });
    const { token } = await d().gatehouse.create('/api_keys', { owner_id: bot.id });
    const page = await d().open({ path: `/bot-users/${bot.id}` });
    await page.getByRole('heading', { name: 'inventory sync' }).waitFor();
    await page.keyboard.press('e');
    await page.getByLabel(/^Active/).uncheck();
    await page.keyboard.press('Control+Enter');
    await page.getByText('Inactive').first().waitFor();
    assert.equal((await d().gatehouse.get('/api_keys', { token })).status, 403);
  });

  test('of two people who edit one bot, the second sees the change of the first before anything is overwritten', async () => {
    const bot = await d().gatehouse.create('/bot_users', { name: 'shared' });
    const page = await d().open({ path: `/bot-users/${bot.id}?edit=1` });
    await page.getByLabel('Name').fill('mine');
    assert.equal((await d().gatehouse.patch(`/bot_users/${bot.id}`, { active: false })).status, 200);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your edit is kept and not saved.').waitFor();
    await page.getByText(/changed this just now/).waitFor();
    assert.equal((await d().gatehouse.get(`/bot_users/${bot.id}`)).body.name, 'shared');

    await page.getByRole('button', { name: 'Show that change' }).click();
    await page.locator('.diff .del', { hasText: '"active": true' }).waitFor();
    await page.locator('.diff .add', { hasText: '"active": false' }).waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'mine');

    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your edit is kept and not saved.').waitFor();
    assert.equal((await d().gatehouse.get(`/bot_users/${bot.id}`)).body.name, 'shared');
    await page.getByRole('button', { name: 'Put mine on top' }).click();
    await page.getByRole('heading', { name: 'mine' }).waitFor();
    const { body } = await d().gatehouse.get(`/bot_users/${bot.id}`);
    assert.deepEqual([body.name, body.active], ['mine', false]);
  });

  test('deleting a bot names the keys that go with it, and asks for its name', async () => {
    const bot = await d().gatehouse.create('/bot_users', { name: 'old ERP' });
    await d().gatehouse.create('/api_keys', { owner_id: bot.id, description: 'ERP nightly' });
    const page = await d().open({ path: `/bot-users/${bot.id}` });
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('ERP nightly').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Delete bot' }).isDisabled());
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Keep it');
    await dialog.getByLabel('Type old ERP to go on').fill('old ERP');
    await dialog.getByRole('button', { name: 'Delete bot' }).click();
    await page.getByText('Deleted the bot old ERP.').waitFor();
    assert.equal((await d().gatehouse.get(`/bot_users/${bot.id}`)).status, 404);
  });
});
