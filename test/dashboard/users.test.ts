import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { newName } from '../support/people.ts';
import { onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

onDashboard('the page of users', (d) => {
  /** Invites by the page and returns the link that it shows. */
  async function invite(page: Page, name: string, role: string): Promise<string> {
    await page.getByRole('button', { name: 'Invite someone…' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('E-mail address').fill(`${name.replaceAll(' ', '-')}@example.com`);
    await dialog.getByRole('radio', { name: new RegExp(`^${role}`) }).check();
    await dialog.getByRole('button', { name: 'Make the link' }).click();
    await page.getByRole('heading', { name: `Give this link to ${name}` }).waitFor();
    const link = await page.locator('.secret code').textContent();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    return link ?? '';
  }

  test('one who is invited accepts, looks without a button that would be refused, and is out when deactivated', async () => {
    const name = newName('Guest');
    const admin = await d().open({ path: '/users' });
    const link = await invite(admin, name, 'Viewer');
    await admin.getByText('link ends').waitFor();

    const guest = await d().openSignedOut();
    await guest.goto(link);
    // A link in a tab that is on the same page changes the end of the URL only.
    await guest.getByRole('heading', { name: 'You are invited to default' }).waitFor();
    const inviter = (await d().gatehouse.get('/users')).body.users.find(
      ({ role }: { readonly role: string }) => role === 'admin',
    );
    await guest.getByText(`${inviter.name} invites you as ${name}`).waitFor();
    await guest.getByText('a viewer, who').waitFor();
    assert.ok(!guest.url().includes('invite'), 'the link is in no history');
    await lookAt(guest, 'invited');
    await guest.getByRole('button', { name: 'Accept the invitation' }).click();
    await guest.getByRole('heading', { name: `Welcome, ${name}` }).waitFor();
    await lookAt(guest, 'invited-token');
    const token = (await guest.locator('.secret code').textContent()) ?? '';
    await guest.getByLabel('I have stored the token').check();
    await guest.getByRole('button', { name: 'Go to the dashboard' }).click();
    await guest.getByText(`${name} · viewer`).waitFor();

    for (const [path, heading] of [
      ['/ip-policies', 'IP policies'],
      ['/https-edges', 'HTTPS edges'],
      ['/backends', 'Backends'],
      ['/api-keys', 'API keys'],
      ['/agents', 'Agents'],
      ['/users', 'Users'],
    ] as const) {
      await guest.goto(`/dashboard${path}`);
      await guest.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await guest.locator('table, .empty').first().waitFor();
      const writing = guest.getByRole('button', { name: /^(Create|Invite|Deactivate|Delete|Add|New)\b/ });
      assert.equal(await writing.count(), 0, path);
    }
    await guest.getByText('a viewer only reads').waitFor();
    assert.equal(await guest.getByLabel(/^Role of/).count(), 0);
    const refused = await d().gatehouse.post('/ip_policies', {}, { token });
    assert.equal(refused.status, 403);

    await admin.reload();
    await admin
      .getByRole('row', { name: new RegExp(name) })
      .getByRole('button', { name: 'Deactivate…' })
      .click();
    const dialog = admin.getByRole('dialog');
    await dialog.getByText('1 API key stops').waitFor();
    assert.equal(await admin.evaluate('document.activeElement.textContent'), `Keep ${name}`);
    await lookAt(admin, 'user-deactivate');
    await dialog.getByRole('button', { name: 'Deactivate', exact: true }).click();
    await admin.getByText(`${name} is deactivated.`).waitFor();
    assert.equal((await d().gatehouse.get('/users', { token })).status, 403);
    // A call in the background may notice it first, and take the link away.
    await guest.evaluate(`document.querySelector('a[href$="/ip-policies"]')?.click()`);
    await guest.getByText('Your access was ended. Ask an admin.').waitFor();
    assert.equal(await guest.getByRole('navigation').count(), 0, 'nothing of the page stays');
    assert.equal(await guest.evaluate(`document.body.textContent.includes('IP policies')`), false);
    await lookAt(guest, 'access-ended');
    await guest.reload();
    await guest.getByLabel('API token').waitFor();
    await guest.getByLabel('API token').fill(token);
    await guest.getByRole('button', { name: 'Sign in', exact: true }).click();
    await guest.getByRole('alert').getByText('Your access was ended. Ask an admin.').waitFor();

    await admin
      .getByRole('row', { name: new RegExp(name) })
      .getByRole('button', { name: 'Let back in' })
      .click();
    await admin.getByText(`${name} is back in.`).waitFor();
    assert.equal((await d().gatehouse.get('/users', { token })).status, 200);
  });

  test('a link that is over says so, and what to do', async () => {
    const page = await d().openSignedOut();
    await page.goto(`/dashboard/#invite=${'0'.repeat(27)}_${'a'.repeat(43)}`);
    await page.getByText('Ask an admin for a new one.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Accept the invitation' }).count(), 0);
    await lookAt(page, 'invitation-over');
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByLabel('API token').waitFor();
  });

  test('a role is changed in the list, a link replaced and taken back, and one’s own role has no menu', async () => {
    const { gatehouse } = d();
    const name = newName('Tomas');
    const { link } = await gatehouse.create('/invitations', { name, role: 'member' });
    const { body: user } = await gatehouse.post('/invitations/accept', { link });
    const page = await d().open({ path: '/users' });
    await page.getByLabel(`Role of ${name}`).selectOption('Viewer');
    await page.getByText(`${name}: Member changed to Viewer.`).waitFor();
    assert.equal((await gatehouse.get(`/users/${user.user_id}`)).body.role, 'viewer');
    assert.equal(await page.getByLabel('Role of admin', { exact: true }).count(), 0);

    const guest = newName('Jonas');
    const first = await invite(page, guest, 'Member');
    await page.getByRole('button', { name: 'New link…' }).click();
    await page.getByRole('heading', { name: `Give this link to ${guest}` }).waitFor();
    const second = (await page.locator('.secret code').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have copied it' }).click();
    assert.equal((await gatehouse.post('/invitations/accept', { link: first })).status, 404);
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.getByText(`${guest} is no longer invited.`).waitFor();
    assert.equal((await gatehouse.post('/invitations/accept', { link: second })).status, 404);
  });

  test('everybody has a profile with their own name and keys', async () => {
    const { gatehouse } = d();
    const { link } = await gatehouse.create('/invitations', { name: newName('Mia'), role: 'member' });
    const { body: user } = await gatehouse.post('/invitations/accept', { link });
    const page = await d().open({ token: user.token });
    await page.getByTitle('Your profile').first().click();
    await page.getByText('This is you.').waitFor();
    await lookAt(page, 'profile');
    await page.getByText('first key, from the invitation').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Deactivate…' }).count(), 0);
    await page.keyboard.press('e');
    assert.equal(await page.getByLabel('E-mail address').count(), 0);
    await page.getByLabel('Name').fill('Mia the Second');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('heading', { name: 'Mia the Second' }).waitFor();
    await page.getByText('Mia the Second · member').waitFor();
    await page.getByRole('link', { name: 'Create a key' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Copy the token now').waitFor();
    await lookAt(page, 'api-key-token');
  });
});
