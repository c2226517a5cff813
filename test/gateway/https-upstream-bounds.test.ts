import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';

import type { GatewayBounds } from '../../src/gateway/bounds/bound.ts';
import { connectClient, get, openHttp2, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { TestGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** Starts an upstream that holds requests until they are released, in the order in which they came, and others not. */
async function startHolding() {
  const held: { readonly url: string; readonly response: ServerResponse }[] = [];
  const upstream = await startUpstream((request, response) => {
    const { url = '' } = request;
    if (url.startsWith('/held')) held.push({ url, response });
    else response.end('at once');
  });
  const urls = (): readonly string[] => upstream.seen.map(({ url }) => url);
  const release = (): void => void held.shift()?.response.end('released');
  return Object.assign(upstream, { urls, release });
}

/** Starts a gateway with three backends: two of one account, the third of another. All lead to one upstream. */
function gatewayTo(port: number, bounds: Partial<GatewayBounds>): Promise<TestGateway> {
  const backends = ['bkdsc_1', 'bkdsc_2', 'bkdsc_3'].map((id) => backendEntry(id, port));
  return startGateway(
    [
      ...backends,
      edgeEntry('edg_1', ['app.test'], [prefixRoute('/', toBackend('bkdsc_1'))]),
      edgeEntry('edg_2', ['second.test'], [prefixRoute('/', toBackend('bkdsc_2'))]),
      edgeEntry('edg_3', ['other.test'], [prefixRoute('/', toBackend('bkdsc_3'))], 'acc_2'),
    ],
    { bounds },
  );
}

function ask(gateway: TestGateway, path: string, servername = 'app.test') {
  return sendRaw(gateway.port, get(path, `Host: ${servername}`), { servername });
}

function errorCode({ headers }: Awaited<ReturnType<typeof sendRaw>>): string | undefined {
  return headers['gatehouse-error-code'];
}

/** Sends a request and returns a function that leaves without its answer. */
async function begin(t: TestContext, gateway: TestGateway, path: string): Promise<() => void> {
  const socket = await connectClient(gateway.port);
  t.after(() => socket.destroy());
  socket.on('error', () => {}).write(get(path));
  return () => void socket.destroy();
}

suite('a backend whose connections are all in use', () => {
  test('lets a few requests wait, serves them in the order they came, and answers 503 to more', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 2, backendQueue: 2 });
    const answers = [ask(gateway, '/held/1'), ask(gateway, '/held/2')];
    await until(() => upstream.seen.length === 2, 'both are under way');
    answers.push(ask(gateway, '/held/3'));
    await until(() => gateway.inUse.backend_queue === 1, 'one waits');
    answers.push(ask(gateway, '/held/4'));
    await until(() => gateway.inUse.backend_queue === 2, 'two wait');
    assert.equal(gateway.inUse.backend_connections, 2);

    const refused = await ask(gateway, '/held/5');
    assert.deepEqual([refused.status, errorCode(refused)], [503, 'ERR_GATEHOUSE_20115']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.match(refused.body, /GATEHOUSE_BACKEND_QUEUE/);
    await until(() => gateway.refused.backend_queue === 1, 'it is counted');
    assert.equal(upstream.seen.length, 2);
    assert.equal((await ask(gateway, '/', 'second.test')).body, 'at once', 'another backend is not concerned');

    for (const place of [3, 4]) {
      upstream.release();
      await until(() => upstream.urls().includes(`/held/${place}`), `number ${place} has its turn`);
      assert.equal(upstream.urls().includes('/held/4'), place === 4);
    }
    upstream.release();
    upstream.release();
    assert.deepEqual(
      (await Promise.all(answers)).map(({ body }) => body),
      Array.from({ length: 4 }, () => 'released'),
    );
  });

  test('answers 503 to a request that has waited too long', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 1, backendQueueMs: 100 });
    const first = ask(gateway, '/held');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const refused = await ask(gateway, '/late');
    assert.deepEqual([refused.status, errorCode(refused)], [503, 'ERR_GATEHOUSE_20116']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.match(refused.body, /GATEHOUSE_BACKEND_QUEUE_SECONDS/);
    await until(() => gateway.refused.backend_queue_seconds === 1, 'it is counted');
    upstream.release();
    assert.equal((await first).body, 'released');
    assert.equal((await ask(gateway, '/')).body, 'at once');
  });

  test('gives the place of a client that has left to the next', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 1, backendQueue: 1 });
    const first = ask(gateway, '/held');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const leave = await begin(t, gateway, '/left');
    await until(() => gateway.inUse.backend_queue === 1, 'it waits');
    leave();
    await until(() => gateway.inUse.backend_queue === 0, 'it waits no more');
    const next = ask(gateway, '/next');
    await until(() => gateway.inUse.backend_queue === 1, 'the next one waits');
    upstream.release();
    assert.equal((await first).body, 'released');
    assert.equal((await next).body, 'at once');
    assert.deepEqual(upstream.urls(), ['/held', '/next']);
  });

  test('has them again when clients leave in the middle of their requests', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 2, backendQueue: 0 });
    const leave = [await begin(t, gateway, '/held/1'), await begin(t, gateway, '/held/2')];
    await until(() => upstream.seen.length === 2, 'both are under way');
    assert.equal(errorCode(await ask(gateway, '/')), 'ERR_GATEHOUSE_20115');
    for (const each of leave) each();
    await until(() => gateway.inUse.backend_connections === 0, 'none is in use');
    assert.equal((await ask(gateway, '/')).body, 'at once');
  });

  test('has one again that went from a request to the next in the queue, when that one leaves', async (t) => {
    await using upstream = await startHolding();
    const bounds = { accountConnections: 1, backendConnections: 1, backendQueue: 1 };
    await using gateway = await gatewayTo(upstream.port, bounds);
    const first = ask(gateway, '/held/1');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const leave = await begin(t, gateway, '/held/2');
    await until(() => gateway.inUse.backend_queue === 1, 'the next one waits');
    upstream.release();
    assert.equal((await first).body, 'released');
    await until(() => upstream.seen.length === 2, 'the next one has its turn');
    assert.deepEqual([upstream.connections, gateway.inUse.backend_connections], [1, 1]);
    leave();
    await until(() => gateway.inUse.backend_connections === 0, 'none is in use');
    assert.equal((await ask(gateway, '/')).body, 'at once');
  });

  test('has them again after failed connects', async () => {
    await using gateway = await gatewayTo(1, { backendConnections: 1, backendQueue: 0 });
    for (let at = 0; at < 5; at++) assert.equal(errorCode(await ask(gateway, '/')), 'ERR_GATEHOUSE_3006');
  });

  test('counts connections that have changed protocol, until they close', async () => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
    await using upstream = await startRawUpstream((socket) => void socket.write(head));
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 1, backendQueue: 0 });
    const socket = await connectClient(gateway.port);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n');
    await until(() => text.startsWith('HTTP/1.1 101'), 'the protocol has changed');
    assert.equal(errorCode(await ask(gateway, '/')), 'ERR_GATEHOUSE_20115');
    socket.destroy();
    await until(() => gateway.inUse.backend_connections === 0, 'the connection is closed');
    assert.equal(upstream.connections, 1);
  });

  test('keeps 200 open bodies of one client to as many connections, and the client is told', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { backendConnections: 10, backendQueue: 5 });
    const session = openHttp2(gateway.port);
    session.on('error', () => {});
    const statuses: number[] = [];
    for (let at = 0; at < 200; at++) {
      const stream = session.request({ ':method': 'POST', ':path': '/held', ':authority': 'app.test' });
      stream.on('error', () => {}).on('response', (head) => statuses.push(Number(head[':status'])));
      stream.write('never ends');
    }
    await until(() => statuses.length === 185, 'the others are refused');
    assert.deepEqual(new Set(statuses), new Set([503]));
    await until(() => upstream.connections === 10, 'as many as may be are connected');
    assert.equal((await ask(gateway, '/', 'other.test')).body, 'at once');
    session.destroy();
    await until(() => gateway.inUse.backend_connections === 0, 'all are closed');
  });
});

