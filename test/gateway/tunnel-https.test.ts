import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as requestHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import { TunnelFault } from '../../src/gateway/tunnels/dialer.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { connectClient, get, readAll, sendRaw } from './support/https-client.ts';
import { allowPolicy, edgeEntry, ipRestriction, prefixRoute, restriction, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startHeldUpstream, startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const edge = edgeEntry('ep_1', ['app.test'], [prefixRoute('/', toBackend('ep_1'))]);
const errorCode = 'gatehouse-error-code';

test('requests of different clients share a stream, and the agent is told of the first', async (t) => {
  await using upstream = await startUpstream();
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  for (const localAddress of ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress })).status, 200);
  assert.equal(agents.dialled.length, 1);
  assert.match(agent.visitors[0]?.clientAddr ?? '', /^127\.0\.0\.1:[1-9]\d*$/);
  assert.deepEqual(
    agent.visitors.map(({ proto, passthroughTls }) => [proto, passthroughTls]),
    [['https', false]],
  );
});

test('a stream that the upstream ends while it is idle is not used again', async (t) => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    // Once the answer has arrived, so that the stream is idle.
    setTimeout(() => socket.end(), 50);
  });
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  for (let round = 0; round < 3; round++) {
    assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
    await until(() => agents.dialer.load(agent.tunnel) === 0, 'the stream is gone');
  }
  assert.equal(agents.dialled.length, 3);
});

test('an endpoint without an agent is offline, with an error that says so', async (t) => {
  const agents = await startAgents(t);
  await using upstream = await startUpstream();
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [])], { dialer: agents.dialer });
  const none = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([none.status, none.headers[errorCode]], [503, 'ERR_GATEHOUSE_3200']);
  assert.match(none.body, /no agent is connected/);
  assert.equal(none.headers['retry-after'], '1');
  await gateway.set(tunnelBackend('ep_1', [agent]));
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  agent.agent.socket.destroy();
  await until(() => agents.dialer.load(agent.tunnel) === 0, 'the session is gone');
  const gone = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([gone.status, gone.headers[errorCode]], [503, 'ERR_GATEHOUSE_3200']);
  await gateway.remove({ kind: 'tunnel_backend', id: 'ep_1' });
  assert.equal((await sendRaw(gateway.port, get('/'))).headers[errorCode], 'ERR_GATEHOUSE_6528');
});

test('a way that cannot be had within the connect limit is given up, and what comes of it later is closed', async () => {
  const { promise, resolve } = Promise.withResolvers<never>();
  const late = { dial: () => promise, load: () => 0 };
  const entry = { kind: 'tunnel_backend', id: 'ep_1', tunnels: [{ id: 'tn_1', holder: 'far' }] } as const;
  await using gateway = await startGateway([edge, entry], { dialer: late, timeouts: { upstreamConnectMs: 100 } });
  const answer = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([answer.status, answer.headers[errorCode]], [503, 'ERR_GATEHOUSE_3200']);
  const destroyed = new Promise<void>((done) => {
    // Only what the gateway does with a stream that comes too late.
    resolve({ on: () => {}, destroyed: false, destroy: done } as never);
  });
  await destroyed;
});

test('an agent without room for another stream has an error of its own', async (t) => {
  await using upstream = await startHeldUpstream('', 'done');
  const agents = await startAgents(t, { streamsPerSession: { rust: 512, other: 12 + 1 } });
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  const one = sendRaw(gateway.port, get('/1'));
  await until(() => upstream.seen.length === 1, 'the stream is in use');
  const full = await sendRaw(gateway.port, get('/2'));
  assert.deepEqual([full.status, full.headers[errorCode]], [503, 'ERR_GATEHOUSE_20150']);
  upstream.release();
  assert.equal((await one).status, 200);
});

