import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { WebSocket, WebSocketServer } from 'ws';

import { until } from '../e2e/gateway/support/until.ts';
import { httpProgram, rawProgram, visit, visitTcp } from './support/endpoint-visitors.ts';
import type { TestAgent } from './support/test-agent.ts';
import { newToken, onEachServed } from './support/served-agents.ts';

type Rule = Readonly<Record<string, unknown>>;

function onRequest(...rules: readonly Rule[]): string {
  return JSON.stringify({ on_http_request: rules });
}

function act(type: string, config: object = {}, expressions: readonly string[] = []): Rule {
  return { ...(expressions.length === 0 ? {} : { expressions }), actions: [{ type, config }] };
}

const answer = (body: string) => act('custom-response', { status_code: 200, body });
const forwardTo = (url: string, more: object = {}) => act('forward-internal', { url, ...more });

onEachServed('cloud endpoints', (served) => {
  let made = 0;
  const newName = async (): Promise<string> => {
    const domain = `cloud-${++made}.example.com`;
    await served().gatehouse.create('/reserved_domains', { domain });
    return domain;
  };
  const create = (url: string, traffic_policy: string, more: object = {}) =>
    served().gatehouse.create('/endpoints', { url, type: 'cloud', traffic_policy, ...more });
  async function connect() {
    const { gatehouse, library } = served();
    return library(await newToken(gatehouse));
  }
  async function agentAt(URL: string, t: TestContext, opts: object) {
    const program = await httpProgram(t, (_request, response) => response.end('in'));
    const { agent } = await served().agent(await newToken(served().gatehouse));
    const bound = await agent.call('bind', {
      Proto: URL.split(':')[0],
      ForwardsTo: program,
      Opts: { URL, ...opts },
      Extra: {},
    });
    assert.equal(bound['Error'], undefined);
    return { agent, id: String(bound['Id']) };
  }
  const patchPolicy = (agent: TestAgent, TunnelId: string, TrafficPolicy: string) =>
    agent.call('patchTunnelState', { TunnelId, TrafficPolicy });

  test('a public endpoint does what its policy says, at once when that changes, and nothing once it is deleted', async () => {
    const { gatehouse } = served();
    const name = await newName();
    const { id } = await create(`https://${name}`, onRequest(answer('first')));
    assert.equal((await visit(served(), `https://${name}`)).body, 'first');
    assert.equal(
      (await gatehouse.patch(`/endpoints/${id}`, { traffic_policy: onRequest(answer('second')) })).status,
      200,
    );
    assert.equal((await visit(served(), `https://${name}`)).body, 'second');
    assert.equal((await gatehouse.delete(`/endpoints/${id}`)).status, 204);
    await assert.rejects(visit(served(), `https://${name}`));
  });

  test('a request is forwarded to an internal endpoint, whose own policy runs, with the host that the visitor named', async (t) => {
    const program = await httpProgram(t, ({ headers, url }, response) => {
      const { host, 'x-forwarded-host': forwarded, 'x-outer': outer, 'x-inner': inner } = headers;
      response.end(JSON.stringify([host, forwarded, outer, inner, url]));
    });
    const session = await connect();
    const inner = {
      on_http_request: [act('add-headers', { headers: { 'x-inner': '${req.headers["x-outer"][0]}!' } })],
    };
    const endpoint = session.httpEndpoint().domain('app.internal').trafficPolicy(JSON.stringify(inner));
    await endpoint.listenAndForward(program);
    const name = await newName();
    await create(
      `https://${name}`,
      onRequest(act('add-headers', { headers: { 'x-outer': 'yes' } }), forwardTo('https://app.internal')),
    );
    const { body } = await visit(served(), `https://${name}`, { path: '/a?b=c' });
    assert.deepEqual(JSON.parse(body), [name, name, 'yes', 'yes!', '/a?b=c']);
  });

  test('answers pass the policies of all endpoints on the way', async (t) => {
    const program = await httpProgram(t, (_request, response) => response.end('in'));
    const tag = (value: string) => [act('add-headers', { headers: { 'x-way': value } })];
    const session = await connect();
    const inner = JSON.stringify({ on_http_response: tag('inner') });
    await session.httpEndpoint().domain('way.internal').trafficPolicy(inner).listenAndForward(program);
    const name = await newName();
    const policy = { on_http_request: [forwardTo('https://way.internal')], on_http_response: tag('outer') };
    await create(`https://${name}`, JSON.stringify(policy));
    assert.equal((await visit(served(), `https://${name}`)).headers['x-way'], 'inner, outer');
  });

  test('the most specific internal name is chosen, and one without an endpoint is offline', async () => {
    const name = await newName();
    await create('https://*.wild.internal', onRequest(answer('wild')));
    await create('https://one.wild.internal', onRequest(answer('one')));
    const to = 'https://${req.headers["x-to"][0]}.internal';
    await create(`https://${name}`, onRequest(forwardTo(to)));
    const at = async (host: string) => {
      const { status, body, code } = await visit(served(), `https://${name}`, { headers: { 'x-to': host } });
      return status === 200 ? body : code;
    };
    assert.equal(await at('one.wild'), 'one');
    assert.equal(await at('two.wild'), 'wild');
    assert.equal(await at('a.b.wild'), 'wild');
    assert.equal(await at('nothing'), 'ERR_NGROK_3200');
  });

  test('a failure goes on with the next action where the policy says so', async () => {
    const name = await newName();
    const failed = answer('${actions.ngrok.forward_internal.error.code}');
    await create(`https://${name}`, onRequest(forwardTo('https://gone.internal', { on_error: 'continue' }), failed));
    assert.equal((await visit(served(), `https://${name}`)).body, 'ERR_NGROK_3200');
  });

  test('endpoints that forward to each other in a circle are left after ten', async () => {
    const name = await newName();
    await create('https://a.circle.internal', onRequest(forwardTo('https://b.circle.internal')));
    await create('https://b.circle.internal', onRequest(forwardTo('https://a.circle.internal')));
    await create(`https://${name}`, onRequest(forwardTo('https://a.circle.internal')));
    const { status, code } = await visit(served(), `https://${name}`);
    assert.deepEqual([status, code], [508, 'ERR_NGROK_3501']);
  });

  test('a policy of an agent holds from its bind on, and changes live', async (t) => {
    const policy = onRequest(act('deny', { status_code: 403 }, ["req.url.path == '/secret'"]));
    const { agent, id } = await agentAt(`https://${await newName()}`, t, { TrafficPolicy: policy });
    const url = (await served().gatehouse.get('/tunnels')).body.tunnels[0].public_url;
    assert.equal((await visit(served(), url, { path: '/secret' })).status, 403);
    const { endpoints } = (await served().gatehouse.get('/endpoints')).body;
    const shown = endpoints.find((each: { readonly tunnel?: { readonly id: string } }) => each.tunnel?.id === id);
    assert.equal(shown.traffic_policy, policy);
    assert.equal((await patchPolicy(agent, id, onRequest(answer('other'))))['Error'], '');
    assert.equal((await visit(served(), url, { path: '/secret' })).body, 'other');
    const refused = String((await patchPolicy(agent, id, onRequest(act('nonsense'))))['Error']);
    assert.match(refused, /\(error 2201\)\n\nERR_NGROK_9026$/);
    // Agents of the Go family take the first code in the text for that of the error.
    assert.deepEqual(refused.match(/ERR_NGROK_\d+/g), ['ERR_NGROK_9026']);
    assert.equal((await visit(served(), url, { path: '/secret' })).body, 'other');
  });

  test('the policy of older agents is an object with directions; what cannot be read is refused, and so are two', async () => {
    const { agent } = await served().agent(await newToken(served().gatehouse));
    const name = await newName();
    const bind = async (Opts: object) => {
      const body = { Proto: 'https', ForwardsTo: 'localhost:1', Opts: { URL: `https://${name}`, ...Opts }, Extra: {} };
      const { Error: text = '' } = await agent.call('bind', body);
      return String(text);
    };
    const refused = (code: number) => new RegExp(`ERR_NGROK_${code}$`);
    assert.match(await bind({ TrafficPolicy: 'on_nothing: []' }), refused(9026));
    assert.match(await bind({ TrafficPolicy: '{}', Policy: { inbound: [] } }), refused(9025));
    assert.match(await bind({ Policy: { inward: [] } }), refused(9026));
    const missing = { ip_policies: ['ipp_2BYhPwqDBVDyzPqWvTZTTXlUPJG'] };
    assert.match(await bind({ TrafficPolicy: onRequest(act('restrict-ips', missing)) }), refused(9026));
    assert.equal(await bind({ Policy: { enabled: true, inbound: [answer('old')], outbound: null } }), '');
    assert.equal((await visit(served(), `https://${name}`)).body, 'old');
  });

  test('endpoints of one pool may have policies of their own, of agents and of the cloud', async () => {
    const name = await newName();
    const pooled = { pooling_enabled: true };
    const { gatehouse } = served();
    await create(`https://${name}`, onRequest(answer('cloud')), pooled);
    for (const word of ['one', 'two']) {
      const { agent } = await served().agent(await newToken(gatehouse));
      const Opts = { URL: `https://${name}`, TrafficPolicy: onRequest(answer(word)) };
      const bound = await agent.call('bind', {
        Proto: 'https',
        ForwardsTo: 'a',
        Opts,
        Extra: { PoolingEnabled: true },
      });
      assert.equal(bound['Error'], undefined);
    }
    const seen = new Set<string>();
    await until(async () => seen.add((await visit(served(), `https://${name}`)).body).size === 3, 'all three answer');
    const { agent } = await served().agent(await newToken(gatehouse));
    const alone = await agent.call('bind', {
      Proto: 'https',
      ForwardsTo: 'a',
      Opts: { URL: `https://${name}` },
      Extra: {},
    });
    assert.match(String(alone['Error']), /ERR_NGROK_334$/);
  });

  test('connections of TCP are forwarded to internal endpoints', async (t) => {
    const { gatehouse } = served();
    const port = await rawProgram(t, (socket) => socket.pipe(socket));
    const session = await connect();
    const internal = session.tcpEndpoint().binding('internal').remoteAddr('db.internal:5432');
    await internal.listenAndForward(`tcp://127.0.0.1:${port}`);
    const { addr } = await gatehouse.create('/reserved_addrs', {});
    const policy = JSON.stringify({ on_tcp_connect: [forwardTo('tcp://db.internal:5432')] });
    const { id } = await create(`tcp://${addr}`, policy);
    assert.equal(await visitTcp(`tcp://${addr}`, 'hello'), 'hello');
    const closed = JSON.stringify({ on_tcp_connect: [act('deny')] });
    assert.equal((await gatehouse.patch(`/endpoints/${id}`, { traffic_policy: closed })).status, 200);
    assert.equal(await visitTcp(`tcp://${addr}`, 'hello'), undefined);
  });

  test('a WebSocket obeys the IP policies of all endpoints that it went through, while it is open', async (t) => {
    const { gatehouse, ca } = served();
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    const policy = await gatehouse.create('/ip_policies', {});
    const rule = await gatehouse.create('/ip_policy_rules', {
      action: 'allow',
      cidr: '127.0.0.0/8',
      ip_policy_id: policy.id,
    });
    const inner = onRequest(act('restrict-ips', { ip_policies: [policy.id] }));
    const session = await connect();
    await session
      .httpEndpoint()
      .domain('ws.internal')
      .trafficPolicy(inner)
      .listenAndForward(`http://127.0.0.1:${port}`);
    const name = await newName();
    await create(`https://${name}`, onRequest(forwardTo('https://ws.internal')));
    const socket = new WebSocket(`wss://${name}:${gatehouse.httpsPort}`, {
      ca,
      lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }] as never, 4),
    });
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    await gatehouse.delete(`/ip_policy_rules/${rule.id}`);
    await closed;
    assert.equal((await visit(served(), `https://${name}`)).status, 403);
  });
});
