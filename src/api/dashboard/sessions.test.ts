import assert from 'node:assert/strict';
import { test } from 'node:test';

import packageJson from '../../../package.json' with { type: 'json' };
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { DashboardBrowser } from '../../../test/support/dashboard-browser.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createBot, createUser } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { hashSecret } from '../../lib/secrets.ts';
import { toTimestamp } from '../../lib/ids.ts';

const hourMs = 3_600_000;
const codeOf = ({ status, body }: { readonly status: number; readonly body: { readonly error_code: string } }) =>
  [status, Number(body.error_code.replace('ERR_GATEHOUSE_', ''))] as const;

onEachGatehouse('a session of the dashboard', (gatehouse) => {
  const signedIn = (token: string) => DashboardBrowser.signedIn(gatehouse(), token);
  /** Sets a column of the session as time would. */
  const setStored = (browser: DashboardBrowser, column: string, value: number) => {
    const hash = hashSecret(browser.secret);
    const sql = `UPDATE dashboard_sessions SET ${column} = $2 WHERE hash = $1`;
    return gatehouse().app.context.store.writeUnlogged(async (notes) => notes.run(sql, [hash, value]));
  };
  const readStored = async (browser: DashboardBrowser, column: string) => {
    const hash = hashSecret(browser.secret);
    const sql = `SELECT ${column} FROM dashboard_sessions WHERE hash = $1`;
    return (await gatehouse().app.context.store.queries.all(sql, [hash]))[0]?.[0];
  };

  test('is begun with a token, says who it is, and acts through the ordinary operations', async () => {
    const key = await gatehouse().create('/api_keys', { description: 'my laptop' });
    const browser = new DashboardBrowser(gatehouse());
    const { status, body } = await browser.signIn(`  ${key.token}\n`);
    assert.equal(status, 201);
    const { secret, ...shown } = body;
    const { expires_at: expiresAt, principal, users, account_id: accountId, ...facts } = shown;
    assert.match(secret, /^[0-9A-Za-z]{43}$/);
    assert.equal(principal.kind, 'user');
    assert.ok(principal.id.startsWith('usr_') && principal.name !== '' && accountId.startsWith('ac_'));
    assert.deepEqual(users, [{ id: principal.id, name: principal.name }]);
    assert.deepEqual(facts, {
      api_key: { id: key.id, description: 'my laptop' },
      role: 'admin',
      read_only: false,
      address: '127.0.0.1',
      idle_seconds: 3600,
      would_be_refused_by: [],
      version: packageJson.version,
    });
    const lastsMs = Date.parse(expiresAt) - Date.now();
    assert.ok(lastsMs > 11 * hourMs && lastsMs <= 12 * hourMs, expiresAt);
    assert.deepEqual((await browser.get('/dashboard/session')).body, shown, 'its secret is shown once');
    const made = await browser.post('/ip_policies', { description: 'by hand' });
    assert.equal(made.status, 201);
    assert.equal((await browser.get(`/ip_policies/${made.body.id}`)).body.description, 'by hand');
    const [change] = (await browser.get('/changes?limit=1')).body.changes;
    assert.equal(change.actor, principal.id);
  });

  test('has a cookie that scripts, other sites and the database cannot read, and no log has it or the token', async () => {
    const { token } = await gatehouse().create('/api_keys');
    const browser = await signedIn(token);
    assert.match(
      browser.setCookie,
      /^gatehouse_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=4\d{4}$/,
    );
    await browser.get('/api_keys');
    const rows = await gatehouse().app.context.store.queries.all('SELECT * FROM dashboard_sessions');
    const stored = JSON.stringify(rows);
    const logged = gatehouse().logLines.join('\n');
    assert.ok(logged.includes('/dashboard/session'), 'the sign-in is logged');
    for (const secret of [browser.cookie?.split('=')[1] ?? '', browser.secret]) {
      assert.ok(stored.includes(hashSecret(secret)) && !stored.includes(secret));
      assert.ok(!logged.includes(secret) && !logged.includes(token));
    }
  });

  test('is told to those who subscribe to it, with who came whence, and is listed nowhere', async () => {
    const { token, id: user } = await createUser(gatehouse(), 'admin', await createAccount(gatehouse()));
    const told = async () => {
      const { store } = gatehouse().app.context;
      const sql = "SELECT after FROM change_log WHERE kind = 'operator_sign_in' AND actor = $1";
      return (await store.queries.all(sql, [user])).map(([after]) => JSON.parse(String(after)));
    };
    const { body: before } = await (await signedIn(token)).get('/changes?limit=1');
    assert.deepEqual(await told(), [], 'nobody is told');
    const sources = [{ type: 'operator_signed_in.v0' }];
    await gatehouse().create('/event_subscriptions', { sources, destination_ids: [] }, { token });
    const browser = await signedIn(token);
    const [{ key_id: keyId, ...entry } = assert.fail()] = await told();
    assert.deepEqual(entry, { id: user, client_ip: '127.0.0.1' });
    assert.match(keyId, /^ak_/);
    const { changes } = (await browser.get('/changes?limit=10')).body;
    assert.equal(changes[0].kind, 'event_subscription');
    assert.equal(changes[1]?.id, before.changes[0]?.id);
    await (await signedIn((await createUser(gatehouse(), 'admin')).token)).get('/changes');
    assert.equal((await told()).length, 1, 'others are others');
  });

  test('leaves the version and the change log alone', async () => {
    const { store } = gatehouse().app.context;
    const { version } = store;
    const browser = await signedIn(gatehouse().token);
    await browser.get('/dashboard/session');
    await browser.delete('/dashboard/session');
    assert.equal(store.version, version);
  });

  test('counts only with the cookie and the secret of the page together', async () => {
    const browser = await signedIn(gatehouse().token);
    const other = new DashboardBrowser(gatehouse());
    const { token } = await createUser(gatehouse(), 'member');
    const another = await signedIn(token);
    for (const path of ['/api_keys', '/dashboard/session', '/traffic/events', '/traffic/history']) {
      const cookieAlone = await browser.get(path, { headers: { 'gatehouse-dashboard': '1' } });
      assert.deepEqual(codeOf(cookieAlone), [401, 20170], 'stolen by a program on another port');
      const secretAlone = await browser.get(path, { headers: { cookie: undefined } });
      assert.deepEqual(codeOf(secretAlone), [401, 20171]);
      for (const [cookie, secret] of [
        [browser.cookie, another.secret],
        [another.cookie, browser.secret],
      ]) {
        const mixed = await other.get(path, { headers: { cookie, 'gatehouse-dashboard': secret } });
        assert.deepEqual(codeOf(mixed), [401, 20172], 'planted by a program on another port');
      }
      const alone = await browser.get(path, { headers: { 'gatehouse-dashboard': undefined } });
      assert.deepEqual(codeOf(alone), [401, 20170]);
      assert.ok(alone.body.msg.includes('Gatehouse-Dashboard'), alone.body.msg);
      assert.deepEqual(codeOf(await browser.get(path, { headers: { 'gatehouse-dashboard': '0' } })), [401, 20170]);
      assert.deepEqual(codeOf(await other.get(path)), [401, 20171]);
      const headers = { cookie: `gatehouse_session=${'a'.repeat(43)}`, 'gatehouse-dashboard': 'b'.repeat(43) };
      assert.deepEqual(codeOf(await other.get(path, { headers })), [401, 20172]);
    }
    const both = await browser.get('/api_keys', { headers: { authorization: `Bearer ${gatehouse().token}` } });
    assert.deepEqual(codeOf(both), [401, 20174]);
    const withBasic = await browser.get('/api_keys', { headers: { authorization: 'Basic dXNlcjpwYXNz' } });
    assert.equal(withBasic.status, 200, 'a proxy in front may ask for a password of its own');
    const answer = await other.get('/api_keys');
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
  });

  test('is not shut out by cookies of its name that another program has set beside its own', async () => {
    const browser = await signedIn(gatehouse().token);
    const planted = `gatehouse_session=${'a'.repeat(43)}`;
    for (const cookie of [`${planted}; ${browser.cookie}`, `${browser.cookie};${planted}`, `a=b;${browser.cookie};=;;`])
      assert.equal((await browser.get('/api_keys', { headers: { cookie } })).status, 200, cookie);
    assert.equal((await browser.get('/api_keys', { headers: { cookie: planted } })).status, 401);
  });

  test('is ended by nobody who has one of its secrets only', async () => {
    const browser = await signedIn(gatehouse().token);
    const both = { cookie: browser.cookie, 'gatehouse-dashboard': browser.secret };
    for (const one of [{ cookie: undefined }, { 'gatehouse-dashboard': '1' }]) {
      const headers = { ...both, ...one };
      await browser.delete('/dashboard/session', { headers });
      assert.equal((await browser.delete('/dashboard/sessions', { headers })).status, 401);
      await new DashboardBrowser(gatehouse()).signIn(gatehouse().token, { headers });
    }
    assert.equal((await browser.get('/api_keys', { headers: both })).status, 200);
  });

  test('is not open to pages of other sites, which cannot sign in or out either', async () => {
    const { token } = gatehouse();
    const browser = await signedIn(token);
    const count = async () => (await browser.get('/ip_policies')).body.ip_policies.length;
    const before = await count();
    const foreign: readonly Readonly<Record<string, string | undefined>>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `${new URL(gatehouse().url).origin}.evil.example` },
      { origin: undefined, 'sec-fetch-site': 'cross-site' },
      { origin: undefined, 'sec-fetch-site': 'same-site' },
    ];
    for (const headers of foreign) {
      assert.deepEqual(codeOf(await browser.post('/ip_policies', {}, { headers })), [403, 20173]);
      assert.deepEqual(codeOf(await browser.get('/api_keys', { headers })), [403, 20173]);
      assert.deepEqual(codeOf(await browser.signIn(token, { headers })), [403, 20173]);
      assert.deepEqual(codeOf(await browser.delete('/dashboard/session', { headers })), [403, 20173]);
      assert.deepEqual(codeOf(await browser.delete('/dashboard/sessions', { headers })), [403, 20173]);
    }
    const withoutHeader = { headers: { 'gatehouse-dashboard': undefined } };
    assert.deepEqual(codeOf(await browser.signIn(token, withoutHeader)), [401, 20170]);
    assert.deepEqual(codeOf(await browser.delete('/dashboard/session', withoutHeader)), [401, 20170]);
    assert.equal(await count(), before);
    const headers = { origin: undefined, 'sec-fetch-site': 'same-origin' };
    assert.equal((await browser.get('/api_keys', { headers })).status, 200);
  });

  test('ends where it is signed out, or everywhere', async () => {
    const { token } = await createUser(gatehouse(), 'member');
    const [here, there, another] = [await signedIn(token), await signedIn(token), await signedIn(gatehouse().token)];
    const cookie = here.cookie ?? '';
    assert.equal((await here.delete('/dashboard/session')).status, 204);
    assert.match(here.setCookie, /^gatehouse_session=; .*Max-Age=0/);
    assert.deepEqual(codeOf(await here.get('/api_keys', { headers: { cookie } })), [401, 20172]);
    assert.equal((await there.get('/api_keys')).status, 200);
    assert.equal((await here.delete('/dashboard/session')).status, 204, 'twice is no fault');
    const third = await signedIn(token);
    assert.equal((await third.delete('/dashboard/sessions')).status, 204);
    assert.deepEqual(codeOf(await there.get('/api_keys')), [401, 20172]);
    assert.deepEqual(codeOf(await third.delete('/dashboard/sessions')), [401, 20171]);
    assert.equal((await another.get('/api_keys')).status, 200, 'that of another user goes on');
  });

  test('is replaced by the next sign-in of the same browser', async () => {
    const browser = await signedIn(gatehouse().token);
    const { cookie, secret } = browser;
    await browser.signIn(gatehouse().token);
    assert.ok(browser.cookie !== cookie && browser.secret !== secret);
    const headers = { cookie, 'gatehouse-dashboard': secret };
    assert.deepEqual(codeOf(await browser.get('/api_keys', { headers })), [401, 20172]);
  });

  test('ends with its key: deleted, rotated, expired', async (t) => {
    const make = async () => {
      const key = await gatehouse().create('/api_keys');
      return { id: String(key.id), browser: await signedIn(key.token) };
    };
    const [deleted, rotated, overlapping, expired] = [await make(), await make(), await make(), await make()];
    for (const { browser } of [deleted, rotated, overlapping, expired])
      assert.equal((await browser.get('/api_keys')).status, 200);
    await gatehouse().delete(`/api_keys/${deleted.id}`);
    assert.deepEqual(codeOf(await deleted.browser.get('/api_keys')), [401, 20172]);
    await gatehouse().post(`/api_keys/${rotated.id}/rotate`);
    assert.deepEqual(codeOf(await rotated.browser.get('/api_keys')), [401, 20172]);
    await gatehouse().post(`/api_keys/${overlapping.id}/rotate`, { overlap_seconds: 600 });
    assert.equal((await overlapping.browser.get('/api_keys')).status, 200, 'its token is valid for the overlap');
    await gatehouse().post(`/api_keys/${overlapping.id}/rotate`);
    assert.deepEqual(codeOf(await overlapping.browser.get('/api_keys')), [401, 20172]);
    const soon = toTimestamp(Date.now() + 60_000);
    await gatehouse().patch(`/api_keys/${expired.id}`, { expires_at: soon });
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse(soon) });
    assert.deepEqual(codeOf(await expired.browser.get('/api_keys')), [401, 20069]);
    await gatehouse().patch(`/api_keys/${expired.id}`, { expires_at: '' });
    assert.deepEqual(codeOf(await expired.browser.get('/api_keys')), [401, 20172], 'it stays over');
  });

  test('ends with its owner: deactivated, deleted', async () => {
    const [inactive, gone] = [await createBot(gatehouse()), await createBot(gatehouse())];
    const browsers = [await signedIn(inactive.token), await signedIn(gone.token)] as const;
    const unused = await signedIn(inactive.token);
    assert.equal((await unused.get('/api_keys')).status, 200);
    const { body } = await browsers[0].get('/dashboard/session');
    assert.deepEqual([body.principal.kind, body.role], ['bot', 'member']);
    await gatehouse().patch(`/bot_users/${inactive.id}`, { active: false });
    assert.deepEqual(codeOf(await browsers[0].get('/api_keys')), [403, 636]);
    await gatehouse().patch(`/bot_users/${inactive.id}`, { active: true });
    assert.deepEqual(codeOf(await browsers[0].get('/api_keys')), [401, 20172], 'it stays over');
    assert.deepEqual(codeOf(await unused.get('/api_keys')), [401, 20172], 'also one that nobody has used meanwhile');
    await gatehouse().delete(`/bot_users/${gone.id}`);
    assert.deepEqual(codeOf(await browsers[1].get('/api_keys')), [401, 20172]);
  });

  test('ends twelve hours after the sign-in, and an hour after its last use', async () => {
    const [old, idle, used] = [
      await signedIn(gatehouse().token),
      await signedIn(gatehouse().token),
      await signedIn(gatehouse().token),
    ];
    await setStored(old, 'expires_at_ms', Date.now() - 1);
    assert.deepEqual(codeOf(await old.get('/api_keys')), [401, 20172]);
    await setStored(idle, 'seen_at_ms', Date.now() - hourMs);
    assert.deepEqual(codeOf(await idle.get('/api_keys')), [401, 20172]);
    const nearlyMs = Date.now() - hourMs + 60_000;
    await setStored(used, 'seen_at_ms', nearlyMs);
    assert.equal((await used.get('/api_keys')).status, 200);
    await until(async () => Number(await readStored(used, 'seen_at_ms')) > nearlyMs, 'its use is written');
    const writtenMs = Number(await readStored(used, 'seen_at_ms'));
    for (let count = 0; count < 20; count++) await used.get('/dashboard/session');
    assert.equal(Number(await readStored(used, 'seen_at_ms')), writtenMs, 'and not again within a minute');
  });

  test('that was used in the future, before the clock was set back, is over when it is as far away as an idle one', async () => {
    const [near, far] = [await signedIn(gatehouse().token), await signedIn(gatehouse().token)];
    await setStored(near, 'seen_at_ms', Date.now() + hourMs - 60_000);
    assert.equal((await near.get('/api_keys')).status, 200);
    await setStored(far, 'seen_at_ms', Date.now() + hourMs + 60_000);
    assert.deepEqual(codeOf(await far.get('/api_keys')), [401, 20172]);
  });

  test('that has ended long ago is deleted by a later sign-in', async () => {
    const browser = await signedIn(gatehouse().token);
    await setStored(browser, 'expires_at_ms', 1);
    await signedIn(gatehouse().token);
    assert.equal(await readStored(browser, 'hash'), undefined);
  });

  test('may do what its key may, and no more', async () => {
    const policy = await gatehouse().create('/ip_policies');
    await gatehouse().create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
    const elsewhere = await gatehouse().create('/api_keys', { ip_policy_ids: [policy.id] });
    assert.deepEqual(codeOf(await new DashboardBrowser(gatehouse()).signIn(elsewhere.token)), [403, 20071]);
    const { token } = await gatehouse().create('/api_keys', { read_only: true });
    const reader = await signedIn(token);
    assert.equal((await reader.get('/dashboard/session')).body.read_only, true);
    assert.equal((await reader.get('/ip_policies')).status, 200);
    assert.deepEqual(codeOf(await reader.post('/ip_policies', {})), [403, 20070]);
    assert.equal((await reader.delete('/dashboard/session')).status, 204);
    const member = await signedIn((await createUser(gatehouse(), 'member')).token);
    assert.deepEqual(codeOf(await member.post('/bot_users', { name: 'x' })), [403, 4111]);
  });

  test('is not begun by a wrong token or a body of another form, and the answer repeats nothing', async () => {
    const browser = new DashboardBrowser(gatehouse());
    const { id } = await gatehouse().create('/api_keys');
    const wrong = `${'0'.repeat(27)}_${'a'.repeat(43)}`;
    for (const [body, status, code] of [
      [{ token: wrong }, 401, 203],
      [{ token: 'short' }, 401, 202],
      [{ token: id }, 401, 208],
      [{ token: 7 }, 400, 215],
      [{ token: wrong, more: wrong }, 400, 214],
      [{}, 400, 20012],
      [[wrong], 400, 213],
      ['', 400, 213],
    ] as const) {
      const answer = await browser.call('POST', '/dashboard/session', body);
      assert.deepEqual(codeOf(answer), [status, code], JSON.stringify(body));
      assert.ok(!answer.text.includes('a'.repeat(43)), answer.text);
      assert.equal(browser.cookie, undefined);
    }
    const large = await browser.call('POST', '/dashboard/session', { token: 'x'.repeat(5_000) });
    assert.deepEqual(codeOf(large), [413, 20003]);
    const form = await browser.signIn(wrong, { headers: { 'content-type': 'text/plain' } });
    assert.deepEqual(codeOf(form), [415, 210]);
    assert.deepEqual(codeOf(await browser.call('PUT', '/dashboard/session', {})), [405, 20002]);
    // It stands in the folder of the dashboard's files, which can be got.
    assert.deepEqual(codeOf(await browser.call('GET', '/dashboard/sessions')), [405, 20002]);
  });
});

