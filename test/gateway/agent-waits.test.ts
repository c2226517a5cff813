import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { basicAuth } from '../../src/modules/basic-auth/index.ts';
import type { ModuleSettings, SnapshotEntry } from '../../src/snapshot/contract.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { edgeEntry, prefixRoute, restriction, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';
import { freePort } from '../support/free-port.ts';
import { until } from './support/tcp-engine.ts';
import { tcpEdge, toBackend as toTcpBackend } from './support/tcp-entries.ts';
import { dial } from './support/tcp-peers.ts';

/** Longer than any other wait of these tests. */
const longMs = 60_000;
const errorCode = 'gatehouse-error-code';
const expected = tunnelBackend('ep_1', [], { isExpected: true });

function edgeWith(modules: ModuleSettings = {}): SnapshotEntry {
  return edgeEntry('ep_1', ['app.test'], [prefixRoute('/', { ...toBackend('ep_1'), ...modules })]);
}

/** A gateway with an endpoint whose agent is on its way back, and the agent. */
async function start(t: TestContext, bounds: GatewaySettings['bounds'] = {}, more: readonly SnapshotEntry[] = []) {
  const upstream = await startUpstream();
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  const gateway = await startGateway([edgeWith(), expected, ...more], {
    dialer: agents.dialer,
    listenHost: '127.0.0.1',
    bounds: { agentWaitMs: longMs, ...bounds },
  });
  t.after(async () => {
    await gateway.drain(0);
    await upstream[Symbol.asyncDispose]();
  });
  const waiting = (count: number) => until(() => gateway.inUse.agent_waiting === count, `${count} waiting`);
  const comeBack = () => gateway.set(tunnelBackend('ep_1', [agent]));
  return { gateway, upstream, agents, agent, waiting, comeBack };
}

test('a request waits for an agent that is on its way back', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const answer = sendRaw(gateway.port, get('/late'));
  await waiting(1);
  assert.equal(upstream.seen.length, 0);
  await comeBack();
  assert.equal((await answer).status, 200);
  assert.equal(upstream.seen.length, 1);
  await waiting(0);
});

test('bodies wait too: each arrives once and whole', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const body = randomBytes(1024 * 1024).toString('hex');
  const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n';
  const announced = sendRaw(gateway.port, `${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  const chunked = sendRaw(
    gateway.port,
    `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  );
  const session = openHttp2(gateway.port);
  const streamed = requestHttp2(session, { ':method': 'POST', ':path': '/' }, body);
  await waiting(3);
  await comeBack();
  const statuses = (await Promise.all([announced, chunked, streamed])).map(({ status }) => status);
  session.close();
  assert.deepEqual(statuses, [200, 200, 200]);
  assert.deepEqual(
    upstream.seen.map((request) => request.body === body),
    [true, true, true],
  );
});

test('a client is not told to send its body before the agent is there', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const client = await connectClient(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const head = 'POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 4\r\nExpect: 100-continue';
  client.write(`${head}\r\n\r\n`);
  await waiting(1);
  assert.equal(text, '');
  await comeBack();
  await until(() => text.startsWith('HTTP/1.1 100 '), 'the interim answer');
  client.write('body');
  await until(() => upstream.seen.length === 1, 'the request');
  assert.equal(upstream.seen[0]?.body, 'body');
  client.destroy();
});

test('who has waited long enough is answered 503, with a time to try again', async (t) => {
  const { gateway, upstream } = await start(t, { agentWaitMs: 100 });
  const { status, headers, body } = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([status, headers[errorCode], headers['retry-after']], [503, 'ERR_GATEHOUSE_3200', '1']);
  assert.match(body, /no agent is connected/);
  assert.equal(upstream.seen.length, 0);
  assert.deepEqual(
    gateway.answered.map((each) => [each.status, each.errorCode, each.edgeId]),
    [[503, 3200, 'ep_1']],
  );
});

