import assert from 'node:assert/strict';
import { cp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import type { Browser, Page } from 'playwright-core';

import { onAnyDatabase } from '../support/each-database.ts';
import { freePort } from '../support/free-port.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { scratchFolder } from '../support/scratch.ts';
import { leaveBrowser, openBrowser } from './support/browser.ts';
import { Dashboard, lead } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

const built = fileURLToPath(new URL('../../dashboard/dist/', import.meta.url));

onAnyDatabase('pages whose code cannot be loaded', (newDatabase) => {
  const folder = scratchFolder();
  let browser: Browser;
  let gatehouse: Gatehouse;
  let start: () => Promise<Gatehouse>;

  before(async () => {
    await cp(built, folder, { recursive: true });
    const [database, port] = [await newDatabase(), await freePort()];
    start = () => Gatehouse.start(database, { apiListen: `127.0.0.1:${port}`, dashboardFiles: folder });
    gatehouse = await start();
    browser = await openBrowser();
  });
  after(async () => {
    await leaveBrowser(browser);
    await gatehouse[Symbol.asyncDispose]();
  });

  /** Opens the overview, and nothing else is loaded yet. */
  async function openOverview(): Promise<{ readonly page: Page; readonly dashboard: Dashboard }> {
    const dashboard = new Dashboard(gatehouse, browser);
    const page = await dashboard.open();
    await page.getByRole('heading', { level: 1 }).waitFor();
    return { page, dashboard };
  }

  test('come by themselves when the server is back; when it comes back newer, a reload opens the same page', async () => {
    const { page, dashboard } = await openOverview();
    await page.locator('.side-foot').getByText('1 of 1 live').waitFor();
    assert.ok((await page.locator('.g-allow').count()) > 0);
    await gatehouse[Symbol.asyncDispose]();
    await page.getByRole('link', { name: /^API keys/ }).click();
    await page.getByRole('heading', { name: 'API keys: cannot be shown yet' }).waitFor();
    await page.getByText(/Trying again in \d+ s, the 2nd time\./).waitFor();
    await lookAt(page, 'page-no-answer');
    // A page that was open before shows what was known, as old, below the same words.
    const told = page.getByText(/^The server has not answered since/);
    const since = async () => /since [\d:]{8}/.exec((await told.textContent()) ?? '')?.[0] ?? '';
    const words = await since();
    assert.notEqual(words, '');
    await lead(page, '/');
    await page.getByRole('heading', { name: 'Three steps to a protected edge' }).waitFor();
    assert.equal(await since(), words);
    await page.getByText(/^What is shown is as of [\d:]+\. Trying again/).waitFor();
    await page
      .locator('.side-foot')
      .getByText(/^Unknown since/)
      .waitFor();
    assert.equal(await page.locator('.g-allow, .v.allow').count(), 0, 'nothing looks well');
    await lookAt(page, 'overview-no-answer');
    await lead(page, '/api-keys');
    gatehouse = await start();
    await page.getByRole('link', { name: 'first key of this installation' }).waitFor();
    await told.waitFor({ state: 'detached' });

    await gatehouse[Symbol.asyncDispose]();
    await upgrade(folder);
    gatehouse = await start();
    await lead(page, '/bot-users?create=1');
    await page.getByRole('heading', { name: 'Gatehouse was updated' }).waitFor();
    await lookAt(page, 'page-updated');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('dialog', { name: 'Create a bot' }).waitFor();
    await dashboard.endTest();
  });

  test('are loaded again with what was typed when the server came back newer, but for secrets', async () => {
    const { page, dashboard } = await openOverview();
    const { id } = await gatehouse.create('/bot_users', { name: 'old name' });
    const renew = async () => {
      await gatehouse[Symbol.asyncDispose]();
      await upgrade(folder);
      gatehouse = await start();
      // As when somebody comes back to the tab.
      await page.evaluate(`dispatchEvent(new Event('focus'))`);
      await page.getByText('Gatehouse was updated').first().waitFor();
    };
    await lead(page, '/certificates?create=1');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Certificate', { exact: true }).fill('a certificate');
    await dialog.getByLabel('Private key', { exact: true }).fill('a private key');
    await dialog.getByLabel('Description').fill('the shop');
    await renew();
    await lookAt(page, 'updated-form');
    await Promise.all([page.waitForEvent('load'), dialog.getByRole('button', { name: 'Reload' }).click()]);
    assert.equal(await dialog.getByLabel('Certificate', { exact: true }).inputValue(), 'a certificate');
    assert.equal(await dialog.getByLabel('Description').inputValue(), 'the shop');
    assert.equal(await dialog.getByLabel('Private key', { exact: true }).inputValue(), '');
    assert.equal(await page.evaluate('sessionStorage.getItem("gatehouse.input")'), null);

    await page.goto(`/dashboard/bot-users/${id}?edit=1`);
    await page.getByLabel('Name').fill('new name');
    await renew();
    await gatehouse.patch(`/bot_users/${id}`, { name: 'name of somebody else' });
    await Promise.all([page.waitForEvent('load'), page.getByRole('button', { name: 'Reload' }).click()]);
    assert.equal(await page.getByLabel('Name').inputValue(), 'new name');
    // What somebody has changed meanwhile is not overwritten unseen.
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('name of somebody else').first().waitFor();
    assert.equal((await gatehouse.get(`/bot_users/${id}`)).body.name, 'name of somebody else');
    await page.reload();
    await page.getByLabel('Name').waitFor();
    assert.equal(await page.getByLabel('Name').inputValue(), 'name of somebody else');
    await dashboard.closePages();
    dashboard.takeFaults();
  });

  test('say so when the server does not have it, and when not even the first script comes', async () => {
    const { page, dashboard } = await openOverview();
    const assets = join(folder, 'assets');
    for (const name of await readdir(assets)) if (name.startsWith('page-')) await rm(join(assets, name));
    await utimes(join(folder, 'index.html'), new Date(), new Date());
    await page.request.get('/dashboard/');
    await page.getByRole('link', { name: /^TCP edges/ }).click();
    await page.getByRole('heading', { name: 'TCP edges: its code is missing' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await lookAt(page, 'page-missing');
    await page.route('**/assets/shared-*.js', (route) => route.abort());
    await page.goto('/dashboard/api-keys');
    await page.getByText('The dashboard could not be loaded').waitFor();
    await page.getByRole('link', { name: 'Try again' }).waitFor();
    await lookAt(page, 'not-started');
    assert.match(dashboard.takeFaults().join(), /Failed to fetch dynamically imported module/);
    await dashboard.endTest();
  });

  test('show a fault of their own in their place, and the others go on working', async () => {
    await cp(built, folder, { recursive: true, force: true });
    await utimes(join(folder, 'index.html'), new Date(), new Date());
    const { page, dashboard } = await openOverview();
    await page.route('**/edges/tcp/*', (route) => route.fulfill({ contentType: 'application/json', body: 'null' }));
    await lead(page, '/tcp-edges/edgtcp_1');
    await page.getByRole('heading', { name: 'This page has a fault' }).waitFor();
    await lookAt(page, 'page-fault');
    await lead(page, '/tcp-edges');
    await page.getByRole('heading', { name: 'TCP edges' }).waitFor();
    assert.match(dashboard.takeFaults().join(), /null/);
    await dashboard.endTest();
  });
});

/** Gives every file another name, as a build of other code does. */
async function upgrade(folder: string): Promise<void> {
  const assets = join(folder, 'assets');
  const names = await readdir(assets);
  const paths = [join(folder, 'index.html'), ...names.map((name) => join(assets, name))];
  for (const path of paths) {
    const text = names.reduce((old, name) => old.replaceAll(name, newName(name)), await readFile(path, 'utf8'));
    await rm(path);
    await writeFile(join(path, '..', newName(path.slice(path.lastIndexOf('/') + 1))), text);
  }
}

function newName(name: string): string {
  return name === 'index.html' ? name : name.replace('.', '2.');
}
