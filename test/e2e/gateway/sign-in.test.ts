import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';

import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';

import { VisitorKeys } from '../../../src/gateway/sign-in/visitor-keys.ts';
import { clientId, IdentityProvider } from '../../support/identity-provider.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { follow, neighbourHost, SignInSite, start } from './support/sign-in-site.ts';
import { siteHost } from './support/site.ts';
import { until } from './support/until.ts';

/** Visitors sign in with a real OpenID provider: set over the API, obeyed by traffic when the call returns. */
suite('sign-in at a route', () => {
  let at: SignInSite;
  before(async () => {
    at = await SignInSite.start();
  });
  after(() => at[Symbol.asyncDispose]());

  test('a visitor signs in, comes back to the page that was wanted, and the upstream knows who it is', async () => {
    const shown = await at.put();
    assert.equal(shown.client_secret, undefined);
    assert.deepEqual(shown.scopes, ['openid', 'profile', 'email']);
    const one = at.visitor();
    const seen = await one.signIn(`${start}orders?x=1`, 'ada');
    assert.equal(seen.status, 200, seen.text);
    assert.equal(seen.url, `${start}orders?x=1`);
    const { headers } = seen.echo!;
    assert.equal(headers['gatehouse-user-id'], 'ada');
    assert.equal(headers['gatehouse-user-email'], 'ada@example.com');
    assert.equal(headers['gatehouse-user-email-verified'], 'true');
    assert.equal(decodeURIComponent(headers['gatehouse-user-name'] ?? ''), 'Ada Zażółć');
    assert.equal(headers['gatehouse-user-groups'], 'ops,a%2C%20b');
    assert.doesNotMatch(headers['cookie'] ?? '', /gatehouse_visitor/, 'the upstream does not get the session');
    const line = [...one.setCookies].find(([name]) => /^__Host-gatehouse_visitor_[0-9a-f]{12}$/.test(name))?.[1] ?? '';
    assert.match(line, /; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
    assert.ok(line.length < 4096);
    // PKCE, state and nonce go along.
    const asked = new URL(one.way.find((each) => each.includes('/auth?')) ?? '').searchParams;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.ok((asked.get('state')?.length ?? 0) > 30 && (asked.get('nonce')?.length ?? 0) > 30);
    const askedBefore = new Map(at.provider.asked);
    for (let round = 0; round < 5; round++) assert.equal((await one.open(start)).status, 200);
    assert.deepEqual(at.provider.asked, askedBefore, 'no call to the provider for a session');
    await at.sessionsAre(1);
    const [session] = await at.sessions();
    assert.equal(session.email, 'ada@example.com');
    assert.equal(session.edge.id, at.site.edgeId);
    assert.equal(session.route.id, at.site.routeId);
    assert.deepEqual(session.identity_provider, { name: 'oidc', url: at.provider.issuer });
    const { body: user } = await at.site.gatehouse.get(new URL(session.application_user.uri).pathname);
    assert.equal(user.provider_user_id, 'ada');
    assert.equal(user.email, 'ada@example.com');
    await at.endAll();
  });

  test('the secret is nowhere to be read, stays when it is left out, and goes to no other provider', async () => {
    const { gatehouse, routePath } = at.site;
    await at.put();
    const { client_secret: _secret, ...rest } = at.settings();
    assert.equal((await gatehouse.put(`${routePath}/oidc`, { ...rest, inactivity_timeout: 60 })).status, 200);
    assert.equal((await (await at.signedIn()).open(start)).status, 200);
    for (const other of [{ issuer: 'https://evil.example' }, { client_id: 'other' }]) {
      const refused = await gatehouse.put(`${routePath}/oidc`, { ...rest, ...other });
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
      assert.match(refused.body.msg, /client secret/);
    }
    const told = [
      (await gatehouse.get('/changes')).body,
      (await gatehouse.get('/configuration')).body,
      (await gatehouse.get(routePath)).body,
      (await gatehouse.get(`${routePath}/oidc`)).body,
      gatehouse.logLines,
    ].map((each) => JSON.stringify(each));
    for (const text of told) assert.doesNotMatch(text, /a secret of the client|digest|sealed/);
    // A revert brings it back with its secret.
    assert.equal((await gatehouse.delete(`${routePath}/oidc`)).status, 204);
    const [{ id }] = (await gatehouse.get('/changes?limit=1')).body.changes;
    const reverted = await gatehouse.post(`/changes/${id}/revert`);
    assert.equal(reverted.status, 200, reverted.text);
    assert.equal((await (await at.signedIn()).open(start)).status, 200);
    await at.endAll();
  });

  test('programs get 401 with the address of the login, and preflights pass where they may', async () => {
    await at.put();
    const arrived = at.site.upstream.requests;
    for (const headers of [
      { accept: 'application/json' },
      { accept: 'text/html', 'sec-fetch-mode': 'cors' },
      { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch' },
      {},
    ] as const) {
      const asked = await at.site.askHttps({ path: '/data?a=b', headers });
      assert.equal(asked.status, 401);
      const url = `https://${siteHost}/.gatehouse/sign-in?to=%2Fdata%3Fa%3Db`;
      assert.equal(asked.headers['gatehouse-sign-in'], url);
      assert.equal(asked.headers['www-authenticate'], `Gatehouse-Sign-In url="${url}"`);
    }
    const posted = await at.visitor().ask(start, { method: 'POST' });
    assert.equal(posted.status, 401);
    assert.match(posted.text, /was not passed on/);
    assert.equal((await at.site.askHttps({ method: 'OPTIONS' })).status, 401);
    assert.equal(at.site.upstream.requests, arrived);
    await at.put({ options_passthrough: true });
    assert.equal((await at.site.askHttps({ method: 'OPTIONS' })).status, 200);
    assert.equal((await at.site.askHttps({ method: 'GET' })).status, 401);
  });

  test('who may enter: addresses that are verified, domains, groups and claims', async () => {
    const enters = async (rules: object, name: string) => {
      await at.put(rules);
      const { status, text } = await at.visitor().signIn(start, name);
      if (status !== 200) assert.match(text, /may not enter|could not be signed in/);
      return status;
    };
    assert.equal(await enters({ email_domains: ['@Example.com'] }, 'ada'), 200);
    assert.equal(await enters({ email_domains: ['example.com'], scopes: ['email'] }, 'ada'), 200, 'openid goes along');
    assert.equal(await enters({ email_domains: ['example.com'] }, 'bob'), 403);
    assert.equal(await enters({ email_domains: ['example.com'] }, 'eve'), 403, 'not verified');
    assert.equal(await enters({ email_domains: ['example.com'], unverified_email: true }, 'eve'), 200);
    assert.equal(await enters({ email_addresses: ['Bob@Partner.example'] }, 'bob'), 200);
    assert.equal(await enters({ email_addresses: ['bob@partner.example'] }, 'ada'), 403);
    assert.equal(await enters({ groups: ['ops'] }, 'ada'), 200);
    assert.equal(await enters({ groups: ['ops'] }, 'eve'), 403);
    assert.equal(
      await enters({ groups: ['ops'], email_domains: ['partner.example'] }, 'bob'),
      200,
      'one match is enough',
    );
    assert.equal(await enters({ claims: { department: ['sales'] } }, 'ada'), 200);
    assert.equal(await enters({ claims: { department: ['sales'] }, email_domains: ['partner.example'] }, 'bob'), 403);
    assert.equal(await enters({}, 'nobody'), 403);
    await at.put({ groups: ['ops'] });
    const refused = await at.visitor().signIn(start, 'eve');
    assert.match(refused.text, /eve@example\.com/);
    assert.match(refused.text, /carriers/, 'the page names the own groups');
    assert.doesNotMatch(refused.text, /ops/, 'and never those that may enter');
    await at.endAll();
  });

  test('of two routes with one provider the rules are those of the page that is wanted', async () => {
    await at.put({ groups: ['ops'] });
    const partners = await at.site.gatehouse.create(`/edges/https/${at.site.edgeId}/routes`, {
      match_type: 'path_prefix',
      match: '/partners',
      backend: { backend_id: at.site.backendId },
      oidc: at.settings({ email_domains: ['partner.example'] }),
    });
    for (const [path, name, status] of [
      ['', 'ada', 200],
      ['', 'bob', 403],
      ['partners', 'ada', 403],
      ['partners', 'bob', 200],
    ] as const)
      assert.equal((await at.visitor().signIn(`${start}${path}`, name)).status, status, `${path} ${name}`);
    const path = `/edges/https/${at.site.edgeId}/routes/${partners.id}`;
    assert.equal((await at.site.gatehouse.delete(path)).status, 204);
    await at.endAll();
  });

  test('logins that do not come back, and whom the rules refuse, are told for the edge', async () => {
    await using fresh = await SignInSite.start();
    await fresh.put({ groups: ['ops'] });
    const health = async () => {
      const { body } = await fresh.site.gatehouse.get('/traffic/health');
      return body.health.find(({ id }: { id: string }) => id === fresh.site.edgeId);
    };
    for (let each = 0; each < 3; each++) {
      const { status, headers } = await fresh.visitor().ask(start, { headers: { accept: 'text/html' } });
      assert.deepEqual([status, headers.location?.startsWith(fresh.provider.issuer)], [302, true]);
    }
    await until(async () => (await health())?.logins?.begun === 3, 'they are counted');
    const lost = await health();
    assert.deepEqual(
      [lost.state, lost.requests, lost.turned_away, lost.logins],
      ['no_login_returns', 0, 0, { begun: 3, back: 0 }],
    );
    assert.equal((await fresh.visitor().signIn(start, 'eve')).status, 403);
    await until(async () => (await health()).turned_away === 1, 'she is counted');
    const refused = await health();
    assert.deepEqual([refused.state, refused.logins], ['no_requests', { begun: 4, back: 1 }]);
    assert.deepEqual(refused.turned_away_by, [{ cause: 'login', count: 1 }]);
    const { at: _at, client_ip: ip, ...refusal } = refused.last_refusal;
    assert.deepEqual([refusal.cause, ip], ['login', '127.0.0.1']);
    assert.match(refusal.message, /^"eve@example\.com" has signed in, but is not among those who may enter\./);
    assert.equal((await fresh.visitor().signIn(start, 'ada')).status, 200);
    await until(async () => (await health()).requests === 1, 'she gets in');
    assert.equal((await health()).state, 'answers');
  });

  test('rules that change hold from the next request on, also for a claim that nobody had asked for', async () => {
    await at.put();
    const one = await at.signedIn();
    await at.put({ email_addresses: ['bob@partner.example'] });
    const refused = await one.open(start);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /Sign out/);
    await at.put({ claims: { department: ['sales'] } });
    assert.equal((await one.open(start)).status, 200, 'the provider tells it without asking for a name');
    await at.put({ claims: { department: ['other'] } });
    assert.equal((await one.open(start)).status, 403);
    await at.endAll();
  });

  test('headers by which the upstream knows a visitor cannot be sent by one, in no spelling, at no route', async () => {
    const spellings = [
      'Gatehouse-User-Email',
      'gatehouse_user_email',
      'GATEHOUSE.USER.EMAIL',
      'Gatehouse-User_Email',
      'gatehouse-user-anything',
      'Gatehouse-User-Token',
    ];
    const forged = Object.fromEntries(spellings.map((name) => [name, 'root@example.com']));
    await at.put();
    const one = await at.signedIn();
    const known = await one.open(start, { ...forged, connection: 'close, gatehouse-user-email' });
    const told = Object.entries(known.echo!.headers).filter(([name]) => /gatehouse.user/i.test(name));
    assert.deepEqual(
      told.filter(([, value]) => value?.includes('root')),
      [],
    );
    assert.equal(known.echo!.headers['gatehouse-user-email'], 'ada@example.com');
    // Nor can the cookie by which one is let in be taken out on the way.
    const hiding = await one.open(start, { connection: 'close, cookie' });
    assert.deepEqual([hiding.status, /hides .{0,5}cookie/.test(hiding.text)], [400, true], hiding.text);
    // A rule of the route does not put another one beside it.
    await at.site.gatehouse.put(`${at.site.routePath}/request_headers`, {
      add: { gatehouse_user_email: 'x@example.com' },
    });
    const ruled = (await one.open(start)).echo!.headers;
    assert.equal(ruled['gatehouse-user-email'], 'ada@example.com');
    assert.equal(ruled['gatehouse_user_email'], undefined);
    await at.site.gatehouse.delete(`${at.site.routePath}/request_headers`);
    await at.site.gatehouse.delete(`${at.site.routePath}/oidc`);
    const open = await at.site.askHttps({ headers: forged });
    assert.doesNotMatch(JSON.stringify(open.echo), /root@/);
    await at.endAll();
  });

  test('cookies of another edge, of another account or by another hand open nothing', async () => {
    const { gatehouse } = at.site;
    await at.put();
    const one = await at.signedIn();
    const value = one.cookie(siteHost, 'visitor')!;
    const name = [...(one.cookies.get(siteHost) ?? [])].find(([each]) => each.includes('visitor'))![0];
    const stranger = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
    const as = { token: stranger.token };
    const make = async (options: object, host: string) => {
      const backend = (
        await gatehouse.post('/backends/static', { address: `127.0.0.1:${at.site.upstream.port}` }, options)
      ).body;
      const edge = (await gatehouse.post('/edges/https', { hostports: [`${host}:443`] }, options)).body;
      const routes = `/edges/https/${edge.id}/routes`;
      const body = { match: '/', match_type: 'path_prefix', backend: { backend_id: backend.id }, oidc: at.settings() };
      const route = await gatehouse.post(routes, body, options);
      assert.equal(route.status, 201, route.text);
      return edge.id as string;
    };
    await make({}, neighbourHost);
    await make(as, 'stranger.site.test');
    for (const host of [neighbourHost, 'stranger.site.test']) {
      const asked = await at.site.askHttps({ headers: { cookie: `${name}=${value}` } }, host);
      assert.equal(asked.status, 401, host);
    }
    const parts = value.split('.');
    const turned = (place: number) =>
      value.slice(0, place) + (value[place] === 'A' ? 'B' : 'A') + value.slice(place + 1);
    for (const other of [
      turned(10),
      turned(40),
      turned(value.length - 3),
      `2.${parts[1]}`,
      `${value}=`,
      parts[1] ?? '',
      '1.',
      '',
      '1.AAAA',
    ])
      assert.equal((await at.site.askHttps({ headers: { cookie: `${name}=${other}` } })).status, 401, other);
    assert.equal((await at.site.askHttps({ headers: { cookie: `${name}=${value}` } })).status, 200);
    // Sealed by keys that this installation does not have.
    const keys = new VisitorKeys();
    const secret = Buffer.alloc(32, 1).toString('base64');
    keys.prepare(
      { version: 1, full: true, removed: [], set: [{ kind: 'visitor_key', id: '1', secret, privateJwk: '{}' }] },
      () => {},
    )();
    const made = keys.seal('{}', 'visitor session');
    assert.equal((await at.site.askHttps({ headers: { cookie: `${name}=${made}` } })).status, 401);
    // Another account sees and ends none of the sessions.
    await at.sessionsAre(1);
    const [{ id }] = await at.sessions();
    assert.deepEqual((await gatehouse.get('/app/sessions', as)).body.application_sessions, []);
    assert.equal((await gatehouse.delete(`/app/sessions/${id}`, as)).status, 404);
    await at.endAll();
  });

  test('a login is finished once, by the browser that began it, at the provider where it began', async (t) => {
    await at.put();
    const one = at.visitor();
    const form = await one.open(start);
    // Stops before the callback.
    const done = await one.sendForm(form, 'ada');
    const callback = await follow(one, done);
    assert.match(callback, /\/\.gatehouse\/sign-in\/callback\?code=/);
    // Somebody else is sent to it: that would sign the victim in as the attacker.
    const victim = at.visitor();
    const stolen = await victim.ask(callback);
    assert.equal(stolen.status, 400);
    assert.match(stolen.text, /began in another browser/);
    assert.equal(victim.cookie(siteHost, 'visitor'), undefined);
    // A state that was changed.
    const other = new URL(callback);
    other.searchParams.set('state', 'x'.repeat(43));
    assert.equal((await one.ask(other.href)).status, 400);
    // The issuer of the answer is not the one that was asked (RFC 9207).
    const mixed = new URL(callback);
    mixed.searchParams.set('iss', 'https://evil.example');
    const copy = at.visitor();
    copy.cookies.set(siteHost, new Map(one.cookies.get(siteHost)));
    assert.equal((await copy.ask(mixed.href)).status, 403);
    const first = await one.ask(callback);
    assert.equal(first.status, 302, first.text);
    assert.equal(first.headers.location, '/');
    // The same code once more, by the same browser and by one that has all its cookies of before.
    assert.equal((await one.ask(callback)).status, 400);
    const replayed = at.visitor();
    replayed.cookies.set(siteHost, new Map(copy.cookies.get(siteHost)));
    const again = await replayed.ask(callback);
    assert.ok(again.status === 400 || again.status === 403, String(again.status));
    assert.equal(replayed.cookie(siteHost, 'visitor_'), replayed.cookie(siteHost, 'visitor_login'));
    // Another provider, with a client of the same name: its codes are no good for a login that began here.
    const evil = await IdentityProvider.start({ ada: { email: 'ada@example.com', email_verified: true } }, [siteHost]);
    t.after(() => evil[Symbol.asyncDispose]());
    const begun = at.visitor();
    const here = await begun.open(start);
    const state = new URL(begun.way.find((each) => each.includes('/auth?'))!).searchParams.get('state')!;
    assert.ok(here.url.includes('/interaction/'));
    const wrong = await begun.ask(
      `${start}.gatehouse/sign-in/callback?code=abc&state=${state}&iss=${encodeURIComponent(evil.issuer)}`,
    );
    assert.equal(wrong.status, 403);
    assert.equal(evil.asked.size, 0, 'the code is not sent there');
    await at.endAll();
  });

  test('a page with an address that is too long for a cookie is left for the first one', async () => {
    await at.put();
    const addressOf = (length: number) => `${start}${'x'.repeat(length)}`;
    const one = at.visitor();
    assert.equal(new URL((await one.signIn(addressOf(1_400), 'ada')).url).pathname.length, 1_401);
    const two = at.visitor();
    assert.equal((await two.signIn(addressOf(4_000), 'ada')).url, start);
    for (const line of two.setCookies.values()) assert.ok(line.length < 4_096, `${line.length} characters`);
    await at.endAll();
  });

  test('redirects lead nowhere else', async () => {
    await at.put();
    const one = await at.signedIn();
    for (const to of [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'javascript:alert(1)',
      '/%0d%0aSet-Cookie:x',
      '/.gatehouse/sign-in?to=//evil.example',
      '/\tevil',
      ' //evil.example',
    ]) {
      const asked = await one.ask(`${start}.gatehouse/sign-in?to=${encodeURIComponent(to)}`);
      const location = new URL(asked.headers.location ?? '/', start);
      assert.ok([siteHost, '127.0.0.1'].includes(location.hostname), `${to} leads to ${location.href}`);
      const seen = await one.open(`${start}.gatehouse/sign-in?to=${encodeURIComponent(to)}`);
      assert.equal(new URL(seen.url).hostname, siteHost, to);
      assert.equal(seen.headers['set-cookie']?.some((line) => line.startsWith('x')) ?? false, false);
    }
    await at.endAll();
  });

  test('paths of the gateway never reach the upstream, in no spelling', async () => {
    await at.put();
    const arrived = at.site.upstream.requests;
    for (const path of [
      '/.gatehouse/',
      '/.gatehouse/x',
      '/%2egatehouse/x',
      '/.gatehouse//sign-in',
      '/.gatehous%65/x',
      '/a/..;/.gatehouse/x',
      '/.gatehouse;x/sign-in',
      '/.gatehouse;x=1/y',
      '/.gatehouse/%2573ign-in',
    ]) {
      const { status } = await at.site.askHttps({ path });
      assert.ok(status === 404 || status === 400, `${path}: ${status}`);
    }
    assert.equal(at.site.upstream.requests, arrived);
    assert.equal((await at.site.askHttps({ path: '/.gatehouse/sign-in', method: 'DELETE' })).status, 405);
    await at.site.gatehouse.delete(`${at.site.routePath}/oidc`);
    assert.equal((await at.site.askHttps({ path: '/.gatehouse/x' })).status, 200, 'without a login they are nobody’s');
  });

  test('the upstream gets a signed token, where it is asked for', async () => {
    await at.put({ upstream_token: true });
    const one = await at.signedIn();
    const token = (await one.open(start)).echo!.headers['gatehouse-user-token']!;
    const keys = JSON.parse((await at.site.askHttps({ path: '/.gatehouse/jwks.json' })).text);
    assert.equal(JSON.stringify(keys).includes('"d"'), false, 'no private key');
    const { payload } = await jwtVerify(token, createLocalJWKSet(keys), {
      issuer: `https://${siteHost}`,
      audience: `https://${siteHost}`,
    });
    assert.equal(payload.sub, 'ada');
    assert.equal(payload['email'], 'ada@example.com');
    assert.equal(decodeProtectedHeader(token).alg, 'ES256');
    await at.endAll();
  });

  test('a trusted network or a login, and both', async () => {
    const { gatehouse } = at.site;
    const office = await at.site.policy('127.0.0.2/32');
    const shown = await at.put({ network: 'or_login', ip_policy_ids: [office] });
    assert.deepEqual(
      shown.ip_policies.map(({ id }: { readonly id: string }) => id),
      [office],
    );
    assert.equal((await at.site.askHttps({ from: '127.0.0.2' })).status, 200, 'no login');
    assert.equal((await at.site.askHttps({ from: '127.0.0.3' })).status, 401);
    const outside = at.visitor('127.0.0.3');
    assert.equal((await outside.signIn(start, 'ada')).status, 200);
    assert.equal((await gatehouse.delete(`/ip_policies/${office}`)).status, 409, 'it is in use');
    const check = async (ip: string) => (await gatehouse.post('/ip_check', { ip, route_id: at.site.routeId })).body;
    const spared = await check('127.0.0.2');
    assert.match(spared.explanation, /It is in the trusted network, from which no login is needed \(oidc\)\.$/);
    assert.deepEqual(spared.further_checks, []);
    const [{ module: sparing, effect }] = spared.checks;
    assert.deepEqual([sparing, effect, spared.checks.length], ['oidc', 'allows', 1]);
    const asked = await check('127.0.0.3');
    assert.match(
      asked.explanation,
      /Then a visitor is asked to sign in.* \(oidc\), because the address is not in the trusted network\.$/,
    );
    const [{ module, by, asks }] = asked.further_checks;
    assert.deepEqual([module, by], ['oidc', 'the login of a visitor']);
    assert.match(asks, /^is asked to sign in/);
    await at.put({ network: 'and_login', ip_policy_ids: [office] });
    assert.deepEqual([(await check('127.0.0.2')).allowed, (await check('127.0.0.3')).allowed], [true, false]);
    assert.equal((await outside.ask(start)).status, 403);
    assert.equal((await at.site.askHttps({ from: '127.0.0.2' })).status, 401);
    assert.equal((await at.visitor('127.0.0.2').signIn(start, 'ada')).status, 200);
    for (const wrong of [{ network: 'or_login' }, { ip_policy_ids: [office] }]) {
      const { status } = await gatehouse.put(`${at.site.routePath}/oidc`, at.settings(wrong));
      assert.equal(status, 400);
    }
    await at.put();
    await at.endAll();
  });

  test('files say everything but the secret, and the same again is no change', async () => {
    const { gatehouse } = at.site;
    const office = { kind: 'ip_policies', name: 'office' };
    const entry = {
      kind: 'https_edges',
      name: 'guarded',
      hostports: ['guarded.site.test:443'],
      routes: { '/': { oidc: { ...at.settings(), groups: ['ops'], network: 'or_login', ip_policies: ['office'] } } },
    };
    const apply = async (body: unknown, query = '') =>
      (await gatehouse.post(`/configuration${query}`, [office, body])).body;
    const made = await apply(entry);
    assert.equal(made.created, 2, JSON.stringify(made));
    assert.equal((await apply(entry)).unchanged, 2);
    const { entries } = (await gatehouse.get('/configuration')).body;
    const exported = entries.find(({ name }: { readonly name: string }) => name === 'guarded');
    assert.deepEqual(exported.routes['/'].oidc, {
      issuer: at.provider.issuer,
      client_id: clientId,
      groups: ['ops'],
      network: 'or_login',
      ip_policies: ['office'],
    });
    assert.equal((await apply(exported)).unchanged, 2);
    const other = structuredClone(entry);
    other.routes['/'].oidc.client_secret = 'another';
    const planned = await apply(other, '?dry_run=true');
    assert.equal(planned.steps[0].fields[0].after.client_secret, '(secret)');
  });
});
