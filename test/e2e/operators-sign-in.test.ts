import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import type { Flags } from '../../src/config/config.ts';
import { hashSecret } from '../../src/lib/secrets.ts';
import { sessionKind } from '../../src/resources/dashboard-sessions/table.ts';
import { sharedSealer } from '../../src/resources/visitors/service.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import type { Answer } from '../support/gatehouse.ts';
import { clientId, clientSecret, IdentityProvider } from '../support/identity-provider.ts';
import { Operator, publicUrl } from '../support/operator.ts';
import { createAccount, createUser, from } from '../support/people.ts';
import { until } from './gateway/support/until.ts';

const person = (name: string, more: object = {}) => ({
  email: `${name.toLowerCase()}@example.com`,
  email_verified: true,
  name,
  ...more,
});
const hourMs = 3_600_000;

onEachDatabase('operators sign in with a provider', (newDatabase) => {
  describe('with one Gatehouse', () => {
    let provider: IdentityProvider;
    let evil: IdentityProvider;
    let url: string;
    let gatehouse: Gatehouse;
    const settings = (more: Flags = {}): Flags => ({
      publicUrl,
      oidcIssuer: provider.issuer,
      oidcClientId: clientId,
      oidcClientSecret: clientSecret,
      oidcLabel: 'Kestrel ID',
      oidcRules: 'group:platform-admins=admin, group:ops=member, domain:example.com=viewer',
      oidcCheckSeconds: '1',
      trustedProxies: '127.0.0.1',
      ...more,
    });
    const start = (more?: Flags) => Gatehouse.start(url, settings(more));
    before(async () => {
      const people = {
        ada: person('Ada', { groups: ['platform-admins'] }),
        bob: person('Bob', { groups: ['ops', 'carriers'] }),
        cyd: person('Cyd'),
      };
      provider = await IdentityProvider.start(people, [publicUrl]);
      evil = await IdentityProvider.start({ ada: person('Ada') }, [publicUrl]);
      url = await newDatabase();
      gatehouse = await start();
    });
    after(async () => {
      await gatehouse[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
      await evil[Symbol.asyncDispose]();
    });
    const usersOf = async (): Promise<readonly Record<string, unknown>[]> =>
      (await gatehouse.get('/users?limit=100')).body.users;
    const signedIn = async (name: string, at = gatehouse): Promise<Operator> => {
      const operator = new Operator(at);
      const { status, text } = await operator.signIn(name);
      assert.equal(status, 201, text);
      return operator;
    };
    /** Adds somebody to the people of the provider. */
    const add = (name: string, claims: object) => {
      provider.people[name] = { ...claims };
    };
    /** Changes what is sealed in the cookie of a sign-in that is under way. */
    const reseal = async ({ browser }: Operator, change: object): Promise<void> => {
      const [name = '', sealed = ''] = browser.loginCookie?.split(/=(.*)/s) ?? [];
      const sealer = gatehouse.app.context.services.get(sharedSealer);
      const context = 'sign-in to the dashboard';
      const login = JSON.parse((await sealer.open(sealed, context)) ?? assert.fail()) as object;
      browser.loginCookie = `${name}=${await sealer.seal(JSON.stringify({ ...login, ...change }), context)}`;
    };

    test('the page offers the provider and the token, and the first sign-in makes a user by rule', async () => {
      const operator = new Operator(gatehouse);
      const offered = await operator.browser.get('/dashboard/sign-in');
      assert.deepEqual(offered.body, { provider: { label: 'Kestrel ID' }, token: true });
      const begun = await operator.begin('me', { headers: { host: 'evil.test' } });
      const asked = new URL(begun.body.url).searchParams;
      assert.equal(asked.get('redirect_uri'), `${publicUrl}/dashboard/sign-in/callback`, 'no header names it');
      assert.equal(asked.get('code_challenge_method'), 'S256');
      assert.ok(asked.get('state') && asked.get('nonce'));
      assert.match(
        begun.headers.getSetCookie().join(),
        /^__Host-gatehouse_session_login=.*Path=\/; HttpOnly; SameSite=Strict; Max-Age=600; Secure$/,
      );
      const address = await operator.answerAs('ada', begun.body.url);
      assert.ok(address.startsWith(`${publicUrl}/dashboard/sign-in/callback?`));
      const { status, body, headers, text } = await operator.finish(address);
      assert.equal(status, 201, text);
      const { provider: shown, role, principal, api_key: key } = body;
      assert.deepEqual([shown, role, principal.name, key], ['Kestrel ID', 'admin', 'Ada', undefined]);
      assert.match(
        headers.getSetCookie().join('\n'),
        /^__Host-gatehouse_session_login=;[^]*\n__Host-gatehouse_session=\w{43};/,
      );
      assert.equal((await operator.browser.get('/dashboard/session')).status, 200);
      const made = await operator.browser.post('/ip_policies', { description: 'by Ada' });
      assert.equal(made.status, 201, made.text);
      const [change] = (await gatehouse.get('/changes?limit=1')).body.changes;
      assert.deepEqual([change.actor, change.scope, change.key_id], [principal.id, 'dashboard', undefined]);
      const [birth] = (await gatehouse.get(`/changes?resource_id=${principal.id}`)).body.changes;
      assert.deepEqual([birth.actor, birth.scope, birth.source], [principal.id, 'dashboard', '127.0.0.1']);
      const user = (await gatehouse.get(`/users/${principal.id}`)).body;
      assert.deepEqual(
        [user.email, user.sign_in, user.api_keys],
        ['ada@example.com', { issuer: provider.issuer, subject: 'ada', role_by_group: true }, 0],
      );
      assert.ok(user.last_seen_at);
      const again = await signedIn('ada');
      assert.equal((await again.browser.get('/dashboard/session')).body.principal.id, principal.id);
      assert.equal((await gatehouse.get(`/changes?resource_id=${principal.id}`)).body.changes.length, 1);
      assert.equal(
        (await signedIn('bob').then(({ browser }) => browser.get('/dashboard/session'))).body.role,
        'member',
      );
      const cyd = (await signedIn('cyd').then(({ browser }) => browser.get('/dashboard/session'))).body;
      assert.deepEqual([cyd.role, cyd.read_only], ['viewer', true]);
    });

    test('a sign-in is finished once, by the browser and the page that began it, in time', async () => {
      const [mine, other] = [new Operator(gatehouse), new Operator(gatehouse)];
      const { body } = await mine.begin();
      const address = await mine.answerAs('ada', body.url);
      await other.begin();
      const over = async (finished: Promise<Answer>, why: string) => {
        const answer = await finished;
        assert.equal(answer.status, 400, why);
        assert.match(answer.body.msg, /^This sign-in is over.*Sign in again\.$/, why);
      };
      const askedBefore = provider.asked.get('/token');
      await over(other.finish(address), 'an answer that was planted in another browser');
      await over(new Operator(gatehouse).finish(address, mine.secret), 'without the cookie');
      const { loginCookie } = mine.browser;
      await over(mine.finish(address, other.secret), 'with the secret of another page');
      mine.browser.loginCookie = loginCookie;
      await over(mine.finish(address.replace('state=', 'state=x')), 'with another state');
      mine.browser.loginCookie = `${loginCookie?.slice(0, -6)}AAAAA=`;
      await over(mine.finish(address), 'with a cookie that was changed');
      mine.browser.loginCookie = loginCookie;
      await reseal(mine, { atMs: Date.now() - 601_000 });
      await over(mine.finish(address), 'too late');
      assert.equal(provider.asked.get('/token'), askedBefore, 'the provider was not asked');
      mine.browser.loginCookie = loginCookie;
      assert.equal((await mine.finish(address)).status, 201);
      mine.browser.loginCookie = loginCookie;
      const replayed = await mine.finish(address);
      assert.equal(replayed.status, 403, 'a code counts once');
      assert.match(replayed.body.msg, /^Kestrel ID has not confirmed the sign-in\./);
    });

    test('answers of another provider, for another nonce, or of nobody are refused, and the log says why', async () => {
      const operator = new Operator(gatehouse);
      const refusedAfter = async (change: (address: string) => string | Promise<string>): Promise<Answer> => {
        const { body } = await operator.begin();
        const answer = await operator.finish(await change(await operator.answerAs('ada', body.url)));
        assert.equal(answer.status, 403);
        assert.doesNotMatch(answer.text, /nonce|issuer|iss|openid|oauth|127\.0\.0\.1/i, 'no internals');
        return answer;
      };
      await refusedAfter((address) => address.replace(/iss=[^&]*/, `iss=${encodeURIComponent(evil.issuer)}`));
      await refusedAfter((address) => address.replace(/&iss=[^&]*/, ''));
      await refusedAfter((address) => address.replace(/code=[^&]*/, 'code=guessed'));
      const wrongNonce = await refusedAfter(async (address) => {
        await reseal(operator, { nonce: 'x'.repeat(43) });
        return address;
      });
      await refusedAfter(async (address) => {
        await reseal(operator, { verifier: 'x'.repeat(43) });
        return address;
      });
      const id = wrongNonce.headers.get('gatehouse-operation-id') ?? assert.fail();
      assert.match(gatehouse.logLines.find((line) => line.includes(id) && line.includes('nonce')) ?? '', /Kestrel ID/);
      const nobody = new Operator(gatehouse);
      const { body } = await nobody.begin();
      const denied = await nobody.answerAs('nobody', body.url);
      assert.match(denied, /error=access_denied/);
      assert.equal((await nobody.finish(denied)).status, 403);
    });

    test('whom nothing lets in is refused, and told what to do', async () => {
      const countBefore = (await usersOf()).length;
      const refused = async (name: string, said: RegExp) => {
        const answer = await new Operator(gatehouse).signIn(name);
        assert.equal(answer.status, 403);
        assert.match(answer.body.msg, said);
        assert.doesNotMatch(answer.body.msg, /platform-admins|ops/, 'groups that give roles are not told');
      };
      add('dan', { email: 'dan@elsewhere.test', email_verified: true, name: 'Dan', groups: ['Platform-Admins'] });
      await refused(
        'dan',
        /knows you as "dan@elsewhere\.test", but nothing here lets you in: .* Ask an admin to invite/,
      );
      add('eve', { email: 'eve@example.com', email_verified: false, name: 'Eve' });
      await refused('eve', /does not say that this address was verified.* Have it verified there/);
      add('eve', { email: 'ada@example.com', name: 'Eve' });
      await refused('eve', /does not say that this address was verified/);
      add('fay', { email: 'ada@example.com', email_verified: true, name: 'Fay' });
      await refused('fay', /the user here with this address is somebody else at/);
      assert.equal((await usersOf()).length, countBefore);
      assert.ok(
        gatehouse.logLines.some(
          (line) => line.includes('somebody could not sign in') && line.includes('dan@elsewhere'),
        ),
      );
      // An address that is not verified is kept nowhere; a group counts without it.
      add('gil', { email: 'ada@example.com', email_verified: false, name: 'Ada', groups: ['ops'] });
      const gil = (await (await signedIn('gil')).browser.get('/dashboard/session')).body;
      const { email, name } = (await gatehouse.get(`/users/${gil.principal.id}`)).body;
      assert.deepEqual([gil.role, email, name], ['member', undefined, 'Ada (ada@example.com)']);
    });

    test('users and invitations are found by a verified address, and a deactivated user stays out', async () => {
      const marta = await createUser(gatehouse, 'member');
      await gatehouse.patch(`/users/${marta.id}`, { email: 'Marta@Partner.test' });
      add('mallory', { email: 'marta@partner.test', email_verified: false, name: 'M.' });
      assert.equal(
        (await new Operator(gatehouse).signIn('mallory')).status,
        403,
        'an address that anybody could claim',
      );
      add('marta', { email: 'marta@partner.test', email_verified: true, name: 'M.' });
      const operator = await signedIn('marta');
      const { principal, role } = (await operator.browser.get('/dashboard/session')).body;
      assert.deepEqual([principal.id, role], [marta.id, 'member'], 'a role by hand stays');
      const invitation = await gatehouse.create('/invitations', {
        name: 'Nils',
        email: 'nils@partner.test',
        role: 'viewer',
      });
      add('nils', { email: 'nils@partner.test', email_verified: true, name: 'Nils Holgersson' });
      const nils = (await (await signedIn('nils')).browser.get('/dashboard/session')).body;
      assert.deepEqual([nils.principal.name, nils.role], ['Nils', 'viewer']);
      assert.equal((await gatehouse.get(`/invitations/${invitation.id}`)).status, 404, 'it works once');
      // The Kelvin sign, which the rules of Unicode make a "k".
      await gatehouse.create('/invitations', { name: 'Mike', email: 'Mike@partner.test', role: 'admin' });
      add('look-alike', { email: 'mi\u212Ae@partner.test', email_verified: true, name: 'Mike' });
      assert.equal((await new Operator(gatehouse).signIn('look-alike')).status, 403);
      add('mike', { email: 'mike@PARTNER.test', email_verified: true, name: 'Mike' });
      assert.equal((await (await signedIn('mike')).browser.get('/dashboard/session')).body.role, 'admin');
      await gatehouse.patch(`/users/${marta.id}`, { role: 'viewer' });
      assert.equal((await operator.browser.get('/dashboard/session')).body.role, 'viewer');
      await gatehouse.patch(`/users/${marta.id}`, { active: false });
      assert.equal((await operator.browser.get('/dashboard/session')).status, 403);
      const again = await new Operator(gatehouse).signIn('marta');
      assert.match(again.body.msg, /your user is deactivated here\. Ask an admin/);
      await gatehouse.patch(`/users/${marta.id}`, { active: true });
      assert.equal((await operator.browser.get('/dashboard/session')).status, 401, 'the session is over for good');
    });

    test('whoever has the name of somebody who is invited gets in with another one', async () => {
      await gatehouse.create('/invitations', { name: 'Nia', role: 'viewer' });
      for (const [name, shown] of [
        ['nia', 'Nia (nia@example.com)'],
        ['dov', 'Dov'],
      ] as const) {
        add(name, person(shown.slice(0, 3)));
        const { body } = await (await signedIn(name)).browser.get('/dashboard/session');
        assert.equal(body.principal.name, shown);
      }
    });

    test('groups give the role at each sign-in and while a session is used, and take it; the change log says who', async () => {
      add('hal', person('Hal', { groups: ['ops', 'platform-admins'] }));
      const operator = await signedIn('hal');
      const session = async () => (await operator.browser.get('/dashboard/session')).body;
      const { principal, role } = await session();
      assert.equal(role, 'admin', 'the highest counts');
      await gatehouse.patch(`/users/${principal.id}`, { role: 'viewer' });
      await until(async () => (await session()).role === 'admin', 'a role by hand is overwritten');
      add('hal', person('Hal', { groups: ['ops'] }));
      await until(async () => (await session()).role === 'member', 'the role follows the groups');
      const [change] = (await gatehouse.get(`/changes?resource_id=${principal.id}`)).body.changes;
      assert.deepEqual([change.actor, change.after.role], ['provider', 'member']);
      add('hal', person('Hal'));
      assert.equal(
        (await (await signedIn('hal')).browser.get('/dashboard/session')).body.role,
        'viewer',
        'by the domain',
      );
      add('hal', { ...person('Hal'), email: 'hal@elsewhere.test' });
      await until(async () => (await operator.browser.get('/dashboard/session')).status === 401, 'nothing lets in');
      assert.match((await new Operator(gatehouse).signIn('hal')).body.msg, /nothing here lets you in/);
    });

    test('a session goes on in another process and after a restart, and ends everywhere when the provider says so', async (t) => {
      add('ivy', person('Ivy', { groups: ['ops'] }));
      const begun = new Operator(gatehouse);
      const { body } = await begun.begin();
      const address = await begun.answerAs('ivy', body.url);
      const { browser } = new Operator(gatehouse);
      {
        await using second = await start();
        const operator = new Operator(second);
        operator.browser.loginCookie = begun.browser.loginCookie;
        assert.equal((await operator.finish(address, begun.secret)).status, 201, 'another process finishes it');
        Object.assign(browser, { cookie: operator.browser.cookie, secret: operator.browser.secret });
      }
      assert.equal((await browser.get('/dashboard/session')).status, 200);
      const third = await start();
      t.after(() => third[Symbol.asyncDispose]());
      const there = new Operator(third).browser;
      Object.assign(there, { cookie: browser.cookie, secret: browser.secret });
      assert.equal((await there.get('/dashboard/session')).status, 200);
      delete provider.people['ivy'];
      await until(async () => (await browser.get('/dashboard/session')).status === 401, 'the provider ends it');
      await until(async () => (await there.get('/dashboard/session')).status === 401, 'it is over everywhere');
      const lines = [...gatehouse.logLines, ...third.logLines];
      assert.ok(lines.some((line) => line.includes('no longer confirms a login')));
    });

    test('processes that use one session do not use a refresh token twice, and a wrong secret of ours ends nothing', async (t) => {
      provider.rotatesRefreshTokens = true;
      t.after(() => {
        provider.rotatesRefreshTokens = false;
      });
      const { browser } = await signedIn('bob');
      const asked = () => provider.asked.get('/token') ?? 0;
      const use = (...browsers: readonly (typeof browser)[]) =>
        Promise.all(
          browsers.map(async (each) => {
            const { status, text } = await each.get('/dashboard/session');
            assert.equal(status, 200, text);
          }),
        );
      {
        await using second = await start();
        const there = new Operator(second).browser;
        Object.assign(there, { cookie: browser.cookie, secret: browser.secret });
        const askedBefore = asked();
        await until(async () => {
          await use(browser, there, browser, there);
          return asked() >= askedBefore + 4;
        }, 'the provider was asked');
      }
      await using wrong = await start({ oidcClientSecret: 'another secret' });
      const there = new Operator(wrong).browser;
      Object.assign(there, { cookie: browser.cookie, secret: browser.secret });
      await until(async () => {
        await use(there);
        return wrong.logLines.some((line) => line.includes('which goes on') && line.includes('refuses this client'));
      }, 'the provider has refused the secret');
      await use(browser, there);
    });

    test('the provider is asked about a session whose last check lies in the future: the clock was set back', async (t) => {
      const slow = await start({ oidcCheckSeconds: '300' });
      t.after(() => slow[Symbol.asyncDispose]());
      add('kai', person('Kai', { groups: ['ops'] }));
      const { browser } = await signedIn('kai', slow);
      const asked = () => provider.asked.get('/token') ?? 0;
      const setChecked = (atMs: number) =>
        slow.app.context.store.writeUnlogged(async (writer) => {
          const hash = hashSecret(browser.secret);
          await writer.run('UPDATE dashboard_sessions SET checked_at_ms = $2 WHERE hash = $1', [hash, atMs]);
          writer.record({ accountId: '', kind: sessionKind, id: hash });
        });
      const uses = async (atMs: number): Promise<number> => {
        const askedBefore = asked();
        await setChecked(atMs);
        assert.equal((await browser.get('/dashboard/session')).status, 200);
        return asked() - askedBefore;
      };
      assert.deepEqual(
        [await uses(Date.now()), await uses(Date.now() + 60_000), await uses(Date.now() + 24 * hourMs)],
        [0, 0, 1],
      );
    });

    test('with the provider down sessions go on, and whoever signs in is told', async () => {
      const operator = await signedIn('bob');
      const waiting = new Operator(gatehouse);
      const { body } = await waiting.begin();
      const address = await waiting.answerAs('bob', body.url);
      await provider.down();
      try {
        const said = 'could not be asked about a session of the dashboard, which goes on';
        await until(async () => {
          assert.equal((await operator.browser.get('/dashboard/session')).status, 200);
          return gatehouse.logLines.some((line) => line.includes(said));
        }, 'the provider was asked');
        assert.equal((await operator.browser.get('/dashboard/session')).status, 200);
        const finished = await waiting.finish(address);
        assert.deepEqual([finished.status, finished.headers.get('retry-after')], [503, '10']);
        assert.match(
          finished.body.msg,
          /^Kestrel ID does not answer.* Everybody who is already signed in can go on working\./,
        );
      } finally {
        await provider.up();
      }
      assert.equal((await operator.browser.get('/dashboard/session')).status, 200);
    });

    test('a provider that is not there when somebody begins is told as such', async (t) => {
      const away = await start({ oidcIssuer: 'http://127.0.0.1:9' });
      t.after(() => away[Symbol.asyncDispose]());
      assert.equal((await new Operator(away).begin()).status, 503);
      const operator = await signedIn('bob');
      const there = new Operator(away).browser;
      Object.assign(there, { cookie: operator.browser.cookie, secret: operator.browser.secret });
      assert.equal((await there.get('/dashboard/session')).status, 401, 'sessions of another provider are over');
    });

    test('restrictions of the dashboard hold before the provider is asked, and when it has answered', async () => {
      const policy = await gatehouse.create('/ip_policies', {});
      await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '198.51.100.0/24', action: 'allow' });
      const inside = { 'x-forwarded-for': '198.51.100.7' };
      const waiting = new Operator(gatehouse);
      const { body } = await waiting.begin();
      const address = await waiting.answerAs('ada', body.url);
      const restriction = await gatehouse.create('/ip_restrictions', {
        type: 'dashboard',
        enforced: true,
        ip_policy_ids: [policy.id],
      });
      try {
        const asked = new Map(provider.asked);
        const begun = await new Operator(gatehouse).begin();
        assert.equal(begun.status, 403);
        assert.match(begun.body.msg, /You cannot sign in to the dashboard from 127\.0\.0\.1/);
        assert.equal((await waiting.finish(address)).status, 403);
        assert.deepEqual(provider.asked, asked);
        const operator = new Operator(gatehouse, inside);
        assert.equal((await operator.signIn('ada')).status, 201);
        assert.equal((await operator.browser.get('/dashboard/session', from('192.0.2.1'))).status, 403);
      } finally {
        await gatehouse.delete(`/ip_restrictions/${restriction.id}`);
      }
    });

    test('signing out ends the session here, and names the page that ends the one at the provider', async () => {
      const operator = await signedIn('bob');
      const { cookie, secret } = operator.browser;
      const { status, body } = await operator.browser.delete('/dashboard/session');
      assert.equal(status, 200);
      assert.match(body.sign_out_url, new RegExp(`^${provider.issuer}/session/end\\?client_id=${clientId}`));
      Object.assign(operator.browser, { cookie, secret });
      assert.equal((await operator.browser.get('/dashboard/session')).status, 401);
    });

    test('only pages of the public address begin a sign-in', async () => {
      const operator = new Operator(gatehouse);
      const elsewhere = await operator.begin('me', { headers: { origin: gatehouse.url } });
      assert.equal(elsewhere.status, 403);
      assert.match(elsewhere.body.msg, /sends you back to https:\/\/gate\.site\.test\/dashboard\/.*Open that address/);
      for (const headers of [{ origin: 'https://evil.test' }, { 'gatehouse-dashboard': undefined }])
        assert.ok((await operator.begin('me', { headers })).status >= 401);
      const { body } = await operator.begin('other');
      assert.equal(new URL(body.url).searchParams.get('prompt'), 'login');
    });

    test('with the token switched off, only the provider lets in; the API takes tokens as before', async (t) => {
      const strict = await start({ dashboardTokenSignIn: 'off' });
      t.after(() => strict[Symbol.asyncDispose]());
      const operator = new Operator(strict);
      assert.equal((await operator.browser.get('/dashboard/sign-in')).body.token, false);
      const refused = await operator.browser.signIn(strict.token);
      assert.equal(refused.status, 403);
      assert.match(refused.body.msg, /Sign in with Kestrel ID\./);
      assert.equal((await strict.get('/users')).status, 200);
      assert.equal((await operator.signIn('ada')).status, 201);
    });

    test('failed sign-ins count as failed authentications', async (t) => {
      const strict = await start({ authFailures: '2', authFailuresSlowed: '0' });
      t.after(() => strict[Symbol.asyncDispose]());
      const operator = new Operator(strict);
      const statuses: number[] = [];
      for (let count = 0; count < 3; count++)
        statuses.push((await operator.finish(`${publicUrl}/?code=x&state=y`)).status);
      assert.deepEqual(statuses, [400, 400, 429]);
    });

    test('the last admin of an account keeps the role, and the log says so', async (t) => {
      const account = await createAccount(gatehouse);
      const other = await start({ oidcRules: `group:chiefs=admin@${account}, group:staff=viewer@${account}` });
      t.after(() => other[Symbol.asyncDispose]());
      add('kim', person('Kim', { groups: ['chiefs'] }));
      const operator = await signedIn('kim', other);
      const session = async () => (await operator.browser.get('/dashboard/session')).body;
      assert.deepEqual([(await session()).role, (await session()).account_id], ['admin', account]);
      // One who is deactivated is none that is left.
      const out = await createUser(gatehouse, 'admin', account);
      const deactivated = await operator.browser.call('PATCH', `/users/${out.id}`, { active: false });
      assert.equal(deactivated.status, 200, deactivated.text);
      add('kim', person('Kim', { groups: ['staff'] }));
      await until(async () => {
        assert.equal((await session()).role, 'admin');
        return other.logLines.some((line) => line.includes('it is the last one of the account: the role stays'));
      }, 'the log says it');
      add('lea', person('Lea', { groups: ['chiefs'] }));
      await signedIn('lea', other);
      await until(async () => (await session()).role === 'viewer', 'with another admin the groups count');
    });

    test('with several accounts a rule names one, and whoever several know chooses one', async (t) => {
      const account = await createAccount(gatehouse);
      const unclear = await start({ oidcRules: 'group:ops=member, group:x=viewer@nowhere' });
      t.after(() => unclear[Symbol.asyncDispose]());
      assert.ok(
        unclear.logLines.some(
          (line) => line.includes('group:ops names no account, and there are several') && line.includes('nowhere'),
        ),
      );
      add('mia', person('Mia', { groups: ['ops'] }));
      assert.equal((await new Operator(unclear).signIn('mia')).status, 403);
      for (const each of ['default', account]) {
        const { id, token } = await createUser(gatehouse, 'admin', each);
        await gatehouse.patch(`/users/${id}`, { name: `Mia of ${each}` }, { token });
        const second = await createUser(gatehouse, 'admin', each);
        assert.equal(
          (await gatehouse.patch(`/users/${id}`, { email: 'mia@example.com' }, { token: second.token })).status,
          200,
        );
      }
      const both = await new Operator(unclear).signIn('mia');
      assert.equal(both.status, 200, both.text);
      const offered = both.body.accounts as readonly { readonly id: string; readonly name: string }[];
      assert.equal(offered.length, 2);
      assert.ok(offered.some(({ name }) => name === 'default') && offered.some(({ id }) => id === account));
      const clear = await start({ oidcRules: `group:ops=viewer@${account}` });
      t.after(() => clear[Symbol.asyncDispose]());
      const mia = (await (await signedIn('mia', clear)).browser.get('/dashboard/session')).body;
      assert.deepEqual([mia.account_id, mia.principal.name, mia.role], [account, `Mia of ${account}`, 'viewer']);
    });

    test('another account that invites an address, or gives it to a user, keeps nobody out and draws nobody in', async (t) => {
      const [a, b] = [await createAccount(gatehouse), await createAccount(gatehouse)];
      const [boss, evil2] = [await createUser(gatehouse, 'admin', a), await createUser(gatehouse, 'admin', b)];
      const [ownAdmin, squatter] = [await createUser(gatehouse, 'admin', a), await createUser(gatehouse, 'member', b)];
      const server = await start({ oidcRules: 'group:nobody=viewer@default' });
      t.after(() => server[Symbol.asyncDispose]());
      const enters = async (name: string, accountId?: string) => {
        const operator = new Operator(server);
        const answer = await operator.signIn(name, accountId);
        return { answer, accounts: answer.body.accounts?.map(({ id }: { readonly id: string }) => id), operator };
      };
      add('boss', { email: 'boss@several.test', email_verified: true, name: 'Boss' });
      add('guest', { email: 'guest@several.test', email_verified: true, name: 'Guest' });
      const give = (id: string, email: string, token: string) => gatehouse.patch(`/users/${id}`, { email }, { token });
      const asInvitation = (email: string, token: string) =>
        gatehouse.create('/invitations', { name: email, email, role: 'viewer' }, { token });
      // A user of the one, an invitation of the other.
      assert.equal((await give(boss.id, 'boss@several.test', ownAdmin.token)).status, 200);
      await asInvitation('boss@several.test', evil2.token);
      const first = await enters('boss');
      assert.deepEqual([first.answer.status, first.accounts], [200, [a, b]], 'users stand before invitations');
      assert.equal((await first.operator.browser.get('/dashboard/session')).status, 401, 'nobody is signed in yet');
      assert.equal(
        (await new Operator(server).signIn('boss', 'ac_none')).status,
        403,
        'an account that is not offered',
      );
      const chosen = await enters('boss', a);
      assert.deepEqual([chosen.answer.status, chosen.answer.body.principal?.id], [201, boss.id]);
      assert.equal((await enters('boss')).answer.body.principal.id, boss.id, 'it is asked once');
      // An invitation of each; then the other gives the address to a user.
      await asInvitation('guest@several.test', ownAdmin.token);
      assert.equal((await give(squatter.id, 'guest@several.test', evil2.token)).status, 200);
      const second = await enters('guest');
      assert.deepEqual(second.accounts, [b, a]);
      const joined = await enters('guest', a);
      assert.deepEqual([joined.answer.status, joined.answer.body.role], [201, 'viewer']);
      assert.equal(joined.answer.body.account_id, a);
    });

    test('a user who is out, or somebody else there, in one account is no obstacle to an invitation of another', async (t) => {
      const [a, b] = [await createAccount(gatehouse), await createAccount(gatehouse)];
      const [ownAdmin, evil2] = [await createUser(gatehouse, 'admin', a), await createUser(gatehouse, 'admin', b)];
      const squatter = await createUser(gatehouse, 'member', b);
      const server = await start({ oidcRules: 'group:nobody=viewer@default' });
      t.after(() => server[Symbol.asyncDispose]());
      await gatehouse.patch(`/users/${squatter.id}`, { email: 'iris@several.test' }, { token: evil2.token });
      await gatehouse.patch(`/users/${squatter.id}`, { active: false }, { token: evil2.token });
      add('iris', { email: 'iris@several.test', email_verified: true, name: 'Iris' });
      const out = await new Operator(server).signIn('iris');
      assert.match(out.body.msg, /your user is deactivated here/, 'the only one that knows the address');
      const body = { name: 'Iris', email: 'iris@several.test', role: 'member' };
      await gatehouse.create('/invitations', body, { token: ownAdmin.token });
      const iris = await new Operator(server).signIn('iris');
      assert.deepEqual([iris.status, iris.body.role, iris.body.principal?.name], [201, 'member', 'Iris']);
    });

    test('an invitation of somebody who is no admin any more lets nobody in', async (t) => {
      const server = await start({ oidcRules: 'group:nobody=viewer@default' });
      t.after(() => server[Symbol.asyncDispose]());
      for (const [name, change] of [
        ['jon', { role: 'member' }],
        ['jan', { active: false }],
      ] as const) {
        const inviter = await createUser(gatehouse, 'admin');
        const email = `${name}@partner.test`;
        await gatehouse.create('/invitations', { name, email, role: 'admin' }, { token: inviter.token });
        add(name, { email, email_verified: true, name });
        assert.equal((await gatehouse.patch(`/users/${inviter.id}`, change)).status, 200);
        assert.match((await new Operator(server).signIn(name)).body.msg, /nothing here lets you in/, name);
        assert.equal((await gatehouse.patch(`/users/${inviter.id}`, { role: 'admin', active: true })).status, 200);
        assert.equal((await new Operator(server).signIn(name)).status, 201, name);
      }
    });

    test('an account that refuses the address is not joined from there: an invitation stays open', async (t) => {
      const account = await createAccount(gatehouse);
      const { token } = await createUser(gatehouse, 'admin', account);
      const create = (path: string, body: object) => gatehouse.create(path, body, { token });
      const { id } = await create('/ip_policies', {});
      await create('/ip_policy_rules', { ip_policy_id: id, cidr: '198.51.100.0/24', action: 'allow' });
      await create('/ip_restrictions', { type: 'dashboard', enforced: true, ip_policy_ids: [id] });
      await create('/invitations', { name: 'Una', email: 'una@several.test', role: 'member' });
      add('una', { email: 'una@several.test', email_verified: true, name: 'Una' });
      const server = await start({ oidcRules: 'group:nobody=viewer@default' });
      t.after(() => server[Symbol.asyncDispose]());
      const open = async () => (await gatehouse.get('/invitations', { token })).body.invitations.length;
      assert.equal((await new Operator(server).signIn('una')).status, 403);
      assert.equal(await open(), 1);
      const inside = await new Operator(server, { 'x-forwarded-for': '198.51.100.7' }).signIn('una');
      assert.deepEqual([inside.status, inside.body.account_id, await open()], [201, account, 0], inside.text);
    });

    test('refresh tokens are stored sealed, and without one a session lasts an hour', async (t) => {
      const sealed = await Gatehouse.start(await newDatabase(), settings({ secretKey: 'x'.repeat(32) }));
      t.after(() => sealed[Symbol.asyncDispose]());
      const rows = () => sealed.app.context.store.queries.all('SELECT refresh_token FROM dashboard_sessions');
      const operator = await signedIn('bob', sealed);
      const [[first] = []] = await rows();
      assert.match(String(first), /^gcm1:/);
      const lasts = ({ body }: Answer) => Date.parse(body.expires_at) - Date.now();
      assert.ok(lasts(await operator.browser.get('/dashboard/session')) > 11 * hourMs);
      provider.givesRefreshTokens = false;
      t.after(() => {
        provider.givesRefreshTokens = true;
      });
      const { browser } = await signedIn('cyd', sealed);
      const left = lasts(await browser.get('/dashboard/session'));
      assert.ok(left > 0 && left <= hourMs, String(left));
    });
  });
});