test('an account has its share of connections, whatever its backends may have', async () => {
  await using upstream = await startHolding();
  await using gateway = await gatewayTo(upstream.port, { accountConnections: 2 });
  const answers = [ask(gateway, '/held/1'), ask(gateway, '/held/2', 'second.test')];
  await until(() => upstream.seen.length === 2, 'both are under way');
  const refused = await ask(gateway, '/');
  assert.deepEqual([refused.status, errorCode(refused)], [503, 'ERR_GATEHOUSE_20117']);
  assert.equal(refused.headers['retry-after'], '1');
  await until(() => gateway.refused.account_connections === 1, 'it is counted');
  assert.equal(gateway.inUse.account_connections, 2);
  assert.equal((await ask(gateway, '/', 'other.test')).body, 'at once');
  upstream.release();
  upstream.release();
  await Promise.all(answers);
  assert.equal((await ask(gateway, '/')).body, 'at once');
});

suite('connections to all backends together', () => {
  test('are bounded: a request beyond them is answered with 503', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { upstreamConnections: 2 });
    const answers = [ask(gateway, '/held/1'), ask(gateway, '/held/2', 'other.test')];
    await until(() => upstream.seen.length === 2, 'both are under way');
    const refused = await ask(gateway, '/', 'second.test');
    assert.deepEqual([refused.status, errorCode(refused)], [503, 'ERR_GATEHOUSE_20118']);
    assert.equal(refused.headers['retry-after'], '1');
    await until(() => gateway.refused.upstream_connections === 1, 'it is counted');
    assert.equal(gateway.inUse.upstream_connections, 2);
    upstream.release();
    upstream.release();
    await Promise.all(answers);
  });

  test('give up one that is idle for a request to another backend', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { upstreamConnections: 1 });
    for (const host of ['app.test', 'second.test', 'other.test', 'app.test']) {
      assert.equal((await ask(gateway, '/', host)).body, 'at once', host);
    }
    assert.equal(upstream.connections, 4);
  });
});

