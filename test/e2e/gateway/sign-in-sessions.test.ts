import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as requestHttps } from 'node:https';
import { after, before, mock, suite, test } from 'node:test';
import type { TestContext } from 'node:test';

import { decodeJwt } from 'jose';
import { WebSocket, WebSocketServer } from 'ws';

import { VisitorKeys } from '../../../src/gateway/sign-in/visitor-keys.ts';
import { oidc } from '../../../src/modules/oidc/index.ts';
import { keyCompiler } from '../../../src/resources/visitors/keys.ts';
import { sharedSealer } from '../../../src/resources/visitors/service.ts';
import { failAt } from '../../support/database-faults.ts';
import { clientSecret, postClientId } from '../../support/identity-provider.ts';
import { signInOf } from '../../support/step-visit.ts';
import { follow, SignInSite, start } from './support/sign-in-site.ts';
import { siteHost } from './support/site.ts';
import { startUpstream } from './support/upstream.ts';

/** What keeps a visitor signed in, and what ends it. */
suite('sessions of visitors', () => {
  let at: SignInSite;
  before(async () => {
    // Only tests move the time of day, which is that of this process.
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    at = await SignInSite.start({ workers: 'off', idleSeconds: '86400' });
  });
  after(async () => {
    await at[Symbol.asyncDispose]();
    mock.timers.reset();
  });

  test('a session is a new one with each login, and what a visitor brought before is none', async () => {
    await at.put();
    const one = await at.signedIn();
    const first = one.cookie(siteHost, 'visitor');
    await one.open(`${start}.gatehouse/sign-in?again&to=/`).then((form) => one.fillIn(form, 'ada'));
    const second = one.cookie(siteHost, 'visitor');
    assert.notEqual(first, second);
    await at.sessionsAre(2);
    await at.endAll();
  });

  test('signing out ends the session for good, also for whoever has copied it', async () => {
    await at.put();
    const one = await at.signedIn();
    const thief = at.visitor();
    thief.cookies.set(siteHost, new Map(one.cookies.get(siteHost)));
    assert.equal((await thief.open(start)).status, 200);
    for (const site of ['cross-site', 'same-site'])
      for (const method of ['GET', 'POST']) {
        const asked = await one.ask(`${start}.gatehouse/sign-out`, { method, headers: { 'sec-fetch-site': site } });
        assert.match(asked.text, /Sign out of app\.site\.test\?/, `a ${method} from another page, ${site}`);
      }
    assert.equal((await one.ask(start)).status, 200);
    for (const origin of ['https://evil.example', `https://${siteHost}.evil.example`, `http://${siteHost}`, 'null']) {
      const forged = await one.ask(`${start}.gatehouse/sign-out`, {
        method: 'POST',
        headers: { origin, 'sec-fetch-site': 'cross-site' },
      });
      assert.match(forged.text, /Sign out of/, origin);
    }
    const out = await one.ask(`${start}.gatehouse/sign-out`, {
      method: 'POST',
      headers: { origin: `https://${siteHost}`, 'sec-fetch-site': 'same-origin' },
    });
    assert.match(out.text, /You are signed out of app\.site\.test/);
    assert.match(out.text, /Sign out at 127\.0\.0\.1/);
    assert.equal(one.cookie(siteHost, 'visitor'), undefined);
    assert.equal((await thief.ask(start)).status, 302);
    await at.sessionsAre(0);
    assert.equal((await thief.ask(start)).status, 302);
  });

  test('signing out ends the sessions of all logins of the edge', async () => {
    await at.put();
    const routes = `/edges/https/${at.site.edgeId}/routes`;
    const other = await at.site.gatehouse.create(routes, {
      match_type: 'path_prefix',
      match: '/other',
      backend: { backend_id: at.site.backendId },
      oidc: at.settings({ client_id: postClientId }),
    });
    const one = await at.signedIn();
    assert.equal((await one.open(`${start}other`)).status, 200);
    const thief = at.visitor();
    thief.cookies.set(siteHost, new Map(one.cookies.get(siteHost)));
    await at.sessionsAre(2);
    await one.ask(`${start}.gatehouse/sign-out`);
    assert.equal(one.cookie(siteHost, 'visitor'), undefined);
    await at.sessionsAre(0);
    for (const path of ['', 'other']) assert.equal((await thief.ask(`${start}${path}`)).status, 302, path);
    assert.equal((await at.site.gatehouse.delete(`${routes}/${other.id}`)).status, 204);
  });

  test('a page of a sibling plants neither a session nor a login into the value of another cookie', async () => {
    await at.put();
    const [attacker, victim] = [await at.signedIn('eve'), await at.signedIn('ada')];
    const [name] = [...attacker.cookies.get(siteHost)!].find(([each]) => each.includes('visitor'))!;
    const planted = attacker.cookie(siteHost, 'visitor')!;
    const own = victim.cookie(siteHost, 'visitor')!;
    const seenAs = async (cookie: string) => {
      const { status, echo } = await at.site.askHttps({ headers: { cookie } });
      return status === 200 ? echo!.headers['gatehouse-user-id'] : status;
    };
    assert.equal(await seenAs(`${name}=${planted}`), 'eve');
    // Cookies of longer paths come first, as those of another domain may.
    assert.equal(await seenAs(`a=b ${name}=${planted}; ${name}=${own}`), 'ada');
    assert.equal(await seenAs(`a=b ${name}=${planted}`), 401);
    for (const none of ['', 'x', `1.${'A'.repeat(60)}`, `${planted}x`, ` ${planted} x`])
      assert.equal(await seenAs(`${name}=${none}; ${name}=${own}`), 'ada', `${none} hides the session`);
    // The login of the attacker, finished by the victim.
    const login = at.visitor();
    const callback = await follow(login, await login.sendForm(await login.open(start), 'eve'));
    const [loginName, sealed] = [...login.cookies.get(siteHost)!].find(([each]) => each.includes('login'))!;
    const { pathname, search } = new URL(callback);
    const finish = async (cookie: string) =>
      (await at.site.askHttps({ path: `${pathname}${search}`, headers: { cookie } })).status;
    assert.equal(await finish(`a=b ${loginName}=${sealed}; ${name}=${own}`), 400);
    assert.equal(await finish(`${loginName}=x; ${loginName}=${sealed}`), 302, 'the browser that began it');
    await at.endAll();
  });

  test('a login is finished within ten minutes, also by a clock that was set back', async () => {
    await at.put();
    const finishAfter = async (seconds: number) => {
      const one = at.visitor();
      const form = await one.open(start);
      mock.timers.setTime(Date.now() + seconds * 1000);
      const callback = await follow(one, await one.sendForm(form, 'ada'));
      return (await one.ask(callback)).status;
    };
    assert.equal(await finishAfter(590), 302);
    assert.equal(await finishAfter(610), 400);
    assert.equal(await finishAfter(-590), 302);
    assert.equal(await finishAfter(-610), 400);
    await at.endAll();
  });

  /** A session with a WebSocket and a stream of events, and what ends when both have. */
  const openLasting = async (t: TestContext, settings: object) => {
    const { gatehouse } = at.site;
    const streams = await startUpstream('streams', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    new WebSocketServer({ server: streams.server }).on('connection', (socket) => socket.on('error', () => {}));
    const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${streams.port}` });
    await gatehouse.put(`${at.site.routePath}/backend`, { backend_id: backend.id });
    t.after(async () => {
      await gatehouse.put(`${at.site.routePath}/backend`, { backend_id: at.site.backendId });
      await streams[Symbol.asyncDispose]();
    });
    await at.put(settings);
    const one = at.visitor();
    // The page itself is a stream: only the way to it is followed.
    const callback = await follow(one, await one.sendForm(await one.open(start), 'ada'));
    assert.ok(callback.includes('callback'), callback);
    assert.equal((await one.ask(callback)).status, 302);
    await at.sessionsAre(1);
    const cookie = [...one.cookies.get(siteHost)!].map(([name, value]) => `${name}=${value}`).join('; ');
    const agent = new Agent({ servername: siteHost, rejectUnauthorized: false });
    const socket = new WebSocket(`wss://127.0.0.1:${at.site.httpsPort}/`, [], {
      agent,
      headers: { host: siteHost, cookie },
    });
    await once(socket, 'open');
    const events = requestHttps({
      host: '127.0.0.1',
      port: at.site.httpsPort,
      servername: siteHost,
      rejectUnauthorized: false,
      headers: { host: siteHost, cookie, accept: 'text/event-stream' },
    }).end();
    const [stream] = await once(events, 'response');
    assert.equal(stream.statusCode, 200);
    await once(stream, 'data');
    const closed = once(socket, 'close');
    const ended = new Promise((resolve) => stream.on('close', resolve).on('error', () => {}));
    return { cookie, socket, ended: Promise.all([closed, ended]) };
  };

  test('an operator ends a session: its requests, WebSockets and streams of events', async (t) => {
    const { gatehouse } = at.site;
    const { cookie, socket, ended } = await openLasting(t, { inactivity_timeout: 3600 });
    const [{ id }] = await at.sessions();
    // A change of something else leaves them open.
    await gatehouse.create('/ip_policies');
    assert.equal(socket.readyState, WebSocket.OPEN);
    assert.equal((await gatehouse.delete(`/app/sessions/${id}`)).status, 204);
    await ended;
    assert.equal((await at.site.askHttps({ headers: { cookie } })).status, 401, 'at once');
    assert.equal((await gatehouse.delete(`/app/sessions/${id}`)).status, 404);
    const [change] = (await gatehouse.get('/changes?limit=1')).body.changes;
    assert.deepEqual([change.kind, change.resource_id], ['app_session', id]);
    await at.endAll();
  });

  test('who signs out while the database is away ends the WebSockets and streams of events of that session', async (t) => {
    const { cookie, socket, ended } = await openLasting(t, { inactivity_timeout: 3600 });
    using fault = failAt(1, 'lost', true);
    const left = await at.site.askHttps({
      path: '/.gatehouse/sign-out',
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
    assert.equal(left.status, 200);
    assert.ok(fault.failed.length > 0, 'the database was away');
    await ended;
    assert.equal(socket.readyState, WebSocket.CLOSED);
    fault.end();
    await at.endAll();
  });

  test('a session that is over ends the WebSockets and streams of events that it has opened', async (t) => {
    const { socket, ended } = await openLasting(t, { maximum_duration: 2 });
    assert.equal(socket.readyState, WebSocket.OPEN);
    mock.timers.tick(2_000);
    await ended;
    await at.endAll();
  });

  test('with the provider down sessions go on, and new visitors get a page that says so', async (t) => {
    await at.put({ auth_check_interval: 1 });
    const one = await at.signedIn();
    t.after(() => at.provider.up().catch(() => {}));
    await at.provider.down();
    await at.put({ auth_check_interval: 1, scopes: ['openid', 'email', 'profile'] });
    const two = at.visitor();
    two.cookies.set(siteHost, new Map(one.cookies.get(siteHost)));
    await at.put({ auth_check_interval: 1 });
    mock.timers.tick(1_200);
    assert.equal((await one.open(start)).status, 200);
    // As after a start: nothing is known of the provider.
    await at.put({ auth_check_interval: 1, groups_claim: 'roles' });
    const down = await at.visitor().open(`${start}orders`);
    assert.equal(down.status, 503);
    assert.equal(down.headers['retry-after'], '10');
    assert.match(down.text, /does not answer\. Everybody who is already signed in can go on working/);
    assert.match(down.text, /\/orders/);
    await at.provider.up();
    mock.timers.tick(2_000);
    assert.equal((await at.visitor().signIn(start, 'ada')).status, 200);
    await at.endAll();
  });

  test('where it is asked for, the provider is asked again, and who may no longer sign in is out', async () => {
    const { people } = at.provider;
    const bob = people['bob']!;
    await at.put({ auth_check_interval: 1, email_domains: ['partner.example'] });
    const one = await at.signedIn('bob');
    mock.timers.tick(1_200);
    const exchanged = at.provider.asked.get('/token') ?? 0;
    // Several at once ask once.
    const answers = await Promise.all(Array.from({ length: 5 }, () => one.ask(start)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    assert.equal(at.provider.asked.get('/token'), exchanged + 1);
    people['bob'] = { ...bob, email: 'bob@elsewhere.example' };
    mock.timers.tick(1_200);
    assert.equal((await one.open(start)).status, 403, 'another address is not let in');
    delete people['bob'];
    mock.timers.tick(1_200);
    assert.equal((await one.ask(start)).status, 302, 'nobody of the name any more: sign in again');
    people['bob'] = bob;
    await at.endAll();
  });

  test('what the provider says at a check reaches the upstream at once, in headers and in the token', async () => {
    const { people } = at.provider;
    const ada = people['ada']!;
    await at.put({ auth_check_interval: 20, upstream_token: true });
    const one = await at.signedIn();
    const told = async () => {
      const { 'gatehouse-user-name': name, 'gatehouse-user-token': token } = (await one.ask(start)).echo!.headers;
      return { name, token: token!, claims: decodeJwt(token!) };
    };
    const first = await told();
    assert.equal(first.claims['name'], ada['name']);
    mock.timers.tick(10_000);
    assert.equal((await told()).token, first.token, 'one serves several requests');
    people['ada'] = { ...ada, name: 'Ada Lovelace' };
    mock.timers.tick(11_000);
    const later = await told();
    assert.deepEqual([later.name, later.claims['name']], ['Ada Lovelace', 'Ada Lovelace']);
    people['ada'] = ada;
    await at.endAll();
  });

  test('an upstream never gets a token that ends within a minute', async () => {
    await at.put({ upstream_token: true });
    const one = await at.signedIn();
    for (let round = 0; round < 6; round++) {
      const { exp = 0 } = decodeJwt((await one.ask(start)).echo!.headers['gatehouse-user-token']!);
      assert.ok(exp * 1000 - Date.now() >= 59_000, `round ${round}: ${exp * 1000 - Date.now()} ms are left`);
      mock.timers.tick(25_000);
    }
    await at.endAll();
  });

  test('a provider, or a database, that is away at a check ends no session, and is asked again in a minute', async (t) => {
    await at.put({ auth_check_interval: 600 });
    const one = await at.signedIn();
    t.after(() => at.provider.up().catch(() => {}));
    const tokens = () => at.provider.asked.get('/token') ?? 0;
    const exchanged = tokens();
    mock.timers.tick(601_000);
    const outage = failAt(1, 'lost', true);
    assert.equal((await one.ask(start)).status, 200, 'without the database no check is made');
    outage.end();
    assert.equal(tokens(), exchanged);
    mock.timers.tick(61_000);
    await at.provider.down();
    assert.equal((await one.ask(start)).status, 200);
    await at.provider.up();
    mock.timers.tick(50_000);
    assert.equal((await one.ask(start)).status, 200);
    assert.equal(tokens(), exchanged, 'not before the minute is over');
    mock.timers.tick(11_000);
    assert.equal((await one.ask(start)).status, 200);
    assert.equal(tokens(), exchanged + 1, 'and not after the interval');
    await at.endAll();
  });

  test('the cookie of an older release, with its refresh token, is good once, and the token is kept from then on', async () => {
    const { store, services, sealer } = at.site.gatehouse.app.context;
    at.provider.rotatesRefreshTokens = true;
    await at.put({ auth_check_interval: 60 });
    const one = await at.signedIn();
    const [row] = await store.queries.all('SELECT id, account_id, login FROM app_sessions WHERE login IS NOT NULL');
    const [id, accountId, sealed] = row!.map(String);
    const { token } = JSON.parse((await services.get(sharedSealer).open(sealed!, `visitor login ${id}`))!);
    assert.doesNotMatch(sealed!, new RegExp(token.value), 'it is sealed');
    await store.writeUnlogged((writer) => writer.run('UPDATE app_sessions SET login = NULL WHERE id = $1', [id!]));
    const keys = new VisitorKeys();
    const set = await keyCompiler({ sealer }).load(store.queries, undefined);
    keys.prepare({ version: 1, full: true, removed: [], set }, () => {})();
    const [name, value] = [...one.cookies.get(siteHost)!].find(([each]) => each.includes('visitor'))!;
    const { issuer } = at.provider;
    const { key } = signInOf(oidc.build({ ...oidc.accept(at.settings({ issuer })), client_secret: clientSecret }));
    const context = `visitor session ${accountId} ${at.site.edgeId} ${siteHost} ${key}`;
    const session = JSON.parse(keys.open(value, context)!);
    assert.equal(session.t, undefined, 'new cookies hold none');
    one.cookies.get(siteHost)!.set(name, keys.seal(JSON.stringify({ ...session, t: token }), context));
    const copy = at.visitor();
    copy.cookies.set(siteHost, new Map(one.cookies.get(siteHost)));
    for (let round = 0; round < 3; round++) {
      mock.timers.tick(61_000);
      assert.equal((await one.ask(start)).status, 200);
      assert.equal((await copy.ask(start)).status, 200);
    }
    assert.equal(JSON.parse(keys.open(one.cookie(siteHost, 'visitor')!, context)!).t, undefined);
    at.provider.rotatesRefreshTokens = false;
    await at.endAll();
  });

  test('sessions end when they are not used, and at the latest after their time', async () => {
    await at.put({ inactivity_timeout: 60, maximum_duration: 150 });
    const one = await at.signedIn();
    const first = one.cookie(siteHost, 'visitor');
    // Used all the time it lasts until its end, with new cookies on the way.
    for (const _ of [40, 80, 120]) {
      mock.timers.tick(40_000);
      assert.equal((await one.ask(start)).status, 200);
    }
    assert.notEqual(one.cookie(siteHost, 'visitor'), first);
    mock.timers.tick(31_000);
    assert.equal((await one.ask(start)).status, 302, 'its time is over');
    const two = await at.signedIn();
    mock.timers.tick(61_000);
    assert.equal((await two.ask(start)).status, 302, 'it was not used');
    await at.endAll();
  });
});
