import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { until } from '../e2e/gateway/support/until.ts';
import { lead, onDashboard } from './support/dashboard.ts';

const built = new URL('../../dashboard/dist/', import.meta.url);

onDashboard('the shell of the dashboard', (d) => {
  test('keys lead to pages, to the search and to their list, and do nothing while somebody types', async () => {
    const page = await d().open();
    await page.getByRole('heading', { level: 1 }).waitFor();
    // One after another within a second or so, which a busy machine may take for the way of the first alone.
    await until(async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('k');
      return page.getByRole('heading', { name: 'API keys' }).isVisible();
    }, 'both keys lead to a page');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('f');
    await page.keyboard.type('gp?/');
    assert.equal(await page.getByLabel('Filter keys').inputValue(), 'gp?/');
    assert.match(page.url(), /\/api-keys/);
  });

  test('the search knows pages, names, ids and addresses', async () => {
    const policy = await d().gatehouse.create('/ip_policies', { description: 'Offices and VPN' });
    const page = await d().open();
    await page.getByRole('link', { name: 'IP policies 1', exact: true }).waitFor();
    const find = async (text: string, first: string): Promise<void> => {
      await page.keyboard.press('/');
      await page.getByRole('combobox').fill(text);
      await page.getByRole('option').first().filter({ hasText: first }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    };
    await find('203.0.113.7', 'Who gets in: 203.0.113.7');
    await find('offices', 'Offices and VPN');
    await page.keyboard.press('/');
    await page.getByRole('combobox').fill(policy.id);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Offices and VPN' }).waitFor();
  });

  test('rows are reached with j and k, and the focus returns from a dialog to where it was', async () => {
    await d().gatehouse.create('/bot_users', { name: 'second' });
    await d().gatehouse.create('/bot_users', { name: 'first' });
    const page = await d().open({ path: '/bot-users' });
    await page.getByRole('link', { name: 'first' }).waitFor();
    const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('j');
    assert.equal(await focused(), 'first');
    await page.keyboard.press('j');
    assert.equal(await focused(), 'second');
    await page.keyboard.press('k');
    assert.equal(await focused(), 'first');
    const create = page.getByRole('button', { name: 'Create bot' });
    await create.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await focused(), 'Create bot');
  });

  test('the theme is chosen and kept, and the side bar is a drawer on a narrow screen', async () => {
    const page = await d().open({ context: { viewport: { width: 380, height: 800 } } });
    await page.getByRole('button', { name: 'Menu' }).click();
    const drawer = page.getByRole('dialog', { name: 'Menu' });
    await drawer.getByRole('button', { name: 'Theme: as the system. Change it' }).click();
    await drawer.getByRole('button', { name: 'Theme: light. Change it' }).click();
    await drawer.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    await drawer.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  });

  test('the top bar shows the address that the server sees, with its verdict for the dashboard', async () => {
    const page = await d().open({ context: { extraHTTPHeaders: { 'x-forwarded-for': '198.51.100.24' } } });
    await page
      .getByRole('link', { name: /You come from 198\.51\.100\.24 No restriction guards the dashboard/ })
      .waitFor();
  });

  test('a panel that failed says why and tries again by itself', async () => {
    const page = await d().open();
    let isDown = true;
    await page.route('**/api_keys?**', (route) =>
      isDown
        ? route.fulfill({
            status: 503,
            contentType: 'application/json',
            headers: { 'gatehouse-operation-id': 'op_36ItmERmNr6dH7KetMJM9wC6AsH' },
            body: '{"error_code":"ERR_GATEHOUSE_20004","status_code":503,"msg":"The database does not answer.","details":{}}',
          })
        : route.continue(),
    );
    await page.goto('/dashboard/api-keys');
    await page.getByText('The keys could not be read').waitFor();
    await page.getByText('The database does not answer.').waitFor();
    await page.getByText('ERR_GATEHOUSE_20004').waitFor();
    await page.getByText(/Trying again in \d+ s\./).waitFor();
    isDown = false;
    await page.getByRole('link', { name: 'first key of this installation' }).waitFor();
  });

  test('every key of the list does what the list says, and the list has every key', async () => {
    const bot = await d().gatehouse.create('/bot_users', { name: 'a bot of the list' });
    const policy = await d().gatehouse.create('/ip_policies', { description: 'Long list' });
    const rules = Array.from({ length: 600 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
    await d().gatehouse.put(`/ip_policies/${policy.id}/rules`, rules);
    const page = await d().open({ path: '/bot-users' });
    const press = (...keys: readonly string[]) =>
      keys.reduce(async (before, key) => (await before, page.keyboard.press(key)), Promise.resolve());
    const row = page.getByRole('link', { name: bot.name });
    const dialog = page.getByRole('dialog');
    const closed = () => dialog.waitFor({ state: 'detached' });
    const onRules = async (status: RegExp) => {
      await page.getByRole('status').filter({ hasText: status }).waitFor();
    };
    const focused = () => page.evaluate('document.activeElement.textContent');
    const openList = async () => {
      await press('?');
      const names = await dialog
        .locator('dt')
        .evaluateAll((all) => all.map((dt) => [...dt.children].map((kbd) => kbd.textContent).join(' ')));
      const words = await dialog.locator('dd').allTextContents();
      await press('Escape');
      await closed();
      return names.map((name, index) => [name, words[index] ?? ''] as const);
    };

    /** Each presses its key and sees what comes of it; a page that `g` leads to is checked by its title. */
    const checks: Readonly<Record<string, () => Promise<void>>> = {
      '/': async () => {
        await press('/');
        await dialog.getByRole('combobox').waitFor();
        await press('Escape');
        await closed();
      },
      '?': async () => {
        await openList();
      },
      'j k': async () => {
        await press('j', 'j', 'k');
        assert.match(String(await focused()), /\w/);
      },
      x: async () => {
        await row.focus();
        await press('x');
        await page.getByText('1 bot selected').waitFor();
        await press('x');
        await page.getByText('1 bot selected').waitFor({ state: 'detached' });
      },
      y: async () => {
        await row.focus();
        await press('y');
        await page.getByText(`Copied ${bot.id}`).waitFor();
      },
      c: async () => {
        await press('c');
        await dialog.waitFor();
      },
      Esc: async () => {
        await press('Escape');
        await closed();
      },
      f: async () => {
        await press('f');
        assert.equal(await page.evaluate('document.activeElement.type'), 'search');
      },
      '↵': async () => {
        await row.focus();
        await press('Enter');
        await page.getByRole('heading', { name: bot.name }).waitFor();
      },
      e: async () => {
        await page.getByRole('heading', { name: bot.name }).waitFor();
        await press('e');
        await page.getByRole('form').waitFor();
      },
      'Ctrl ↵': async () => {
        await page.getByLabel('Name').fill('saved by a key');
        await press('Control+Enter');
        await page.getByRole('heading', { name: 'saved by a key' }).waitFor();
        await lead(page, `/ip-policies/${policy.id}`);
        await onRules(/^Rows 1 to \d+ of 600/);
      },
      G: async () => {
        await press('G');
        await onRules(/ to 600 of 600/);
      },
      'g g': async () => {
        await press('g', 'g');
        await onRules(/^Rows 1 to /);
      },
      ':': async () => {
        await press(':');
        await dialog.getByLabel('Row', { exact: true }).fill('301');
        await press('Enter');
        await onRules(/^Rows 301 to /);
      },
      Space: async () => {
        await lead(page, '/traffic');
        await page.getByRole('button', { name: 'Pause' }).waitFor();
        await press('Space');
        await page.getByRole('button', { name: 'Go on' }).waitFor();
      },
    };
    await row.waitFor();
    const listed = await openList();
    const pagesOfList = listed.filter(([name]) => /^g [^g]$/.test(name));
    assert.deepEqual(
      listed
        .filter((each) => !pagesOfList.includes(each))
        .map(([name]) => name)
        .toSorted(),
      Object.keys(checks).toSorted(),
    );
    for (const check of Object.values(checks)) await check();
    for (const [name, title] of pagesOfList) {
      await press(...name.split(' '));
      await page.locator('.nav a[aria-current="page"]', { hasText: title }).waitFor();
    }
  });

  test('the first view is at most 200 kB of compressed script', async () => {
    const index = await readFile(new URL('index.html', built), 'utf8');
    const scripts = [...index.matchAll(/(?:src|href)="\/dashboard\/(assets\/[^"]+\.js)"/g)].map(
      ([, path = '']) => path,
    );
    const page = await d().openSignedOut();
    const loaded = new Set(scripts);
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('.js')) loaded.add(pathname.replace('/dashboard/', ''));
    });
    await page.reload();
    await page.getByLabel('API token').fill(d().gatehouse.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    let bytes = 0;
    for (const path of loaded) bytes += gzipSync(await readFile(new URL(path, built))).length;
    assert.ok(loaded.size > 1, 'no page was loaded');
    assert.ok(bytes <= 200_000, `the first view is ${bytes} bytes: ${[...loaded].join(', ')}`);
  });
});