test('a thousand requests one after another, and at once, leave no place taken', async () => {
  await using upstream = await startHolding();
  await using gateway = await gatewayTo(upstream.port, { backendConnections: 8, backendQueue: 1000 });
  const session = openHttp2(gateway.port);
  for (let round = 0; round < 5; round++) {
    const answers = Array.from({ length: 200 }, () => requestHttp2(session, { ':path': '/' }));
    for (const { body } of await Promise.all(answers)) assert.equal(body, 'at once');
  }
  session.destroy();
  assert.ok(upstream.connections <= 8, `${upstream.connections} connections`);
  await until(() => gateway.inUse.backend_connections === 0, 'none is in use');
  assert.equal(gateway.refused.backend_queue ?? 0, 0);
});

test('a bound that is reached many times is logged once a minute', async () => {
  await using upstream = await startHolding();
  await using gateway = await gatewayTo(upstream.port, { backendConnections: 1, backendQueue: 0 });
  const socket = await connectClient(gateway.port);
  const all = readAll(socket);
  socket.write(get('/held'));
  await until(() => upstream.seen.length === 1, 'it is under way');
  for (let at = 0; at < 5; at++) await ask(gateway, '/');
  const lines = gateway.logged.filter(({ fields }) => 'bound' in fields);
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [{ bound: 'backend_queue', limit: 0, code: 20115, refused: 1, backendId: 'bkdsc_1' }],
  );
  upstream.release();
  await all;
});