test('the next tunnel is dialled when one is full or gone', async (t) => {
  await using upstream = await startUpstream();
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  const dialled: string[] = [];
  const dialer: typeof agents.dialer = {
    load: () => 0,
    dial: (tunnel, visitor) => {
      dialled.push(tunnel.id);
      if (tunnel.id === agent.tunnel.id) return agents.dialer.dial(tunnel, visitor);
      return Promise.reject(new TunnelFault(tunnel.id === 'tn_full' ? 'full' : 'gone', 'no way'));
    },
  };
  const tunnels = [{ id: 'tn_full', holder: 'x' }, { id: 'tn_gone', holder: 'x' }, agent.tunnel];
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [], { tunnels })], { dialer });
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.deepEqual(dialled, ['tn_full', 'tn_gone', agent.tunnel.id]);
});

test('requests are spread over the agents of an endpoint: the one with the fewest under way is next', async (t) => {
  await using held = await startHeldUpstream('', 'done');
  await using quick = await startUpstream();
  const agents = await startAgents(t);
  const [slow, fast] = [await agents.start(held.port), await agents.start(quick.port)];
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [slow, fast])], { dialer: agents.dialer });
  const stuck = sendRaw(gateway.port, get('/'));
  await until(() => held.seen.length === 1, 'the first agent has a request');
  for (let round = 0; round < 4; round++) assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.deepEqual([held.seen.length, quick.seen.length], [1, 4]);
  held.release();
  assert.equal((await stuck).status, 200);
});

test('agents that are equally idle take turns, on streams that are kept', async (t) => {
  await using one = await startUpstream();
  await using two = await startUpstream();
  const agents = await startAgents(t);
  const both = [await agents.start(one.port), await agents.start(two.port)];
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', both)], { dialer: agents.dialer });
  for (let round = 0; round < 6; round++) assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.deepEqual([one.seen.length, two.seen.length], [3, 3]);
  assert.equal(agents.dialled.length, 2);
});

test('a program behind an agent that is not there is told from an agent that is not', async (t) => {
  const upstream = await startUpstream();
  const { port } = upstream;
  await upstream[Symbol.asyncDispose]();
  const agents = await startAgents(t);
  const agent = await agents.start(port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  const answer = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([answer.status, answer.headers[errorCode]], [502, 'ERR_GATEHOUSE_8012']);
});

for (const version of [1, 2] as const) {
  test(`with PROXY protocol ${version} each request has a stream that starts with its client`, async (t) => {
    await using upstream = await startRawUpstream((socket, received) => {
      if (received.includes('\r\n\r\n')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    const agents = await startAgents(t);
    const agent = await agents.start(upstream.port);
    const backend = tunnelBackend('ep_1', [agent], { proxyProtocol: version });
    await using gateway = await startGateway([edge, backend], { dialer: agents.dialer });
    for (const localAddress of ['127.0.0.1', '127.0.0.2'])
      assert.equal((await sendRaw(gateway.port, get('/'), { localAddress })).status, 200);
    assert.equal(upstream.connections, 2);
    const ends = (ip: number) => `\x7f\0\0${String.fromCharCode(ip)}\x7f\0\0\x01`;
    const starts =
      version === 1
        ? ['PROXY TCP4 127.0.0.1 127.0.0.1 ', 'PROXY TCP4 127.0.0.2 127.0.0.1 ']
        : [`QUIT\n\x21\x11\0\x0c${ends(1)}`, `QUIT\n\x21\x11\0\x0c${ends(2)}`];
    for (const start of starts) assert.ok(upstream.received.includes(start), start);
  });
}

test('streams through agents are connections in the bounds: a request above them waits for its turn', async (t) => {
  await using upstream = await startHeldUpstream('', 'done');
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], {
    dialer: agents.dialer,
    bounds: { backendConnections: 1, backendQueue: 1 },
  });
  const first = sendRaw(gateway.port, get('/1'));
  await until(() => upstream.seen.length === 1, 'the first request is under way');
  const second = sendRaw(gateway.port, get('/2'));
  await until(() => gateway.inUse.backend_queue === 1, 'the second waits');
  assert.equal((await sendRaw(gateway.port, get('/3'))).headers[errorCode], 'ERR_GATEHOUSE_20115');
  upstream.release();
  assert.equal((await first).status, 200);
  await until(() => upstream.seen.length === 2, 'the second is under way');
  upstream.release();
  assert.equal((await second).status, 200);
  assert.equal(agents.dialled.length, 1);
});

test('a kept stream is dropped when its tunnel is taken from the endpoint', async (t) => {
  await using one = await startUpstream();
  await using two = await startUpstream();
  const agents = await startAgents(t);
  const [old, next] = [await agents.start(one.port), await agents.start(two.port)];
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [old])], { dialer: agents.dialer });
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  await gateway.set(tunnelBackend('ep_1', [next]));
  // `close` comes a turn after the stream is destroyed.
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(agents.dialer.load(old.tunnel), 0, 'the change itself has closed it, not a limit of time');
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.deepEqual([one.seen.length, two.seen.length], [1, 1]);
});

