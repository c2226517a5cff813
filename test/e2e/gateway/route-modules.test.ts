import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { createServer } from 'node:net';
import { after, before, suite, test } from 'node:test';

import { WebSocket } from 'ws';

import { portOf } from '../../gateway/support/https-upstream.ts';
import { Site, siteHost } from './support/site.ts';
import { startUpstream } from './support/upstream.ts';

/** The modules that agents' endpoints had first, on routes: set over the API, obeyed by traffic when the call returns. */
suite('modules of routes', () => {
  let site: Site;
  before(async () => {
    site = await Site.start({ passwordFailures: '3', drainSeconds: '0' });
  });
  after(() => site[Symbol.asyncDispose]());

  const put = async (module: string, body: object) => {
    const { status, body: answer } = await site.gatehouse.put(`${site.routePath}/${module}`, body);
    assert.equal(status, 200, JSON.stringify(answer));
    return answer;
  };
  const remove = async (module: string) => {
    assert.equal((await site.gatehouse.delete(`${site.routePath}/${module}`)).status, 204);
  };
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const ask = (headers: Readonly<Record<string, string>> = {}) => site.askHttps({ headers });

  test('the older form of policies is kept as it was sent, obeyed, and never beside the other one', async () => {
    const { gatehouse, routePath, tcpEdgeId } = site;
    const office = await site.policy('127.0.0.1/32');
    const body = {
      enabled: true,
      inbound: [
        { name: 'closed', expressions: ["req.url.path == '/closed'"], actions: [{ type: 'deny', config: null }] },
        { actions: [{ type: 'restrict-ips', config: { ip_policies: [office] } }] },
      ],
      outbound: [{ actions: [{ type: 'add-headers', config: { headers: { 'x-policy': 'old' } } }] }],
    };
    assert.deepEqual(await put('policy', body), body);
    assert.deepEqual((await gatehouse.get(routePath)).body.policy, body);
    assert.equal((await site.askHttps({ path: '/closed' })).status, 403);
    const open = await ask();
    assert.deepEqual([open.status, open.headers['x-policy']], [200, 'old']);
    assert.equal((await site.askHttps({ from: '127.0.0.2' })).status, 403);
    const told = (await gatehouse.post('/ip_check', { ip: '127.0.0.2', route_id: site.routeId })).body;
    assert.match(JSON.stringify(told), /traffic_policy/);
    assert.equal((await gatehouse.delete(`/ip_policies/${office}`)).status, 409);
    const beside = await gatehouse.put(`${routePath}/traffic_policy`, { value: '{}' });
    assert.deepEqual([beside.status, /both switched on/.test(beside.body.msg)], [400, true]);
    assert.equal((await gatehouse.patch(routePath, { traffic_policy: { value: '{}' } })).status, 400);
    await remove('policy');
    assert.deepEqual(
      [(await ask()).headers['x-policy'], (await site.askHttps({ path: '/closed' })).status],
      [undefined, 200],
    );

    const refusing = {
      inbound: [
        { actions: [{ type: 'restrict-ips', config: { deny: ['127.0.0.2/32'], allow: ['::/0', '0.0.0.0/0'] } }] },
      ],
    };
    const tcp = `/edges/tcp/${tcpEdgeId}`;
    assert.deepEqual((await gatehouse.put(`${tcp}/policy`, refusing)).body, {
      enabled: true,
      ...refusing,
      outbound: [],
    });
    assert.equal((await site.askTcp({ from: '127.0.0.1' })).status, 200);
    await assert.rejects(site.askTcp({ from: '127.0.0.2' }));
    assert.equal((await gatehouse.delete(`${tcp}/policy`)).status, 204);
    assert.equal((await site.askTcp({ from: '127.0.0.2' })).status, 200);
  });

  test('a password is asked for, is nowhere to be read, and stays when it is left out', async () => {
    const { gatehouse, routePath } = site;
    const shown = await put('basic_auth', { credentials: [{ username: 'ada', password: 'pass:word' }] });
    assert.deepEqual(shown, { enabled: true, credentials: [{ username: 'ada' }] });
    const arrived = site.upstream.requests;
    const asked = await ask();
    assert.deepEqual([asked.status, asked.headers['gatehouse-error-code']], [401, 'ERR_GATEHOUSE_20151']);
    assert.equal(site.upstream.requests, arrived);
    assert.equal((await ask(basic('ada:pass:word'))).status, 200);
    // A second one beside the first, whose password is not sent again.
    await put('basic_auth', { credentials: [{ username: 'ada' }, { username: 'bob', password: 'bbbbbbbb' }] });
    for (const right of ['ada:pass:word', 'bob:bbbbbbbb']) assert.equal((await ask(basic(right))).status, 200);
    const refused = await gatehouse.put(`${routePath}/basic_auth`, { credentials: [{ username: 'eve' }] });
    assert.deepEqual([refused.status, refused.body.error_code], [400, 'ERR_GATEHOUSE_20286']);
    assert.equal(
      (await gatehouse.patch(routePath, { basic_auth: { credentials: [{ username: 'bob' }] } })).status,
      200,
    );
    assert.equal((await ask(basic('ada:pass:word'))).status, 401);
    assert.equal((await ask(basic('bob:bbbbbbbb'))).status, 200);
    const { explanation, further_checks } = (
      await gatehouse.post('/ip_check', { ip: '127.0.0.1', route_id: site.routeId })
    ).body;
    assert.match(explanation, /Then a visitor needs a password \(basic_auth\)\.$/);
    assert.deepEqual(further_checks, [
      { module: 'basic_auth', by: 'the name and the password of a visitor', asks: 'needs a password' },
    ]);
    const told = [
      (await gatehouse.get('/changes')).body,
      (await gatehouse.get('/configuration')).body,
      (await gatehouse.get(routePath)).body,
      gatehouse.logLines,
    ].map((each) => JSON.stringify(each));
    for (const text of told) assert.doesNotMatch(text, /pass:word|digest|salt/);
    await remove('basic_auth');
  });

  test('who guesses passwords is refused for a while', async () => {
    await put('basic_auth', { credentials: [{ username: 'ada', password: 'password' }] });
    for (let round = 0; round < 3; round++) await ask(basic(`ada:${round}`));
    const late = await site.askHttps({ headers: basic('ada:password') });
    assert.deepEqual([late.status, late.headers['gatehouse-error-code']], [429, 'ERR_GATEHOUSE_20282']);
    assert.equal((await site.askHttps({ headers: basic('ada:password'), from: '127.0.0.2' })).status, 200);
    await remove('basic_auth');
  });

  test('programs are refused by their name', async () => {
    const shown = await put('user_agent_filter', { deny: ['(?i)^CURL/'], allow: [] });
    assert.deepEqual(shown, { enabled: true, allow: [], deny: ['(?i)^CURL/'] });
    const refused = await ask({ 'user-agent': 'curl/8.1' });
    assert.deepEqual([refused.status, refused.headers['gatehouse-error-code']], [403, 'ERR_GATEHOUSE_20152']);
    assert.equal((await ask({ 'user-agent': 'Mozilla/5.0' })).status, 200);
    await put('user_agent_filter', { allow: ['^Mozilla/'], enabled: false });
    assert.equal((await ask({ 'user-agent': 'curl/8.1' })).status, 200);
    await remove('user_agent_filter');
  });

  test('an upstream that fails is spared, also after a change of something else', async () => {
    const { gatehouse } = site;
    await using failing = await startUpstream('failing', (_, response) => void response.writeHead(500).end());
    const backend = await gatehouse.create('/backends/static', { address: `127.0.0.1:${failing.port}` });
    await put('circuit_breaker', { volume_threshold: 3, error_threshold_percentage: 0.1, tripped_duration: 60 });
    await put('backend', { backend_id: backend.id });
    for (let round = 0; round < 3; round++) assert.equal((await ask()).status, 500);
    const spared = await ask();
    assert.deepEqual([spared.status, spared.headers['gatehouse-error-code']], [503, 'ERR_GATEHOUSE_20153']);
    await put('compression', {});
    assert.equal((await ask()).status, 503, 'what was counted stays');
    assert.equal(failing.requests, 3);
    await put('backend', { backend_id: site.backendId });
    await put('circuit_breaker', { volume_threshold: 4 });
    assert.equal((await ask()).status, 200, 'other settings count anew');
    await remove('circuit_breaker');
    await remove('compression');
  });

  test('a backend that speaks no HTTP gets the bytes of WebSockets', async (t) => {
    const { gatehouse } = site;
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('data', (bytes) => socket.write(`got ${bytes.toString()}`));
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { id } = await gatehouse.create('/backends/static', { address: `127.0.0.1:${portOf(server)}` });
    await put('backend', { backend_id: id });
    assert.deepEqual(await put('websocket_tcp_converter', {}), { enabled: true });
    const agent = new Agent({ servername: siteHost, rejectUnauthorized: false });
    const socket = new WebSocket(`wss://127.0.0.1:${site.httpsPort}/`, [], { agent, headers: { host: siteHost } });
    t.after(() => socket.terminate());
    await once(socket, 'open');
    socket.send('hello');
    const [answer] = await once(socket, 'message');
    assert.equal(String(answer), 'got hello');
    assert.equal((await ask()).status, 400);
    await remove('websocket_tcp_converter');
    await put('backend', { backend_id: site.backendId });
  });

  test('files say names without passwords, and a password that is the stored one is no change', async () => {
    const { gatehouse } = site;
    const entry = {
      kind: 'https_edges',
      name: 'guarded',
      hostports: ['guarded.site.test:443'],
      routes: {
        '/': { basic_auth: { credentials: [{ username: 'ada', password: 'password' }] }, circuit_breaker: {} },
      },
    };
    const apply = async (body: unknown, query = '') => (await gatehouse.post(`/configuration${query}`, [body])).body;
    const planned = await apply(entry, '?dry_run=true');
    assert.deepEqual(planned.steps[0].fields.at(-1).after.basic_auth, {
      credentials: [{ username: 'ada', password: '(secret)' }],
    });
    assert.equal((await apply(entry)).created, 1);
    assert.equal((await apply(entry)).unchanged, 1);
    const { entries } = (await gatehouse.get('/configuration')).body;
    const exported = entries.find(({ name }: { readonly name: string }) => name === 'guarded');
    assert.deepEqual(exported.routes['/'].basic_auth, { credentials: [{ username: 'ada' }] });
    assert.equal((await apply(exported)).unchanged, 1);
    const other = structuredClone(entry);
    other.routes['/'].basic_auth.credentials = [{ username: 'ada', password: 'other one' }];
    const { steps } = await apply(other);
    assert.deepEqual(steps[0].fields, [
      {
        field: 'routes./.basic_auth',
        before: { credentials: [{ username: 'ada' }] },
        after: { credentials: [{ username: 'ada', password: '(secret)' }] },
      },
    ]);
    const asked = await site.askHttps({ headers: basic('ada:other one') }, 'guarded.site.test');
    assert.equal(asked.status, 503, 'let in, to a route without a backend');
  });
});
