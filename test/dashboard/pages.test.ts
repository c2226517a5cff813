import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import type { Page } from 'playwright-core';

import { lead, onDashboard } from './support/dashboard.ts';
import { fillInstallation } from './support/fill-installation.ts';
import { faultsOf, lookAt } from './support/looks.ts';
import type { NamedPath } from './support/looks.ts';

onDashboard('every page of the dashboard', (d) => {
  let things: readonly NamedPath[] = [];
  before(async () => {
    things = await fillInstallation(d().gatehouse);
  });

  /** Name and path of each. */
  async function pagesOfSideBar(page: Page): Promise<readonly NamedPath[]> {
    await page.locator('.nav').first().waitFor({ state: 'attached' });
    const hrefs = await page.evaluate(
      `[...document.querySelector('.nav').querySelectorAll('a[href^="/dashboard"]')].map((a) => a.getAttribute('href'))`,
    );
    return (hrefs as string[]).map((href) => {
      const path = href.replace('/dashboard', '');
      return [path.slice(1) === '' ? 'overview' : path.slice(1), path] as const;
    });
  }

  test('of the side bar is readable for all in both themes, and nothing scrolls sideways', async () => {
    const page = await d().open();
    assert.deepEqual(await faultsOf(page, await pagesOfSideBar(page)), []);
  });

  test('of one thing is readable for all in both themes, and nothing scrolls sideways', async () => {
    assert.deepEqual(await faultsOf(await d().open(), things), []);
  });

  test('of which the sign-in is readable for all, also when it refuses, and when the server does not answer', async () => {
    const page = await d().openSignedOut();
    await page.getByLabel('API token').waitFor();
    await lookAt(page, 'sign-in');
    await page.getByLabel('API token').fill('no token');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.locator('[aria-invalid="true"]').waitFor();
    await lookAt(page, 'sign-in-refused');
    await page.route('**/dashboard/session', (route) => route.abort());
    await page.reload();
    await page.getByText('The dashboard cannot start').waitFor();
    await lookAt(page, 'cannot-start');
  });

  test('is readable for all while something lies over it', async () => {
    const page = await d().open({ path: '/bot-users' });
    await page.getByRole('link', { name: 'deploy pipeline' }).waitFor();
    const dialog = page.getByRole('dialog');
    for (const [name, key] of [
      ['search', '/'],
      ['keys', '?'],
    ] as const) {
      await page.keyboard.press(key);
      await dialog.waitFor();
      await lookAt(page, name);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    }
    await page.getByRole('button', { name: 'Sign out' }).click();
    await dialog.waitFor();
    await lookAt(page, 'sign-out');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await dialog.waitFor();
    await lookAt(page, 'drawer');
    await lead(page, things.find(([name]) => name === 'ip-policy-feed')?.[1] ?? '');
    await page
      .getByRole('status')
      .filter({ hasText: /^Rows 1 to / })
      .waitFor();
    await page.keyboard.press(':');
    await dialog.waitFor();
    await lookAt(page, 'go-to-row');
  });

  test('is readable for all when it cannot show what it should', async () => {
    const page = await d().open();
    await page.route('**/ip_policies?**', (route) =>
      route.fulfill({
        status: 503,
        contentType: 'application/json',
        headers: { 'gatehouse-operation-id': 'op_36ItmERmNr6dH7KetMJM9wC6AsH' },
        body: '{"error_code":"ERR_GATEHOUSE_20004","status_code":503,"msg":"The database does not answer.","details":{}}',
      }),
    );
    await page.goto('/dashboard/ip-policies');
    await page.getByText('The database does not answer.').waitFor();
    await lookAt(page, 'list-failed');
    await lead(page, '/backends/bkdsc_1');
    await page.getByText('This backend does not exist').waitFor();
    await lookAt(page, 'gone');
    await lead(page, '/such-page');
    await page.getByText('There is no such page').waitFor();
    await lookAt(page, 'no-such-page');
  });
});
