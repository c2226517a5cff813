import assert from 'node:assert/strict';
import { after, afterEach, before } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';

import type { Flags } from '../../../src/config/config.ts';
import { onAnyDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { leaveBrowser, openBrowser } from './browser.ts';
import { KeptPage } from './kept-page.ts';
import { signInWithoutForm } from './sign-in.ts';

/** Longest wait for anything on a page, beyond the needs of a busy machine. */
const waitMs = 120_000;

interface OpenOptions {
  /** Whom to sign in; `undefined` nobody. The first admin without it. */
  readonly token?: string | undefined;
  readonly path?: string;
  /** In a browser of its own with these options. */
  readonly context?: BrowserContextOptions;
  /** In a browser of its own, for what cannot be taken back: a clock, a script of every document, a permission. */
  readonly isFresh?: boolean;
}

/**
 * A real browser before a real server. Pages are closed, and their faults are checked, at the end of their test. The first
 * page of a test is kept for the next one, which finds it empty; it is closed where the test fails or has changed more.
 */
export class Dashboard {
  readonly gatehouse: Gatehouse;
  /** Origins beside the own one that pages may lead to. */
  readonly otherOrigins = new Set<string>();
  /** False for tests of what a browser keeps: each of their pages has a browser of its own. */
  keepsPage = true;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #faults: string[] = [];
  #kept: KeptPage | undefined;
  #isKeptInUse = false;

  constructor(gatehouse: Gatehouse, browser: Browser) {
    this.gatehouse = gatehouse;
    this.#browser = browser;
  }

  /** Opens a page that has signed in, without the form: loading every page twice costs too much. */
  async open(options: OpenOptions = {}): Promise<Page> {
    const { token = this.gatehouse.token, path = '/' } = options;
    const page = await this.#pageFor(options);
    const script = await signInWithoutForm(page, this.gatehouse.url, token);
    if (page === this.#kept?.page) this.#kept.noteScript(script);
    await page.goto(`/dashboard${path}`);
    await page.locator('a.brand').first().waitFor({ state: 'attached' });
    return page;
  }

  /** The same, and nobody is signed in. */
  async openSignedOut({ path = '/', ...options }: Omit<OpenOptions, 'token'> = {}): Promise<Page> {
    const page = await this.#pageFor(options);
    await page.goto(`/dashboard${path}`);
    return page;
  }

  async #pageFor({ context, isFresh = false }: OpenOptions): Promise<Page> {
    if (context !== undefined || isFresh || !this.keepsPage || this.#isKeptInUse) return this.#newPage(context ?? {});
    this.#isKeptInUse = true;
    this.#kept ??= new KeptPage(await this.#newPage({}));
    return this.#kept.page;
  }

  /** An empty page whose faults are noted. */
  async #newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await this.#browser.newContext({
      baseURL: this.gatehouse.url,
      reducedMotion: 'reduce',
      ...options,
    });
    this.#contexts.push(context);
    context.setDefaultTimeout(waitMs);
    const page = await context.newPage();
    page.on('pageerror', (error) => this.#faults.push(`${page.url()}: ${error.message}`));
    page.on('console', (message) => {
      // An answer of 4xx is a line of its own in the console of Chromium; everything else is a fault of the page.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.#faults.push(`${page.url()}: ${message.text()}`);
      }
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      const isOwn =
        url.origin === this.gatehouse.url ||
        this.otherOrigins.has(url.origin) ||
        url.protocol === 'data:' ||
        url.protocol === 'blob:';
      if (!isOwn) this.#faults.push(`${page.url()} asked for ${request.url()}`);
    });
    return page;
  }

  /** Faults that were seen so far; a test that provokes some takes them away. */
  takeFaults(): readonly string[] {
    return this.#faults.splice(0);
  }

  /** Closes what the test has opened. Fails on an exception, a message of the policy, or a call of another host. */
  async endTest(hasPassed = false): Promise<void> {
    if (this.#isKeptInUse && !(hasPassed && (await this.#kept?.empty()))) this.#kept = undefined;
    this.#isKeptInUse = false;
    await this.#closeBut(this.#kept?.page.context());
    const faults = this.takeFaults();
    if (faults.length > 0) await this.closePages();
    assert.deepEqual(faults, []);
  }

  async closePages(): Promise<void> {
    this.#kept = undefined;
    this.#isKeptInUse = false;
    await this.#closeBut(undefined);
  }

  async #closeBut(kept: BrowserContext | undefined): Promise<void> {
    const all = this.#contexts.splice(0);
    if (kept !== undefined) this.#contexts.push(kept);
    await Promise.all(all.filter((context) => context !== kept).map((context) => context.close()));
  }
}

export async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('API token').fill(token);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.locator('a.brand').first().waitFor({ state: 'attached' });
}

/** Leads to a page as a link does: the program is not loaded again, nor are lists that it has read a moment ago. */
export async function lead(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/dashboard${path}`)})`);
}

/** Waits for something that has no page. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + waitMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('it did not happen in time');
    await sleep(50);
  }
}

/** Runs tests with one browser and one server on a database of its own, and ends each on the dashboard. */
export function onDashboard(
  name: string,
  suite: (dashboard: () => Dashboard) => void,
  settings: Flags | (() => Promise<Flags>) = {},
): void {
  onAnyDatabase(name, (newDatabase) => {
    overDatabase(newDatabase, suite, settings);
  });
}

function overDatabase(
  newDatabase: () => Promise<string>,
  suite: (dashboard: () => Dashboard) => void,
  settings: Flags | (() => Promise<Flags>),
): void {
  let gatehouse: Gatehouse | undefined;
  let browser: Browser | undefined;
  let dashboard: Dashboard | undefined;
  before(async () => {
    const given = typeof settings === 'function' ? await settings() : settings;
    gatehouse = await Gatehouse.start(await newDatabase(), { trustedProxies: '127.0.0.1', ...given });
    browser = await openBrowser();
    dashboard = new Dashboard(gatehouse, browser);
  });
  after(async () => {
    await leaveBrowser(browser);
    await gatehouse?.[Symbol.asyncDispose]();
  });
  suite(() => {
    if (dashboard === undefined) throw new Error('the browser runs only while tests do');
    return dashboard;
  });
  // After those of the suite, which may take faults away.
  afterEach((context) => dashboard?.endTest('passed' in context && context.passed));
}