test('nobody waits for an agent that is not expected, nor where waiting is switched off', async (t) => {
  const { gateway } = await start(t);
  await gateway.set(tunnelBackend('ep_1', []));
  assert.equal((await sendRaw(gateway.port, get('/'))).headers[errorCode], 'ERR_GATEHOUSE_3200');
  assert.ok((gateway.answered[0]?.durationMs ?? longMs) < longMs / 2, 'it is answered at once');
  const off = await start(t, { agentWaitMs: 0 });
  assert.equal((await sendRaw(off.gateway.port, get('/'))).headers[errorCode], 'ERR_GATEHOUSE_3200');
});

test('a session that broke is waited for before anybody has taken its tunnel away', async (t) => {
  const { gateway, agents, agent, upstream, waiting, comeBack } = await start(t);
  await comeBack();
  agent.agent.socket.destroy();
  const answer = sendRaw(gateway.port, get('/'));
  await waiting(1);
  await gateway.set(expected);
  const again = await agents.start(upstream.port);
  await gateway.set(tunnelBackend('ep_1', [again]));
  assert.equal((await answer).status, 200);
});

test('an endpoint that is given up while requests wait is not there any more', async (t) => {
  const { gateway, waiting } = await start(t);
  const answer = sendRaw(gateway.port, get('/'));
  await waiting(1);
  await gateway.remove({ kind: 'https_edge', id: 'ep_1' }, { kind: 'tunnel_backend', id: 'ep_1' });
  const { status, headers } = await answer;
  assert.deepEqual([status, headers[errorCode]], [404, 'ERR_GATEHOUSE_3200']);
});

test('a request that has waited must pass what the agent asks for now', async (t) => {
  const { gateway, agent, upstream, waiting } = await start(t);
  const answer = sendRaw(gateway.port, get('/'));
  await waiting(1);
  const asked = basicAuth.accept({ credentials: [{ username: 'ada', password: 'p' }] });
  await gateway.set(edgeWith({ basic_auth: asked }), tunnelBackend('ep_1', [agent]));
  assert.equal((await answer).status, 401);
  assert.equal(upstream.seen.length, 0);
});

test('a request that has waited must pass the restrictions that are enforced now', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const answer = sendRaw(gateway.port, get('/'));
  await waiting(1);
  await gateway.set(restriction('rst', true, 'none'));
  await comeBack();
  assert.equal((await answer).headers[errorCode], 'ERR_GATEHOUSE_3205');
  assert.equal(upstream.seen.length, 0);
});

test('one account has a quarter of the places, and further visitors are answered at once', async (t) => {
  const { gateway, waiting, comeBack } = await start(t, { agentWaiting: 8 });
  const waited = [sendRaw(gateway.port, get('/1')), sendRaw(gateway.port, get('/2'))];
  await waiting(2);
  const { status, headers, body } = await sendRaw(gateway.port, get('/3'));
  assert.deepEqual([status, headers[errorCode], headers['retry-after']], [503, 'ERR_GATEHOUSE_20140', '1']);
  assert.match(body, /GATEHOUSE_AGENT_WAITING/);
  await until(() => gateway.refused.agent_waiting === 1, 'the metric');
  await comeBack();
  for (const answer of waited) assert.equal((await answer).status, 200);
  await waiting(0);
});

test('a client that leaves gives up its place, and nothing of it reaches the program', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const client = await connectClient(gateway.port);
  client.write(get('/'));
  await waiting(1);
  client.destroy();
  await waiting(0);
  await until(() => gateway.answered.some(({ status }) => status === 499), 'it is logged');
  await comeBack();
  assert.equal((await sendRaw(gateway.port, get('/next'))).status, 200);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ['/next'],
  );
});

test('requests behind one that waits on the same connection keep their order', async (t) => {
  const { gateway, upstream, waiting, comeBack } = await start(t);
  const client = await connectClient(gateway.port);
  client.write('GET /1 HTTP/1.1\r\nHost: app.test\r\n\r\n' + get('/2'));
  await waiting(1);
  await comeBack();
  const text = await readAll(client);
  assert.equal(parseAnswer(text).status, 200);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ['/1', '/2'],
  );
});

