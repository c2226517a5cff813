import assert from 'node:assert/strict';
import { afterEach, before, test } from 'node:test';

import type { Page } from 'playwright-core';

import { onDashboard } from './support/dashboard.ts';
import { fillInstallation } from './support/fill-installation.ts';
import { faultsOf, lookAt } from './support/looks.ts';
import type { NamedPath } from './support/looks.ts';

onDashboard('every page of the dashboard', (d) => {
  let things: readonly NamedPath[] = [];
  before(async () => {
    things = await fillInstallation(d().gatehouse);
  });
  afterEach(() => d().endTest());

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

  test('of which the sign-in is readable for all', async () => {
    const page = await d().openSignedOut();
    await page.getByLabel('API token').waitFor();
    await lookAt(page, 'sign-in');
  });
});
