import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { before, test } from 'node:test';

import { createUser } from '../support/people.ts';
import { onDashboard, signIn } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

onDashboard('signing in to the dashboard', (d) => {
  before(() => {
    d().keepsPage = false;
  });

  test('a browser that opens the server is led to the sign-in, and with a token to the overview', async () => {
    const page = await d().openSignedOut();
    await page.goto('/');
    await page.waitForURL('**/dashboard/');
    await signIn(page, d().gatehouse.token);
    await page.getByRole('heading', { name: 'Three steps to a protected edge' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Three steps to a protected edge' }).waitFor();
  });

  test('the server says beside the field what is wrong with a token', async () => {
    const page = await d().openSignedOut();
    await page.getByLabel('API token').fill('ak_2tQzYDLwIVU45s8sSMNpRfQp1Ng');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is the id of a key, not its token.').waitFor();
    assert.equal(await page.getByLabel('API token').getAttribute('aria-invalid'), 'true');
    for (const [wrong, words] of [
      ['not whole', 'This is not a whole token.'],
      [`${'0'.repeat(27)}_${'a'.repeat(43)}`, 'No key has this token'],
    ] as const) {
      await page.getByLabel('API token').fill(wrong);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByText(words).waitFor();
    }
    await page.getByText('No token at hand?').click();
    await page.getByText('npx gatehouse keys create --user NAME').waitFor();
  });

  test('no token is left in the URL or in what the browser stores', async () => {
    const page = await d().openSignedOut();
    await signIn(page, d().gatehouse.token);
    const stored = await page.evaluate('JSON.stringify([location.href, { ...localStorage }, { ...sessionStorage }])');
    assert.ok(!String(stored).includes(d().gatehouse.token));
    assert.equal(await page.evaluate('document.cookie'), '');
  });

  test('signing out ends the session here, and everywhere ends it in other browsers too', async () => {
    const [page, other] = [await d().open(), await d().open()];
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign out here' }).click();
    await page.getByLabel('API token').waitFor();
    await other.goto('/dashboard/api-keys');
    await other.getByRole('heading', { name: 'API keys' }).waitFor();
    const third = await d().open();
    await third.getByRole('button', { name: 'Sign out' }).click();
    await third.getByRole('button', { name: 'Sign out everywhere' }).click();
    await third.getByLabel('API token').waitFor();
    await other.reload();
    await other.getByLabel('API token').waitFor();
  });

  test('when the key is deleted, sign-in comes over the page and what was typed is kept', async () => {
    const { id, token } = await d().gatehouse.create('/api_keys', { description: 'short-lived' });
    const page = await d().open({ token, path: '/bot-users?create=1' });
    await page.getByLabel('Name').fill('typed before the end');
    assert.equal((await d().gatehouse.delete(`/api_keys/${id}`)).status, 204);
    // A call in the background may notice it first, and hide the button under the sign-in.
    await page.locator('button', { hasText: 'Create bot' }).last().dispatchEvent('click');
    await page.getByText('The session is over').waitFor();
    assert.equal(await page.locator('main#main').isVisible(), false, 'nobody reads on');
    await lookAt(page, 'sign-in-again');
    await signIn(page, d().gatehouse.token);
    await page.getByText('The session is over').waitFor({ state: 'detached' });
    assert.equal(await page.getByLabel('Name').inputValue(), 'typed before the end');
    await page.getByRole('button', { name: 'Create bot' }).last().click();
    await page.getByRole('heading', { name: 'typed before the end' }).waitFor();
  });

  test('a restriction that only warns tells whoever it would refuse, and one that is enforced keeps them out', async () => {
    const policy = await d().gatehouse.create('/ip_policies', { description: 'only here' });
    await d().gatehouse.put(`/ip_policies/${policy.id}/rules`, ['127.0.0.1/32']);
    const restriction = await d().gatehouse.create('/ip_restrictions', {
      type: 'dashboard',
      description: 'Dashboard: offices',
      ip_policy_ids: [policy.id],
    });
    const elsewhere = { context: { extraHTTPHeaders: { 'x-forwarded-for': '127.0.0.2' } } };
    const page = await d().open(elsewhere);
    await page.getByText('would be refused').first().waitFor();
    await page.getByText('127.0.0.2').first().waitFor();
    await page.getByRole('link', { name: /^Bot users/ }).click();
    await page.getByRole('heading', { name: 'Bot users' }).waitFor();
    await page.getByRole('button', { name: 'Put away until tomorrow' }).click();
    await page.getByText('would be refused').first().waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { name: 'Bot users' }).waitFor();
    assert.equal(await page.getByText('would be refused').count(), 0, 'it stays away');
    await page.getByRole('link', { name: /^Overview/ }).click();
    await page.getByText('would be refused').first().waitFor();
    const answer = await d().gatehouse.patch(`/ip_restrictions/${restriction.id}`, { enforced: true });
    assert.equal(answer.status, 200, answer.text);
    await page.reload();
    await page.getByLabel('API token').waitFor();
    await page.getByLabel('API token').fill(d().gatehouse.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('127.0.0.2').waitFor();
    const here = await d().open();
    assert.equal(await here.getByText('would be refused').count(), 0);
    assert.equal((await d().gatehouse.delete(`/ip_restrictions/${restriction.id}`)).status, 204);
  });

  test('a page of another origin cannot act through the session', async () => {
    const page = await d().open();
    const { length } = (await d().gatehouse.get('/bot_users')).body.bot_users;
    const foreign = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>elsewhere</title>');
    });
    await new Promise<void>((resolve) => {
      foreign.listen(0, '127.0.0.1', resolve);
    });
    const address = foreign.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await page.goto(`http://127.0.0.1:${port}/`);
    const send = (headers: string) =>
      page.evaluate(`fetch(${JSON.stringify(`${d().gatehouse.url}/bot_users`)}, {
        method: 'POST', credentials: 'include', body: '{"name":"forged"}', headers: ${headers},
      }).then((response) => response.status, () => 'refused by the browser')`);
    assert.equal(await send('{ "content-type": "text/plain" }'), 'refused by the browser');
    assert.equal(
      await send('{ "content-type": "application/json", "service-version": "2", "gatehouse-dashboard": "1" }'),
      'refused by the browser',
    );
    foreign.close();
    foreign.closeAllConnections();
    assert.equal((await d().gatehouse.get('/bot_users')).body.bot_users.length, length);
    d().takeFaults();
  });

  test('a member sees everything, and is told what only admins change', async () => {
    const { token } = await createUser(d().gatehouse, 'member');
    const page = await d().open({ token, path: '/bot-users' });
    await page.getByText('only an admin may write bots').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Create bot' }).count(), 0);
  });
});