onEachDatabase('sessions of the dashboard', (newDatabase) => {
  test('over TLS, have a cookie that only this host over TLS can have set', async () => {
    const settings = { publicUrl: 'https://gate.example.com', trustedProxies: '127.0.0.1' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const origin = 'https://gate.example.com';
    const browser = await DashboardBrowser.signedIn(gatehouse, gatehouse.token, { origin });
    assert.match(
      browser.setCookie,
      /^__Host-gatehouse_session=\w{43}; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
    );
    assert.equal((await browser.get('/api_keys')).status, 200);
    const plain = { cookie: browser.cookie?.replace('__Host-', '') };
    assert.deepEqual(codeOf(await browser.get('/api_keys', { headers: plain })), [401, 20171]);
    for (const foreign of ['http://gate.example.com', 'https://example.com'])
      assert.deepEqual(codeOf(await browser.get('/api_keys', { headers: { origin: foreign } })), [403, 20173], foreign);

    // The server's own address serves too, as on the other side of an SSH tunnel.
    const direct = await DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    assert.match(direct.setCookie, /^gatehouse_session=/);
    assert.equal((await direct.get('/api_keys', { headers: { origin: undefined } })).status, 200);

    // A proxy that passes the Host header on, and one that says nothing of TLS.
    const host = new URL(gatehouse.url).host;
    const forwarded = { 'x-forwarded-proto': 'https', origin: `https://${host}` };
    const secure = await DashboardBrowser.signedIn(gatehouse, gatehouse.token, forwarded);
    assert.match(secure.setCookie, /^__Host-/);
    const silent = await DashboardBrowser.signedIn(gatehouse, gatehouse.token, { origin: `https://${host}` });
    assert.match(silent.setCookie, /^__Host-/);
  });

  test('of one user are bounded: a further one ends the one that was not used longest', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { dashboardSessions: '2' });
    const signedIn = () => DashboardBrowser.signedIn(gatehouse, gatehouse.token);
    const [first, second] = [await signedIn(), await signedIn()];
    const { store } = gatehouse.app.context;
    const sql = 'UPDATE dashboard_sessions SET seen_at_ms = seen_at_ms + 1000 WHERE hash = $1';
    await store.writeUnlogged(async (notes) => notes.run(sql, [hashSecret(first.secret)]));
    const third = await signedIn();
    assert.equal((await first.get('/api_keys')).status, 200);
    assert.deepEqual(codeOf(await second.get('/api_keys')), [401, 20172]);
    assert.equal((await third.get('/api_keys')).status, 200);
  });

  test('are begun by valid tokens however often others fail, which are slowed down and refused', async () => {
    const settings = { authFailures: '2', authFailuresSlowed: '0', trustedProxies: '127.0.0.1' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const browser = new DashboardBrowser(gatehouse);
    const wrong = `${'0'.repeat(27)}_${'a'.repeat(43)}`;
    const statuses: number[] = [];
    for (let count = 0; count < 4; count++) statuses.push((await browser.signIn(wrong)).status);
    assert.deepEqual(statuses, [401, 401, 429, 429]);
    const bearer = await gatehouse.get('/api_keys', { token: wrong });
    assert.equal(bearer.status, 429, 'they count together with failed calls');
    assert.equal((await browser.signIn(gatehouse.token)).status, 201);
    assert.equal((await browser.get('/api_keys')).status, 200);
  });

  test('are known to every process, and end in all of them', async () => {
    const url = await newDatabase();
    await using one = await Gatehouse.start(url);
    await using other = await Gatehouse.start(url, { role: 'api' });
    const browser = await DashboardBrowser.signedIn(one, one.token);
    const elsewhere = new DashboardBrowser(other);
    elsewhere.cookie = browser.cookie;
    elsewhere.secret = browser.secret;
    assert.equal((await elsewhere.get('/api_keys')).status, 200);
    await browser.delete('/dashboard/session');
    await until(async () => (await elsewhere.get('/api_keys')).status === 401, 'the other process has forgotten it');
  });
});
