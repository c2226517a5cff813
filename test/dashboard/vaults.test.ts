import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

const value = 'whsec_5WbX5kEWLlfzsGNj';

onDashboard('the page of vaults', (d) => {
  const g = () => d().gatehouse;

  test('a vault and a secret are made, and the value is sent once and never shown', async () => {
    const page = await d().open({ path: '/vaults' });
    await page.getByText('No vaults').waitFor();
    await lookAt(page, 'vaults-empty');
    await page.getByRole('button', { name: 'Create vault' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('pay ments');
    await dialog.getByRole('button', { name: 'Create vault' }).click();
    await dialog.getByText('The name of a vault cannot be "pay ments".').waitFor();
    await dialog.getByLabel('Name').fill('payments');
    await dialog.getByRole('button', { name: 'Create vault' }).click();
    await page.getByRole('heading', { name: 'payments' }).waitFor();
    await page.getByText('It has no secrets').waitFor();

    await page.getByRole('button', { name: 'Add secret' }).first().click();
    const typed = dialog.getByLabel('Value');
    const isMasked = () =>
      page.evaluate("getComputedStyle(document.querySelector('dialog textarea')).webkitTextSecurity === 'disc'");
    assert.ok(await isMasked());
    await dialog.getByLabel('Name').fill('stripe/webhook');
    await dialog.getByText('Give it a value').waitFor();
    await typed.fill(value);
    await dialog.getByLabel('Show what I type').check();
    assert.equal(await isMasked(), false);
    await lookAt(page, 'secret-typed');
    await dialog.getByRole('button', { name: 'Add secret' }).click();
    await page.getByRole('heading', { name: 'stripe/webhook' }).waitFor();
    await page.getByText("${secrets.get('payments', 'stripe/webhook')}").waitFor();
    assert.equal((await page.content()).includes(value), false);
    const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])');
    assert.doesNotMatch(String(kept), /whsec/);
    const { secrets: all } = (await g().get('/vault_secrets')).body;
    assert.deepEqual(
      all.map((secret: { name: string; vault_name: string }) => [secret.name, secret.vault_name]),
      [['stripe/webhook', 'payments']],
    );
  });

  test('a secret keeps its value where none is typed, and gets the new one where one is', async () => {
    const vault = await g().create('/vaults', { name: 'kept' });
    const { id } = await g().create('/vault_secrets', { vault_id: vault.id, name: 'key', value });
    const sent: string[] = [];
    const page = await d().open({ path: `/vaults/${id}?edit=1`, isFresh: true });
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postData() ?? '');
    });
    await page.getByLabel('Description').fill('of the shop');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Saved.').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Value').fill('new value');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    assert.deepEqual(
      sent.map((body) => JSON.parse(body) as unknown),
      [{ description: 'of the shop' }, { value: 'new value' }],
    );
  });

  test('secrets say which policies use them, in any quotes, before they are deleted', async () => {
    const vault = await g().create('/vaults', { name: 'used' });
    const { id } = await g().create('/vault_secrets', { vault_id: vault.id, name: 'token', value });
    await g().create('/vault_secrets', { vault_id: vault.id, name: 'token-2', value });
    const policyWith = (call: string): string =>
      JSON.stringify({
        on_http_request: [
          { actions: [{ type: 'add-headers', config: { headers: { token: `\${${call}}` } } }, { type: 'deny' }] },
        ],
      });
    const endpoints: Readonly<Record<string, string>> = {
      'https://single.internal': "secrets.get('used', 'token')",
      'https://double.internal': 'secrets.get( "used","token" )',
      'https://another.internal': "secrets.get('used', 'token-2')",
    };
    for (const [url, call] of Object.entries(endpoints))
      await g().create('/endpoints', { url, traffic_policy: policyWith(call) });
    const page = await d().open({ path: `/vaults/${id}` });
    await page.getByRole('link', { name: 'https://single.internal' }).waitFor();
    await page.getByRole('link', { name: 'https://double.internal' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'https://another.internal' }).count(), 0);
    await page.getByRole('button', { name: 'Delete…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('https://single.internal').waitFor();
    await lookAt(page, 'secret-delete-used');
    await dialog.getByLabel('Type token to go on').fill('token');
    await dialog.getByRole('button', { name: 'Delete secret' }).click();
    await page.getByText('Deleted the secret token.').waitFor();
    assert.equal((await g().get(`/vault_secrets/${id}`)).status, 404);
  });

  test('a vault lists its own secrets alone, and is deleted only when it is empty', async () => {
    const full = await g().create('/vaults', { name: 'full' });
    const other = await g().create('/vaults', { name: 'other' });
    const mine = await g().create('/vault_secrets', { vault_id: full.id, name: 'mine', value });
    await g().create('/vault_secrets', { vault_id: other.id, name: 'theirs', value });
    const page = await d().open({ path: `/vaults/${full.id}` });
    await page.getByRole('link', { name: 'mine', exact: true }).waitFor();
    assert.equal(await page.getByText('theirs').count(), 0);
    await lead(page, `/vaults/${full.id}?delete=1`);
    await page.getByRole('button', { name: 'Still has 1 secret' }).waitFor();
    await g().delete(`/vault_secrets/${mine.id}`);
    await page.reload();
    await page.getByRole('button', { name: 'Delete vault' }).click();
    await page.getByText('Deleted the vault full.').waitFor();
    await lead(page, '/vaults?kind=secrets');
    await page.getByRole('link', { name: 'theirs' }).waitFor();
    await page.getByRole('link', { name: 'other', exact: true }).click();
    await page.getByRole('heading', { name: 'other' }).waitFor();
  });

  test('a long list is read page by page, and searched on the server', async () => {
    const vault = await g().create('/vaults', { name: 'long' });
    await Promise.all(
      Array.from({ length: 130 }, (_, at) =>
        g().create('/vault_secrets', { vault_id: vault.id, name: `key-${String(at).padStart(3, '0')}`, value }),
      ),
    );
    const page = await d().open({ path: `/vaults/${vault.id}` });
    await page.getByRole('status').filter({ hasText: 'More than' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 51);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('101 to 130 of').waitFor();
    await page.getByLabel('Filter secrets').fill('key-017');
    await page.getByRole('link', { name: 'key-017' }).waitFor();
    await page.getByRole('status').filter({ hasText: '1 secret found' }).waitFor();
  });
});