test('20 MB each way arrive as they were sent', async (t) => {
  const payload = randomBytes(20 * 1024 * 1024);
  const hash = createHash('sha256').update(payload).digest('hex');
  await using upstream = await startUpstream((_request, response, body) => {
    const received = createHash('sha256').update(Buffer.from(body, 'latin1')).digest('hex');
    response.setHeader('X-Received', received).end(payload);
  });
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  const asked = requestHttps({
    port: gateway.port,
    method: 'PUT',
    ca: edgeCertificate.certificate,
    servername: 'app.test',
  });
  asked.setHeader('Host', 'app.test').end(payload);
  // The event `response` of a request has this argument.
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  const digest = createHash('sha256');
  for await (const chunk of answer) digest.update(chunk as Buffer);
  assert.equal(answer.headers['x-received'], hash);
  assert.equal(digest.digest('hex'), hash);
});

test('a client that does not read stalls nobody else on the same agent', async (t) => {
  const large = Buffer.alloc(32 * 1024 * 1024, 7);
  let sent = 0;
  await using upstream = await startUpstream((request, response) => {
    if (request.url !== '/large') {
      response.end('small');
      return;
    }
    response.on('drain', () => sent++);
    for (let at = 0; at < large.length; at += 65_536) response.write(large.subarray(at, at + 65_536));
    response.end();
  });
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  await using gateway = await startGateway([edge, tunnelBackend('ep_1', [agent])], { dialer: agents.dialer });
  const slow = await connectClient(gateway.port);
  slow.pause();
  slow.write(get('/large'));
  await until(() => upstream.seen.length === 1, 'the slow client is being served');
  for (let round = 0; round < 20; round++) assert.equal((await sendRaw(gateway.port, get('/'))).body, 'small');
  assert.equal(sent, 0, 'the upstream of the slow client still waits');
  const text = await readAll(slow.resume());
  assert.ok(text.length > large.length);
});

test('rules that change refuse new requests and close an open upgraded connection through an agent', async (t) => {
  await using upstream = await startRawUpstream((socket, received) => {
    if (received.includes('Upgrade: echo'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  const guarded = edgeEntry(
    'ep_1',
    ['app.test'],
    [prefixRoute('/', { ...toBackend('ep_1'), ...ipRestriction('own') })],
  );
  const entries = [tunnelBackend('ep_1', [agent]), allowPolicy('own', '127.0.0.0/8'), guarded];
  for (const narrowing of ['policy', 'restriction', 'removal'] as const) {
    await using gateway = await startGateway([...entries, allowPolicy('all', '0.0.0.0/0')], { dialer: agents.dialer });
    const client = await connectClient(gateway.port);
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
    client.write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    await until(() => text.endsWith('up'), 'the upgrade');
    await gateway.set(allowPolicy('all', '10.0.0.0/8'));
    assert.equal(client.destroyed, false, 'a change of another rule closes nothing');
    const closed = once(client, 'close');
    if (narrowing === 'policy') await gateway.set(allowPolicy('own', '10.0.0.0/8'));
    if (narrowing === 'restriction') await gateway.set(restriction('rst', true, 'all'));
    if (narrowing === 'removal') await gateway.remove({ kind: 'https_edge', id: 'ep_1' });
    await closed;
    await until(() => agents.dialer.load(agent.tunnel) === 0, 'the stream is closed too');
    const expected = { policy: '3203', restriction: '3205', removal: '3200' }[narrowing];
    assert.equal((await sendRaw(gateway.port, get('/'))).headers[errorCode], `ERR_GATEHOUSE_${expected}`);
  }
});