test('a TCP connection waits with its bytes, and passes them on once', async (t) => {
  const port = await freePort();
  const { upstream, waiting, comeBack } = await start(t, {}, [tcpEdge('ep_1', [port], toTcpBackend('ep_1'))]);
  const client = dial(t, port);
  client.socket.write(get('/tcp', 'Host: any'));
  await waiting(1);
  await comeBack();
  await until(() => client.text.includes('GET /tcp'), 'the answer');
  assert.equal(upstream.seen.length, 1);
});

test('a TCP connection that has waited long enough is reset', async (t) => {
  const port = await freePort();
  const bounds = { agentWaitMs: 100 };
  const { gateway, agents } = await start(t, bounds, [tcpEdge('ep_1', [port], toTcpBackend('ep_1'))]);
  const client = dial(t, port);
  await client.isReset();
  await until(() => gateway.tcpClosed.length === 1, 'it is reported');
  assert.equal(gateway.tcpClosed[0]?.reason, 'connect failed');
  assert.deepEqual(agents.dialled, []);
});

test('a TCP connection that is called in vain again and again waits no longer for it', async (t) => {
  const port = await freePort();
  const edge = tcpEdge('ep_1', [port], toTcpBackend('ep_1'));
  const { gateway, waiting } = await start(t, { agentWaitMs: 500 }, [edge]);
  const client = dial(t, port);
  await waiting(1);
  const calls = setInterval(() => void gateway.set(expected), 50);
  t.after(() => clearInterval(calls));
  await client.isReset();
  clearInterval(calls);
  await until(() => gateway.tcpClosed.length === 1, 'it is reported');
  assert.equal(gateway.tcpClosed[0]?.reason, 'connect failed');
});

test('a TCP connection that waits is reset when the rules refuse it', async (t) => {
  const port = await freePort();
  const edge = tcpEdge('ep_1', [port], toTcpBackend('ep_1'));
  const { gateway, agents, agent, waiting } = await start(t, {}, [edge]);
  const client = dial(t, port);
  await waiting(1);
  const denied = { enabled: true, allow: ['127.0.0.9/32'], deny: [] };
  const guarded = tcpEdge('ep_1', [port], toTcpBackend('ep_1', { cidr_restriction: denied }));
  await gateway.set(guarded, tunnelBackend('ep_1', [agent]));
  await client.isReset();
  assert.deepEqual(agents.dialled, []);
  await waiting(0);
});

test('a TCP connection beyond the places is reset at once', async (t) => {
  const port = await freePort();
  const edge = tcpEdge('ep_1', [port], toTcpBackend('ep_1'));
  const { gateway, waiting } = await start(t, { agentWaiting: 4 }, [edge]);
  dial(t, port);
  await waiting(1);
  await dial(t, port).isReset();
  assert.equal(gateway.tcpClosed[0]?.reason, 'too many wait');
});

test('a TCP client that leaves gives up its place, by an end or by a reset', async (t) => {
  const port = await freePort();
  const { gateway, waiting, agent, comeBack } = await start(t, {}, [tcpEdge('ep_1', [port], toTcpBackend('ep_1'))]);
  for (const leave of ['destroy', 'resetAndDestroy'] as const) {
    const client = dial(t, port);
    await waiting(1);
    client.socket[leave]();
    await waiting(0);
  }
  const spoke = dial(t, port);
  spoke.socket.write('hello');
  await waiting(1);
  spoke.socket.resetAndDestroy();
  await waiting(0);
  await until(() => gateway.tcpClosed.length === 3, 'all are logged');
  assert.deepEqual(
    gateway.tcpClosed.map(({ reason }) => reason),
    ['client', 'client', 'client'],
  );
  await until(() => gateway.inUse.backend_connections === 0, 'no place at the backend is lost');
  await comeBack();
  assert.equal(agent.visitors.length, 0);
});

test('a TCP client that has asked and ended its direction still gets its answer', async (t) => {
  const port = await freePort();
  const { waiting, comeBack } = await start(t, {}, [tcpEdge('ep_1', [port], toTcpBackend('ep_1'))]);
  const client = dial(t, port);
  client.socket.end(get('/half', 'Host: any'));
  await waiting(1);
  await comeBack();
  await until(() => client.text.includes('GET /half'), 'the answer');
});
