import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { onDashboard } from './support/dashboard.ts';
import { leave } from './support/kept-page.ts';

/** Two calls for all, and five pages. */
const policies = 220;
const rowsOnPage = 50;

onDashboard('the search field of a list', (d) => {
  before(async () => {
    // Newest first: the ones made first are on the last pages.
    for (let made = 1; made <= policies; made += 1) {
      const description = made === 80 ? 'Branch OFFICE "Köln"' : `policy ${made}`;
      await d().gatehouse.create('/ip_policies', { description });
    }
  });

  test('finds an entry on page 3 by asking the server', async () => {
    const page = await d().open({ path: '/ip-policies', isFresh: true });
    const rows = page.locator('[data-row-link]');
    await rows.first().waitFor();
    // However slowly a busy machine types, the pause after the last key has not passed.
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel('Filter policies').pressSequentially('office "köl');
    await page.clock.resume();
    await page.getByText('1 policy found').waitFor();
    assert.deepEqual(await rows.allTextContents(), ['Branch OFFICE "Köln"']);
    assert.match(page.url(), /\?q=office/);
    const lists = asked.filter((url) => url.includes('/ip_policies?'));
    assert.equal(lists.length, 1, lists.join(' '));
    assert.ok(lists[0]?.includes('filter='), 'pages were read to look through them');
    // The same link shows the same to a colleague.
    await page.reload();
    await page.getByText('1 policy found').waitFor();
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Filter policies').fill('no such thing');
    await page.getByText('No policy fits the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByText('More than 100 policies').waitFor();
    assert.equal(await rows.count(), rowsOnPage);
  });

  test('leaves pages that nobody looks at on the server', async () => {
    const page = await d().open();
    // The page before may still ask for lists of its own.
    await leave(page);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/ip_policies?')) asked.push(request.url());
    });
    await page.goto('/dashboard/ip-policies');
    const rows = page.locator('[data-row-link]');
    await rows.first().waitFor();
    await page.getByText('1 to 50 of more').waitFor();
    assert.equal(asked.length, 1, asked.join(' '));
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    await page.getByText('51 to 100 of more').waitFor();
    assert.equal(asked.length, 1);
    await next.click();
    await page.getByText('101 to 150 of more').waitFor();
    assert.equal(asked.length, 2);
    assert.equal(await rows.first().textContent(), 'policy 120');
    await page.goto('/dashboard/ip-policies?page=5');
    await page.getByText('201 to 220 of 220').waitFor();
    assert.equal(await rows.last().textContent(), 'policy 1');
    assert.ok(await next.isDisabled());
  });
});
