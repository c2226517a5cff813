import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createUser } from '../support/people.ts';
import { onDashboard, until } from './support/dashboard.ts';

onDashboard('the page of API keys', (d) => {
  const statusWith = async (token: string): Promise<number> =>
    (await d().gatehouse.get('/api_keys?limit=1', { token })).status;

  test('a key is created for a bot with its limits, and its token is shown this once', async () => {
    const bot = await d().gatehouse.create('/bot_users', { name: 'carrier relay' });
    const policy = await d().gatehouse.create('/ip_policies', { description: 'loopback' });
    await d().gatehouse.put(`/ip_policies/${policy.id}/rules`, ['127.0.0.0/8']);
    const page = await d().open({ path: '/api-keys' });
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('Carrier webhook relay');
    await dialog.getByText('21 of 255 bytes').waitFor();
    await dialog.getByLabel('Owner').selectOption('carrier relay, bot');
    await dialog.getByLabel('Expires').fill('2099-12-31');
    await dialog.getByLabel('Only from addresses of').selectOption('loopback');
    await dialog.getByLabel('Read only').check();
    await dialog.getByRole('button', { name: 'Create key' }).click();

    await dialog.getByRole('heading', { name: 'Copy the token now. It is shown this once.' }).waitFor();
    const token = (await dialog.locator('.secret code').first().textContent()) ?? '';
    assert.equal(await statusWith(token), 200);
    await page.keyboard.press('Escape');
    assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled());
    await dialog.getByLabel('I have stored the token').check();
    await dialog.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('link', { name: 'Carrier webhook relay' }).click();
    await page.getByText('Read only').first().waitFor();
    await page.getByText('31 Dec 2099').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'loopback' }).waitFor();
    await page.getByRole('main').getByRole('link', { name: 'carrier relay, bot' }).waitFor();
    assert.ok(!(await page.content()).includes(token), 'the token is shown a second time');
    const { body } = await d().gatehouse.get('/api_keys');
    const made = body.keys.find(({ description }: { description: string }) => description === 'Carrier webhook relay');
    assert.deepEqual(
      [made.owner_id, made.read_only, made.expires_at, made.ip_policy_ids],
      [bot.id, true, '2099-12-31T23:59:59Z', [policy.id]],
    );
  });

  test('owners are shown by their names, other users too', async () => {
    const { id } = await createUser(d().gatehouse, 'member');
    const { name } = (await d().gatehouse.get(`/changes?resource_id=${id}`)).body.changes[0].after;
    const page = await d().open({ path: '/api-keys' });
    await page
      .getByRole('row')
      .filter({ hasText: `first key of ${name}` })
      .getByText(name, { exact: true })
      .last()
      .waitFor();
    assert.equal(await page.getByText(/^usr_/).count(), 0);
  });

  test('a new token replaces the old one at once, or lets it work for a while', async () => {
    const key = await d().gatehouse.create('/api_keys', { description: 'rotated' });
    const page = await d().open({ path: `/api-keys/${key.id}` });
    const rotate = async (overlap: string): Promise<string> => {
      await page.getByRole('button', { name: 'New token…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('The token in use').selectOption(overlap);
      await dialog.getByRole('button', { name: 'Make a new token' }).click();
      await dialog.getByText('It is shown this once').waitFor();
      const token = (await dialog.locator('.secret code').first().textContent()) ?? '';
      await dialog.getByLabel('I have stored the token').check();
      await dialog.getByRole('button', { name: 'Done' }).click();
      return token;
    };
    const second = await rotate('works for 1 more day');
    assert.deepEqual([await statusWith(key.token), await statusWith(second)], [200, 200]);
    const third = await rotate('ends at once');
    assert.deepEqual([await statusWith(second), await statusWith(third)], [401, 200]);
  });

  test('a key in use is deleted only after its name was typed, and its calls fail from then on', async () => {
    const key = await d().gatehouse.create('/api_keys', { description: 'CI main' });
    assert.equal(await statusWith(key.token), 200);
    // The server notes the use of a key a moment later.
    await until(async () => (await d().gatehouse.get(`/api_keys/${key.id}`)).body.last_used_at !== undefined);
    const page = await d().open({ path: '/api-keys?q=CI+main' });
    await page.getByRole('button', { name: 'Delete CI main' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('This cannot be undone').waitFor();
    const act = dialog.getByRole('button', { name: 'Delete key' });
    assert.ok(await act.isDisabled());
    await dialog.getByLabel('Type CI main to go on').fill('CI main');
    await act.click();
    await page.getByText('Deleted the key CI main.').waitFor();
    assert.equal(await statusWith(key.token), 401);
  });

  test('filter, order and page are in the URL, and a link shows the same', async () => {
    for (let count = 1; count <= 55; count++) {
      await d().gatehouse.create('/api_keys', { description: `listed ${String(count).padStart(2, '0')}` });
    }
    const page = await d().open({ path: '/api-keys' });
    await page.getByLabel('Filter keys').fill('listed');
    await page.getByText(/^55 of /).waitFor();
    await page.getByRole('button', { name: 'Description' }).click();
    await page.getByRole('link', { name: 'listed 01' }).waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('link', { name: 'listed 51' }).waitFor();
    assert.match(page.url(), /[?&]q=listed/);
    const other = await d().open({ path: page.url().slice(page.url().indexOf('/api-keys')) });
    await other.getByRole('link', { name: 'listed 51' }).waitFor();
    assert.equal(await other.getByRole('link', { name: 'listed 01' }).count(), 0);
    await other.getByLabel('Filter keys').fill('no such key');
    await other.getByText('No key fits the filter').waitFor();
    await other.getByRole('button', { name: 'Clear the filter' }).click();
    await other.getByText(/^\d+ keys$/).waitFor();
  });

  test('the limits of a key are changed in place', async () => {
    const key = await d().gatehouse.create('/api_keys', { description: 'edited' });
    const page = await d().open({ path: `/api-keys/${key.id}` });
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Read only').check();
    await page.getByLabel('Expires').fill('2000-01-01');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.field', { hasText: 'Expires' }).getByRole('alert').waitFor();
    await page.getByLabel('Expires').fill('2099-01-01');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 Jan 2099').waitFor();
    const { body } = await d().gatehouse.get(`/api_keys/${key.id}`);
    assert.deepEqual([body.read_only, body.expires_at], [true, '2099-01-01T23:59:59Z']);
  });
});
