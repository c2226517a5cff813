import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import type { Page } from 'playwright-core';

import { operations } from '../../client/src/index.ts';
import type { ListId } from '../../client/src/index.ts';
import { onDashboard } from './support/dashboard.ts';
import { leave } from './support/kept-page.ts';

onDashboard('the first view of the dashboard', (d) => {
  before(() => d().gatehouse.create('/ip_policies', { description: 'Offices' }));

  /** Notes the paths of all calls of the API from now on. */
  function watchCalls(page: Page): string[] {
    const calls: string[] = [];
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url());
      if (request.resourceType() === 'fetch') calls.push(pathname + search);
    });
    return calls;
  }

  test('asks for its list and its session before the large script has come', async () => {
    const page = await d().open();
    const early = Promise.all([
      page.waitForRequest('**/ip_policies?limit=100'),
      page.waitForRequest('**/dashboard/session'),
    ]);
    await page.route('**/assets/shared-*.js', async (route) => {
      await early;
      await route.continue();
    });
    await page.goto('/dashboard/ip-policies');
    await page.getByRole('link', { name: 'Offices' }).waitFor();
  });

  test('knows where each list is read', async () => {
    const table = new URL('../../dashboard/src/app/pages.ts', import.meta.url).href;
    // The module belongs to the browser part, whose types are checked apart.
    const { pages } = (await import(table)) as { pages: readonly { list?: ListId; listPath?: string }[] };
    const lists = pages.filter(({ list }) => list !== undefined);
    assert.ok(lists.length >= 10);
    for (const { list, listPath } of lists) assert.equal(listPath, list && operations[list].path);
  });

  test('asks for nothing twice, on any page', async () => {
    const page = await d().open();
    const links = page.locator('.nav a[href^="/dashboard"]');
    await links.first().waitFor();
    const paths = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    assert.ok(paths.length > 10);
    const calls = watchCalls(page);
    for (const path of paths) {
      // The page before may still be asking.
      await leave(page);
      calls.length = 0;
      await page.goto(path);
      // The side bar counts when the page is there.
      await page.locator('.nav .count').first().waitFor({ state: 'attached' });
      const twice = calls.filter((call, index) => calls.indexOf(call) !== index && !call.startsWith('/ip_check'));
      assert.deepEqual(twice, [], `${path} asks twice`);
    }
  });
});
