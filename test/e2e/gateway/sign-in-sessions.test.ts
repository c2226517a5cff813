import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request as requestHttps } from 'node:https';
import { after, before, mock, suite, test } from 'node:test';

import { WebSocket, WebSocketServer } from 'ws';

import { follow, SignInSite, start } from './support/sign-in-site.ts';
import { siteHost } from './support/site.ts';
import { startUpstream } from './support/upstream.ts';

/** What keeps a visitor signed in, and what ends it. */
suite('sessions of visitors', () => {
  let at: SignInSite;
  before(async () => {
    // Only tests move the time of day, which is that of this process.
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    at = await SignInSite.start({ workers: 'off' });
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
    const asked = await one.ask(`${start}.gatehouse/sign-out`, { headers: { 'sec-fetch-site': 'cross-site' } });
    assert.match(asked.text, /Sign out of app\.site\.test\?/, 'another site cannot do it');
    assert.equal((await one.ask(start)).status, 200);
    const forged = await one.ask(`${start}.gatehouse/sign-out`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    });
    assert.match(forged.text, /Sign out of/);
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

  test('an operator ends a session: its requests, WebSockets and streams of events', async (t) => {
    const { gatehouse } = at.site;
    await using streams = await startUpstream('streams', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n');
    });
    new WebSocketServer({ server: streams.server }).on('connection', (socket) => socket.on('error', () => {}));
    const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${streams.port}` });
    await gatehouse.put(`${at.site.routePath}/backend`, { backend_id: backend.id });
    t.after(() => gatehouse.put(`${at.site.routePath}/backend`, { backend_id: at.site.backendId }));
    await at.put({ inactivity_timeout: 3600 });
    const one = at.visitor();
    // The page itself is a stream: only the way to it is followed.
    const callback = await follow(one, await one.sendForm(await one.open(start), 'ada'));
    assert.ok(callback.includes('callback'), callback);
    assert.equal((await one.ask(callback)).status, 302);
    await at.sessionsAre(1);
    const [{ id }] = await at.sessions();
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
    // A change of something else leaves them open.
    await gatehouse.create('/ip_policies');
    assert.equal(socket.readyState, WebSocket.OPEN);
    const closed = once(socket, 'close');
    const ended = new Promise((resolve) => stream.on('close', resolve).on('error', () => {}));
    assert.equal((await gatehouse.delete(`/app/sessions/${id}`)).status, 204);
    await Promise.all([closed, ended]);
    assert.equal((await at.site.askHttps({ headers: { cookie } })).status, 401, 'at once');
    assert.equal((await gatehouse.delete(`/app/sessions/${id}`)).status, 404);
    const [change] = (await gatehouse.get('/changes?limit=1')).body.changes;
    assert.deepEqual([change.kind, change.resource_id], ['app_session', id]);
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
    assert.match(down.text, /does not answer\. Whoever is signed in already goes on working/);
    assert.match(down.text, /\/orders/);
    await at.provider.up();
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
