import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

onDashboard('the page of IP policies', (d) => {
  const newPolicy = async (description: string, rules: readonly string[]): Promise<string> => {
    const { id } = await d().gatehouse.create('/ip_policies', { description });
    await d().gatehouse.put(`/ip_policies/${id}/rules`, rules);
    return id;
  };
  const rulesOf = async (id: string): Promise<readonly string[]> => {
    const rules: string[] = [];
    for (let uri: string | null = `/ip_policies/${id}/rules`; uri !== null;) {
      const { body }: { body: { rules: { action: string; cidr: string }[]; next_page_uri: string | null } } =
        await d().gatehouse.get(uri);
      rules.push(...body.rules.map(({ action, cidr }) => `${action} ${cidr}`));
      uri = body.next_page_uri;
    }
    return rules;
  };
  /** Saves from the sheet that shows who would notice. */
  const saveUnnamed = async (page: Page): Promise<void> => {
    await page.getByRole('complementary', { name: 'Who would notice?' }).getByText('nobody can be named').waitFor();
    await page.getByRole('button', { name: 'Save without a rehearsal' }).click();
  };
  const pasteInto = async (page: Page, list: string): Promise<void> => {
    await page.getByRole('button', { name: 'Paste a list' }).click();
    await page.getByRole('button', { name: 'Replace all rules' }).click();
    await page.getByRole('textbox', { name: 'List of CIDRs' }).fill(list);
  };

  test('a policy is created with a rule for the own address, and a rule is added as it was meant', async () => {
    const page = await d().open({ path: '/ip-policies' });
    await page.getByRole('button', { name: 'Create policy' }).first().click();
    await page.getByRole('dialog').getByLabel('Description').fill('Offices and VPN');
    await page.getByRole('dialog').getByRole('button', { name: 'Create policy' }).click();
    await page.getByRole('heading', { name: 'Offices and VPN' }).waitFor();
    await page.getByRole('cell', { name: '127.0.0.1/32' }).first().waitFor();

    await page.getByRole('button', { name: 'Add rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('CIDR').fill('203.0.113.70/26');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await dialog.getByText('is not the first address of its range').waitFor();
    await dialog.getByRole('button', { name: '203.0.113.64/26' }).click();
    await dialog.getByRole('button', { name: 'Deny' }).click();
    await dialog.getByRole('button', { name: 'See who would notice' }).click();
    await saveUnnamed(page);
    await page.getByRole('cell', { name: '203.0.113.64/26' }).first().waitFor();
    await page.getByText('1 deny').waitFor();
    assert.deepEqual(await rulesOf(page.url().split('/').at(-1) ?? ''), ['allow 127.0.0.1/32', 'deny 203.0.113.64/26']);
  });

  test('of 1,000 pasted CIDRs, what is added, removed and not valid is shown before one call changes all', async () => {
    const id = await newPolicy('feed', ['192.0.2.0/24', '10.0.0.0/24']);
    const page = await d().open({ path: `/ip-policies/${id}` });
    const valid = Array.from({ length: 997 }, (_, index) => `!10.${index >> 8}.${index & 255}.0/24`);
    await pasteInto(page, ['# delta', ...valid, '198.18.208.100/28', '198.18.212.7', '!198.18.300.0/24'].join('\n'));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Settle 3 lines to go on' }).waitFor();
    await dialog.getByText('line 999 198.18.208.100/28').waitFor();
    await dialog.getByRole('button', { name: 'Use 198.18.208.96/28' }).click();
    await dialog.getByRole('button', { name: 'Settle 2 lines to go on' }).waitFor();
    await dialog.getByRole('button', { name: 'Use 198.18.212.7/32' }).click();
    await dialog.getByRole('button', { name: 'Settle 1 line to go on' }).waitFor();
    await dialog.getByRole('button', { name: 'Leave out' }).click();
    await dialog.getByRole('tab', { name: 'Removed' }).click();
    await dialog.locator('.diff .del', { hasText: '192.0.2.0/24' }).waitFor();
    const calls: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') calls.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    await dialog.getByRole('button', { name: 'Add 999, remove 2' }).click();
    await saveUnnamed(page);
    await page.getByText('999 added, 2 removed, 0 kept. In force now.').waitFor();
    assert.deepEqual(
      calls.filter((call) => !call.endsWith('/ip_check') && call !== 'POST /configuration'),
      ['POST /rehearsals', `PUT /ip_policies/${id}/rules`],
    );
    const rules = await rulesOf(id);
    assert.equal(rules.length, 999);
    assert.ok(rules.includes('allow 198.18.208.96/28') && rules.includes('deny 10.0.0.0/24'));
  });

  test('a list can be added to the rules that are there', async () => {
    const id = await newPolicy('growing', ['192.0.2.0/24']);
    const page = await d().open();
    // A list is not lost with the code that compares it in the background.
    await page.route('**/assets/list-worker-*.js', (route) => route.fulfill({ status: 404 }));
    await lead(page, `/ip-policies/${id}?paste=1`);
    // Nothing that is there is removed unless somebody says so.
    await page.getByRole('button', { name: 'Add to the rules', pressed: true }).waitFor();
    await page.getByRole('textbox', { name: 'List of CIDRs' }).fill('198.51.100.0/24');
    await page.getByRole('button', { name: 'Add 1…', exact: true }).click();
    await saveUnnamed(page);
    await page.getByText('1 added, 0 removed, 1 kept').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 192.0.2.0/24', 'allow 198.51.100.0/24']);
  });

  test('rules that somebody else changed meanwhile are not overwritten unseen', async () => {
    const id = await newPolicy('shared', ['192.0.2.0/24']);
    const page = await d().open({ path: `/ip-policies/${id}` });
    await page.getByRole('cell', { name: '192.0.2.0/24' }).first().waitFor();
    await pasteInto(page, '198.51.100.0/24');
    await page.getByRole('button', { name: 'Add 1, remove 1' }).waitFor();
    await d().gatehouse.create('/ip_policy_rules', { ip_policy_id: id, cidr: '203.0.113.0/24', action: 'deny' });
    await page.getByRole('button', { name: 'Add 1, remove 1' }).click();
    await saveUnnamed(page);
    await page.getByText('Somebody else changed these rules in the meantime.').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 192.0.2.0/24', 'deny 203.0.113.0/24']);
    await page.getByRole('button', { name: 'Read the rules again' }).click();
    await page.getByRole('button', { name: 'Add 1, remove 2' }).click();
    await saveUnnamed(page);
    await page.getByText('1 added, 2 removed, 0 kept').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 198.51.100.0/24']);
  });

  test('who would notice is shown before a rule is saved, and nothing is saved that was not tried', async () => {
    const { gatehouse } = d();
    const id = await newPolicy('Partners', ['192.0.2.0/24']);
    const edge = await gatehouse.create('/edges/https', { hostports: ['api.kestrel.test:443'], description: 'API' });
    await gatehouse.create(`/edges/https/${edge.id}/routes`, {
      match: '/',
      match_type: 'path_prefix',
      ip_restriction: { ip_policy_ids: [id] },
    });
    const page = await d().open({ path: `/ip-policies/${id}?add=1` });
    await page.getByRole('cell', { name: '192.0.2.0/24' }).first().waitFor({ state: 'attached' });
    const dialog = page.getByRole('dialog', { name: 'Add a rule' });
    const sheet = page.getByRole('complementary', { name: 'Who would notice?' });
    await dialog.getByLabel('CIDR').fill('198.51.100.128/25');
    await page.keyboard.press('Control+Enter');
    await sheet.getByText('Newly let in: HTTPS edge api, route /').waitFor();
    await sheet.getByText('198.51.100.129', { exact: true }).waitFor();
    await sheet.getByText('No days are kept, so nobody can be named').waitFor();
    assert.equal(await sheet.locator('.g-allow').count(), 0);
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Keep editing');
    await lookAt(page, 'rehearsal-no-days');
    assert.deepEqual(await rulesOf(id), ['allow 192.0.2.0/24'], 'it was only tried');
    await dialog.getByLabel('Description').fill('Warehouse');
    await sheet.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Enter');
    await sheet.getByText('Newly let in: ').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.equal(await dialog.getByLabel('CIDR').inputValue(), '198.51.100.128/25');
    await dialog.getByRole('button', { name: 'Deny' }).click();
    await dialog.getByRole('button', { name: 'See who would notice' }).click();
    await sheet.getByText('No address gets in that is refused now').waitFor();
    await page.keyboard.press('Escape');

    await page.route('**/configuration?dry_run=true', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        headers: { 'gatehouse-operation-id': 'op_36ItmERmNr6dH7KetMJM9wC6AsH' },
        body: '{"error_code":"ERR_GATEHOUSE_20004","status_code":503,"msg":"The database does not answer.","details":{}}',
      }),
    );
    await dialog.getByRole('button', { name: 'Allow' }).click();
    await dialog.getByRole('button', { name: 'See who would notice' }).click();
    await sheet.getByText('The database does not answer.').waitFor();
    await lookAt(page, 'rehearsal-failed');
    await sheet.getByRole('button', { name: 'Save without a rehearsal' }).click();
    await page.getByText('Added allow 198.51.100.128/25.').waitFor();
    await page.unroute('**/configuration?dry_run=true');

    await page.getByRole('button', { name: 'Delete the rule 192.0.2.0/24' }).click();
    await page.getByRole('button', { name: 'See who would notice' }).click();
    await sheet.getByText('No address gets in that is refused now').waitFor();
    assert.equal((await rulesOf(id)).length, 2);
    await page.getByRole('button', { name: 'Save without a rehearsal' }).click();
    await page.getByText('Deleted the rule for 192.0.2.0/24.').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 198.51.100.128/25']);
  });

  test('a list that would lock the caller out changes nothing until the own address is in it', async () => {
    const id = await newPolicy('doors', ['127.0.0.1/32']);
    const restriction = await d().gatehouse.create('/ip_restrictions', {
      type: 'dashboard',
      enforced: true,
      ip_policy_ids: [id],
    });
    const page = await d().open({ path: `/ip-policies/${id}` });
    await page.getByRole('cell', { name: '127.0.0.1/32' }).first().waitFor();
    await pasteInto(page, '203.0.113.0/24');
    await page.getByRole('button', { name: 'Add 1, remove 1' }).click();
    await page.getByText('This would lock you out').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 127.0.0.1/32']);
    await page.getByRole('button', { name: 'Allow my address and save' }).click();
    await page.getByText('1 added, 0 removed, 1 kept').waitFor();
    assert.deepEqual(await rulesOf(id), ['allow 127.0.0.1/32', 'allow 203.0.113.0/24']);
    await d().gatehouse.delete(`/ip_restrictions/${restriction.id}`);
  });

  test('of 100,000 rules only those near the window exist, all can be reached, and an address finds its rules', async () => {
    const list = Array.from({ length: 100_000 }, (_, n) => `!${20 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}.0/24`);
    const id = await newPolicy('abuse feed', list);
    const page = await d().open({ path: `/ip-policies/${id}` });
    await page.getByText(/Rows 1 to \d+ of 100,000$/).waitFor();
    const table = page.getByRole('table', { name: 'Rules' });
    assert.equal(await table.getAttribute('aria-rowcount'), '100001');
    const rowCount = (): Promise<number> => table.locator('tbody tr[aria-rowindex]').count();
    assert.ok((await rowCount()) < 120, `${await rowCount()} rows exist`);
    await page.getByRole('region', { name: 'Rules' }).press('End');
    await page.getByText(/ to 100,000 of 100,000$/).waitFor();
    // By number: as texts, 21.134.99.0 would come last.
    await table
      .locator('tr[aria-rowindex="100001"]')
      .getByText(list.at(-1)?.slice(1) ?? '')
      .waitFor();
    assert.ok((await rowCount()) < 120, `${await rowCount()} rows exist`);
    await page.getByLabel('Filter rules').fill('20.7.9.200');
    await page.getByText('1 of 100,000 rules').waitFor();
    await page.getByRole('cell', { name: '20.7.9.0/24' }).first().waitFor();
    await page.getByLabel('Filter rules').fill('192.0.2.1');
    await page.getByText('No rule contains 192.0.2.1').waitFor();
  });

  test('a policy that something uses is not deleted, and what uses it is named', async () => {
    const id = await newPolicy('in use', ['127.0.0.1/32']);
    await d().gatehouse.create('/ip_restrictions', { type: 'endpoints', description: 'front', ip_policy_ids: [id] });
    const page = await d().open({ path: `/ip-policies/${id}` });
    await page.getByRole('main').getByRole('link', { name: 'front' }).waitFor();
    await page.getByRole('button', { name: 'Delete the policy' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('endpoints restriction, warns only').waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Still used by 1' }).isDisabled());
    assert.equal(await dialog.getByRole('textbox').count(), 0, 'nobody types what is refused anyway');
    await dialog.getByRole('link', { name: 'front' }).waitFor();
    await lead(page, '/ip-policies');
    const row = page.getByRole('row').filter({ hasText: 'in use' });
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    const feed = page.getByRole('row').filter({ hasText: 'abuse feed' });
    await feed.getByRole('cell', { name: /^[1-9]0,000\+$/ }).waitFor();
  });
});
