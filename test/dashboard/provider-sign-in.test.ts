import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import type { Page } from 'playwright-core';

import { freePort } from '../support/free-port.ts';
import { clientId, clientSecret, IdentityProvider } from '../support/identity-provider.ts';
import { createAccount, createUser } from '../support/people.ts';
import { onDashboard, until } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

let provider: IdentityProvider | undefined;

/** The dashboard at a port that the provider knows. */
async function settings() {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  provider = await IdentityProvider.start(
    {
      ada: { email: 'ada@example.com', email_verified: true, name: 'Ada', groups: ['platform-admins'] },
      eve: { email: 'eve@example.com', email_verified: true, name: 'Eve', groups: ['carriers'] },
    },
    [publicUrl],
  );
  return {
    apiListen: `127.0.0.1:${port}`,
    publicUrl,
    oidcIssuer: provider.issuer,
    oidcClientId: clientId,
    oidcClientSecret: clientSecret,
    oidcLabel: 'Kestrel ID',
    oidcRules: 'group:platform-admins=admin',
    oidcCheckSeconds: '1',
  };
}

onDashboard(
  'signing in to the dashboard with an identity provider',
  (d) => {
    before(() => {
      d().keepsPage = false;
    });
    after(() => provider?.[Symbol.asyncDispose]());
    const people = () => provider?.people ?? assert.fail();
    const open = async (path = '/'): Promise<Page> => {
      d().otherOrigins.add(provider?.issuer ?? '');
      return d().openSignedOut({ path });
    };
    const leave = (page: Page) => page.getByRole('button', { name: 'Sign in with Kestrel ID' }).click();
    const answerAs = async (page: Page, name: string): Promise<void> => {
      await page.getByLabel('Name').fill(name);
      await page.getByRole('button', { name: 'Sign in' }).click();
    };

    test('the provider comes first, leads in to the page that was wanted, and out again', async () => {
      const page = await open('/users');
      await page.getByRole('button', { name: 'Use an API token' }).waitFor();
      await lookAt(page, 'provider-sign-in');
      await leave(page);
      await answerAs(page, 'ada');
      await page.getByRole('heading', { name: 'Users' }).waitFor();
      assert.match(page.url(), /\/dashboard\/users$/, 'the answer of the provider is in no history');
      await page.getByText('Ada · admin').waitFor();
      const row = page.getByRole('row', { name: /Ada \(you\)/ });
      await row.getByText('the role comes from groups there').waitFor();
      await page.getByRole('link', { name: 'Your profile' }).first().click();
      await page.getByText('signed in with Kestrel ID now').waitFor();
      await page.reload();
      await page.getByText('signed in with Kestrel ID now').waitFor();
      const stored = await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
      );
      assert.doesNotMatch(String(stored), /gatehouse\.sign-in|gatehouse_session/);
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('button', { name: 'Sign out here' }).click();
      await page.getByText('You are signed out here.').waitFor();
      const elsewhere = page.getByRole('link', { name: 'Sign out at Kestrel ID' });
      assert.ok((await elsewhere.getAttribute('href'))?.startsWith(`${provider?.issuer}/session/end?`));
      await page.reload();
      await page.getByRole('button', { name: 'Sign in with Kestrel ID' }).waitFor();
    });

    test('whoever is not let in reads why, and signs in as somebody else', async () => {
      const page = await open();
      await leave(page);
      await answerAs(page, 'eve');
      const refusal = page.getByText('knows you as "eve@example.com", but nothing here lets you in');
      await refusal.waitFor();
      await lookAt(page, 'provider-refused');
      assert.ok(!page.url().includes('code='));
      await page.getByRole('button', { name: 'Sign in as somebody else' }).click();
      await answerAs(page, 'ada');
      await page.getByText('Ada · admin').waitFor();
    });

    test('an answer that somebody else has got for themselves signs nobody in', async () => {
      const [attacker, victim] = [await open(), await open()];
      // The attacker keeps the answer.
      await attacker.route('**/dashboard/sign-in/finish', (route) => route.abort());
      const led = attacker.waitForRequest(/sign-in\/callback\?/);
      await leave(attacker);
      await answerAs(attacker, 'ada');
      const planted = (await led).url();
      assert.match(planted, /code=/);
      // A server on another port of the host can set any cookie of the attacker in the browser of the victim.
      await victim.context().addCookies(await attacker.context().cookies());
      await victim.goto(planted);
      await victim.getByText('This sign-in is over').waitFor();
      await victim.getByRole('button', { name: 'Sign in with Kestrel ID' }).waitFor();
    });

    test('a session that the provider has ended is begun anew in another tab, and what was typed is kept', async () => {
      people()['fay'] = { email: 'fay@example.com', email_verified: true, name: 'Fay', groups: ['platform-admins'] };
      const page = await open('/bot-users?create=1');
      await leave(page);
      await answerAs(page, 'fay');
      await page.getByLabel('Name').fill('typed before the end');
      const { fay, ...others } = people();
      delete people()['fay'];
      assert.deepEqual(people(), others);
      const ended = page.getByText('The session is over');
      // The provider is asked now and then only.
      const status = `fetch('/dashboard/session', {
        headers: { 'gatehouse-dashboard': localStorage.getItem('gatehouse.session') },
      }).then((answer) => answer.status)`;
      await until(async () => (await page.evaluate(status)) === 401);
      // The page may have noticed by itself, and then hides all but what it says.
      const create = page.getByRole('button', { name: 'Create bot' });
      await until(async () => {
        if (await ended.isVisible()) return true;
        await create.evaluateAll((all) => all.at(-1)?.dispatchEvent(new Event('click', { bubbles: true })));
        return false;
      });
      Object.assign(people(), { fay });
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Sign in with Kestrel ID in a new tab' }).click(),
      ]);
      await leave(tab);
      // The provider may remember who it is.
      await until(async () => {
        const isAsked = tab.url().startsWith(provider?.issuer ?? '') && (await tab.getByLabel('Name').isVisible());
        if (isAsked) await answerAs(tab, 'fay');
        return !(await ended.isVisible());
      });
      assert.equal(await page.getByLabel('Name').inputValue(), 'typed before the end');
    });

    test('a token still lets in, in an emergency', async () => {
      const page = await open();
      await page.getByRole('button', { name: 'Use an API token' }).click();
      await page.getByLabel('API token').fill(d().gatehouse.token);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.locator('a.brand').first().waitFor({ state: 'attached' });
    });

    // The last one: with a second account, rules that name none let nobody in.
    test('whoever several accounts know chooses one, and is in it from then on', async () => {
      const gatehouse = d().gatehouse;
      const other = await createAccount(gatehouse);
      const inviter = await createUser(gatehouse, 'admin', other);
      const body = { name: 'Zoe', email: 'zoe@partner.test', role: 'viewer' };
      for (const token of [gatehouse.token, inviter.token]) await gatehouse.create('/invitations', body, { token });
      people()['zoe'] = { email: 'zoe@partner.test', email_verified: true, name: 'Zoe' };
      const page = await open('/users');
      await leave(page);
      await answerAs(page, 'zoe');
      await page.getByRole('heading', { name: 'Which account?' }).waitFor();
      assert.equal(await page.getByRole('button', { name: /^Sign in to / }).count(), 2);
      await page.getByRole('button', { name: 'Sign in to default' }).click();
      await page.getByText('Zoe · viewer').waitFor();
      await page.getByRole('row', { name: /Zoe \(you\)/ }).waitFor();
    });
  },
  settings,
);
