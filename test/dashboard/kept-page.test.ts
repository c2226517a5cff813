import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDashboard } from './support/dashboard.ts';

onDashboard('the page that tests of the dashboard share', (d) => {
  test('has nothing of the test before', async () => {
    const page = await d().open();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.route('**/dashboard/session', (route) => route.abort());
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.evaluate(`localStorage.setItem('kept', 'yes'); sessionStorage.setItem('kept', 'yes')`);
    await d().endTest(true);
    asked.length = 0;
    assert.equal(await d().openSignedOut(), page);
    await page.getByLabel('API token').waitFor();
    const left = `[{ ...localStorage, ...sessionStorage }, innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]`;
    assert.deepEqual(await page.evaluate(left), [{}, 1280, false]);
    assert.deepEqual(await page.context().cookies(), []);
    assert.deepEqual(asked, []);
  });

  test('is closed after a test that failed, had a fault, or changed what cannot be taken back', async () => {
    const failed = await d().openSignedOut();
    await d().endTest(false);
    assert.ok(failed.isClosed());
    const faulty = await d().openSignedOut();
    await faulty.evaluate(`console.error('a fault')`);
    await assert.rejects(d().endTest(true), /a fault/);
    assert.ok(faulty.isClosed());
    const withClock = await d().openSignedOut();
    await withClock.clock.install();
    await d().endTest(true);
    assert.ok(withClock.isClosed());
    const withTabs = await d().openSignedOut();
    await withTabs.context().newPage();
    await d().endTest(true);
    assert.ok(withTabs.isClosed());
  });
});
