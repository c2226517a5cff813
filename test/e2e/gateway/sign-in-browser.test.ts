import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

import { findChromium } from '../../dashboard/support/find-chromium.ts';
import { freePort } from '../../support/free-port.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { clientId, clientSecret, IdentityProvider } from '../../support/identity-provider.ts';
import { newSqlite } from '../../support/scratch.ts';
import { Visitor } from '../../support/visitor.ts';
import { Site, siteHost } from './support/site.ts';
import { until } from './support/until.ts';

const start = `https://${siteHost}/`;

/** A real browser, a real provider, two gateways and a restart. */
suite('sign-in with a browser', () => {
  let site: Site;
  let provider: IdentityProvider;
  let browser: Browser;
  let port: number;
  const databaseUrl = newSqlite();
  before(async () => {
    port = await freePort();
    site = await Site.start({ drainSeconds: '0', httpsListen: `127.0.0.1:${port}` }, databaseUrl);
    provider = await IdentityProvider.start(
      {
        ada: { email: 'ada@example.com', email_verified: true, groups: ['ops'] },
        eve: { email: 'eve@example.com', email_verified: true, groups: ['carriers'] },
      },
      [siteHost],
    );
    browser = await chromium.launch({
      executablePath: findChromium(process.env),
      args: ['--no-sandbox', '--disable-dev-shm-usage', `--host-resolver-rules=MAP ${siteHost}:443 127.0.0.1:${port}`],
    });
  });
  after(async () => {
    await browser.close();
    await provider[Symbol.asyncDispose]();
    await site[Symbol.asyncDispose]();
  });

  const put = async (more: object = {}) => {
    const body = { issuer: provider.issuer, client_id: clientId, client_secret: clientSecret, ...more };
    assert.equal((await site.gatehouse.put(`${site.routePath}/oidc`, body)).status, 200);
  };
  const newPage = async (): Promise<Page> => {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    return context.newPage();
  };
  const signIn = async (page: Page, name: string, path = '') => {
    await page.goto(`${start}${path}`);
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL((url) => url.hostname === siteHost);
  };
  const text = async (page: Page) => page.locator('body').innerText();

  test('signs in, is refused, signs out, is ended by an operator', async () => {
    await put({ groups: ['ops'] });
    const page = await newPage();
    await signIn(page, 'ada', 'orders?x=1');
    assert.equal(page.url(), `${start}orders?x=1`);
    assert.match(await text(page), /"gatehouse-user-email":"ada@example.com"/);
    assert.equal(await page.evaluate('document.cookie'), '', 'no script can read the session');
    // A script of another window is told where to sign in once the session is over.
    const window = await page.context().newPage();
    await window.goto(start);
    await page.goto(`${start}.gatehouse/sign-out`);
    await page.getByRole('heading', { name: `You are signed out of ${siteHost}` }).waitFor();
    const status = await window.evaluate(
      "fetch('/data').then((answer) => answer.status + ' ' + answer.headers.get('gatehouse-sign-in'))",
    );
    assert.equal(status, `401 ${start}.gatehouse/sign-in?to=%2Fdata`);
    // The provider knows her still.
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await page.waitForURL(start);
    assert.match(await text(page), /ada@example\.com/);
    let sessions: { id: string }[] = [];
    await until(async () => {
      sessions = (await site.gatehouse.get('/app/sessions')).body.application_sessions;
      return sessions.length === 1;
    }, 'one session is listed: the one before was ended by its visitor');
    assert.equal((await site.gatehouse.delete(`/app/sessions/${sessions[0]?.id}`)).status, 204);
    const asked = provider.asked.get('/auth') ?? 0;
    await page.goto(start);
    assert.equal(provider.asked.get('/auth'), asked + 1, 'she signs in again');
    await provider.down();
    // As after a start: nothing is known of the provider.
    await put({ groups: ['ops'], groups_claim: 'other' });
    await page.goto(start);
    await page.getByRole('heading', { name: 'Sign-in is not possible at the moment' }).waitFor();
    await put({ groups: ['ops'] });
    await provider.up();
    const other = await newPage();
    await signIn(other, 'eve');
    await other.getByRole('heading', { name: 'You are signed in, but may not enter' }).waitFor();
    assert.match(await text(other), /eve@example\.com[\s\S]*carriers[\s\S]*Ask/);
    await other.getByRole('link', { name: 'Sign in as somebody else' }).click();
    await other.getByLabel('Name').fill('ada');
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.waitForURL(start);
    assert.match(await text(other), /ada@example\.com/);
  });

  test('the network alone lets in', async () => {
    await put({ network: 'or_login', ip_policy_ids: [await site.policy('127.0.0.0/8')] });
    const page = await newPage();
    await page.goto(start);
    assert.match(await text(page), /"name":"upstream"/);
    assert.doesNotMatch(await text(page), /gatehouse-user/);
    await put();
  });

  test('a session is good at another gateway and after a restart, and is ended at both', async () => {
    await put();
    const page = await newPage();
    await signIn(page, 'ada');
    await using other = await Gatehouse.start(databaseUrl, { role: 'gateway', httpsListen: '127.0.0.1:0' });
    const cookies = await page.context().cookies(start);
    const elsewhere = new Visitor({ [siteHost]: other.httpsPort });
    elsewhere.cookies.set(siteHost, new Map(cookies.map(({ name, value }) => [name, value])));
    await until(async () => (await elsewhere.ask(start)).status === 200, 'the other gateway has the edge');
    await site.gatehouse[Symbol.asyncDispose]();
    const again = await Gatehouse.start(databaseUrl, {
      httpsListen: `127.0.0.1:${port}`,
      drainSeconds: '0',
      tcpPorts: '10000-32767',
    });
    await using stack = new AsyncDisposableStack();
    stack.use(again);
    await page.goto(start);
    assert.match(await text(page), /"gatehouse-user-email":"ada@example.com"/, 'without asking');
    const { application_sessions: sessions } = (await again.get('/app/sessions')).body;
    for (const { id } of sessions) assert.equal((await again.delete(`/app/sessions/${id}`)).status, 204);
    await until(async () => (await elsewhere.ask(start)).status === 302, 'the other gateway follows');
    const here = new Visitor({ [siteHost]: port });
    here.cookies.set(siteHost, new Map(elsewhere.cookies.get(siteHost)));
    assert.equal((await here.ask(start)).status, 302);
  });
});
