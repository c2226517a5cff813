import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import type { Bound } from '../../src/gateway/bounds/bound.ts';
import { connectClient, get, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import type { RawAnswer } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings, TestGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** The bounds that follow from 1,024 open files. */
const shares = { backendConnections: 96, backendSourceConnections: 24, backendQueue: 100, backendSourceQueue: 25 };

function gatewayTo(port: number, settings: GatewaySettings): Promise<TestGateway> {
  const routes = [prefixRoute('/', toBackend('bkdsc_1'))];
  return startGateway([backendEntry('bkdsc_1', port), edgeEntry('edg_1', ['app.test'], routes)], settings);
}

/** Starts an upstream that never answers requests for `/held…`, until they are released in the order they came. */
async function startHolding() {
  const held: ServerResponse[] = [];
  const upstream = await startUpstream((request, response) => {
    if (request.url?.startsWith('/held') === true) held.push(response);
    else response.end('at once');
  });
  const urls = (): readonly string[] => upstream.seen.map(({ url }) => url);
  return Object.assign(upstream, { urls, release: () => void held.shift()?.end('released') });
}

function ask(gateway: TestGateway, path: string, localAddress: string, ...headers: string[]): Promise<RawAnswer> {
  return sendRaw(gateway.port, get(path, ...headers), { localAddress });
}

/** Sends a request and returns a function that leaves without its answer. */
async function begin(t: TestContext, gateway: TestGateway, request: string, from: string): Promise<() => void> {
  const socket = await connectClient(gateway.port, { localAddress: from });
  t.after(() => socket.destroy());
  socket.on('error', () => {}).write(request);
  return () => void socket.destroy();
}

/** Sends requests one after another, each of which waits in the queue. */
async function queueUp(t: TestContext, gateway: TestGateway, requests: readonly (readonly [string, string])[]) {
  const leave = [];
  for (const [path, from] of requests) {
    const waiting = gateway.inUse.backend_queue ?? 0;
    leave.push(await begin(t, gateway, get(path), from));
    await until(() => gateway.inUse.backend_queue === waiting + 1, `${path} waits`);
  }
  return leave;
}

async function openHttp2From(t: TestContext, gateway: TestGateway, localAddress: string): Promise<ClientHttp2Session> {
  const socket = await connectClient(gateway.port, { localAddress, alpn: ['h2'] });
  const session = connectHttp2('https://app.test', { createConnection: () => socket });
  t.after(() => {
    session.destroy();
  });
  return session.on('error', () => {});
}

const errorCode = ({ headers }: RawAnswer): string | undefined => headers['gatehouse-error-code'];

async function nothingIsLeft(gateway: TestGateway): Promise<void> {
  const bounds: readonly Bound[] = [
    'backend_connections',
    'backend_source_connections',
    'backend_queue',
    'backend_source_queue',
  ];
  await until(() => bounds.every((bound) => (gateway.inUse[bound] ?? 0) === 0), 'nothing is in use, and nothing waits');
}

suite('one source has a share of the connections to a backend:', () => {
  test('250 open bodies on one HTTP/2 connection leave the others to another address, which is served at once', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds: shares });
    const session = await openHttp2From(t, gateway, '127.0.0.2');
    const codes: unknown[] = [];
    for (let at = 0; at < 250; at++) {
      const stream = session.request({ ':method': 'POST', ':path': '/held' });
      stream.on('error', () => {}).on('response', (head) => codes.push(head['gatehouse-error-code']));
      stream.write('never ends');
    }
    await until(() => codes.length === 250 - 24 - 25, 'those that may not wait are refused');
    assert.deepEqual(new Set(codes), new Set(['ERR_GATEHOUSE_20127']));
    await until(() => gateway.inUse.backend_source_queue === 25, 'others wait');
    await until(() => upstream.connections === 24, 'a share is connected');
    for (let at = 0; at < 5; at++) {
      assert.equal((await ask(gateway, '/', '127.0.0.9')).body, 'at once');
      assert.equal((await ask(gateway, '/', '127.0.0.10')).body, 'at once');
    }
    assert.equal(gateway.inUse.backend_source_connections, 24);
    assert.equal(gateway.inUse.backend_queue, 25, 'those of the first still wait');
    session.destroy();
    await nothingIsLeft(gateway);
  });

  test('a request beyond it waits, and is answered with 429 when it has waited too long', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { backendSourceConnections: 1, backendQueueMs: 100 },
    });
    const first = ask(gateway, '/held', '127.0.0.2');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const refused = await ask(gateway, '/', '127.0.0.2');
    assert.deepEqual([refused.status, errorCode(refused)], [429, 'ERR_GATEHOUSE_20126']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.match(refused.body, /GATEHOUSE_BACKEND_SOURCE_CONNECTIONS/);
    await until(() => gateway.refused.backend_source_connections === 1, 'it is counted');
    assert.deepEqual(
      gateway.logged.map(({ fields }) => fields),
      [
        {
          bound: 'backend_source_connections',
          limit: 1,
          code: 20126,
          refused: 1,
          backendId: 'bkdsc_1',
          source: '127.0.0.2',
        },
      ],
    );
    upstream.release();
    assert.equal((await first).body, 'released');
    assert.equal((await ask(gateway, '/', '127.0.0.2')).body, 'at once');
  });

  test('a request that waits is served when one of its source has ended, on the same connection', async () => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds: { backendSourceConnections: 1 } });
    const first = ask(gateway, '/held', '127.0.0.2');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const second = ask(gateway, '/', '127.0.0.2');
    await until(() => gateway.inUse.backend_queue === 1, 'another waits');
    upstream.release();
    assert.equal((await first).body, 'released');
    assert.equal((await second).body, 'at once');
    assert.equal(upstream.connections, 1);
    await nothingIsLeft(gateway);
  });

  test('a source may have so many places in the queue, and others find one', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { backendConnections: 1, backendQueue: 4, backendSourceQueue: 1 },
    });
    await begin(t, gateway, get('/held'), '127.0.0.2');
    await until(() => upstream.seen.length === 1, 'it is under way');
    await queueUp(t, gateway, [['/1', '127.0.0.2']]);
    const refused = await ask(gateway, '/', '127.0.0.2');
    assert.deepEqual([refused.status, errorCode(refused)], [429, 'ERR_GATEHOUSE_20127']);
    assert.equal(refused.headers['retry-after'], '1');
    assert.match(refused.body, /GATEHOUSE_BACKEND_SOURCE_QUEUE/);
    await until(() => gateway.refused.backend_source_queue === 1, 'it is counted');
    const other = ask(gateway, '/2', '127.0.0.3');
    await until(() => gateway.inUse.backend_queue === 2, 'another address waits');
    upstream.release();
    assert.equal((await other).body, 'at once');
  });
});

test('the queue serves sources in turns, and the requests of each in the order they came', async (t) => {
  await using upstream = await startHolding();
  await using gateway = await gatewayTo(upstream.port, { bounds: { backendConnections: 1 } });
  await begin(t, gateway, get('/held/0'), '127.0.0.9');
  await until(() => upstream.seen.length === 1, 'it is under way');
  await queueUp(t, gateway, [
    ['/held/a1', '127.0.0.2'],
    ['/held/a2', '127.0.0.2'],
    ['/held/a3', '127.0.0.2'],
    ['/held/b1', '127.0.0.3'],
    ['/held/b2', '127.0.0.3'],
    ['/held/c1', '127.0.0.4'],
  ]);
  const order = ['0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3'].map((name) => `/held/${name}`);
  for (let count = 2; count <= order.length; count++) {
    upstream.release();
    await until(() => upstream.seen.length === count, `${order[count - 1]} has its turn`);
  }
  assert.deepEqual(upstream.urls(), order);
  upstream.release();
  await nothingIsLeft(gateway);
});

test('a source at its bound does not hold up the queue for others', async (t) => {
  await using upstream = await startHolding();
  await using gateway = await gatewayTo(upstream.port, {
    bounds: { backendConnections: 3, backendSourceConnections: 2 },
  });
  for (const path of ['/held/a1', '/held/a2']) await begin(t, gateway, get(path), '127.0.0.2');
  await until(() => upstream.seen.length === 2, 'two of one source are under way');
  const leave = await begin(t, gateway, get('/held/b1'), '127.0.0.3');
  await until(() => upstream.seen.length === 3, 'one of another, too');
  await queueUp(t, gateway, [
    ['/held/a3', '127.0.0.2'],
    ['/held/b2', '127.0.0.3'],
  ]);
  leave();
  await until(() => upstream.seen.length === 4, 'another has its turn');
  assert.equal(upstream.urls()[3], '/held/b2');
  await until(() => gateway.inUse.backend_queue === 1, 'the one that came first waits for its source');
});

// Another source keeps a request under way: a backend without connections is forgotten, with all counts.
suite('the counts of a source go back to zero when its clients leave', () => {
  const bounds = { backendConnections: 8, backendSourceConnections: 1 };

  test('while they wait, and while the answer is awaited', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds });
    await begin(t, gateway, get('/held/other'), '127.0.0.9');
    const leave = [await begin(t, gateway, get('/held'), '127.0.0.2')];
    await until(() => upstream.seen.length === 2, 'both are under way');
    const waits = await queueUp(t, gateway, [
      ['/1', '127.0.0.2'],
      ['/2', '127.0.0.2'],
    ]);
    assert.equal(gateway.inUse.backend_source_queue, 2);
    for (const each of [...waits, ...leave]) each();
    assert.equal((await ask(gateway, '/', '127.0.0.2')).body, 'at once');
    assert.deepEqual(upstream.urls().slice(2), ['/']);
  });

  test('in the middle of the body, and of the answer', async (t) => {
    await using upstream = await startRawUpstream((socket, received) => {
      if (received.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf');
    });
    await using gateway = await gatewayTo(upstream.port, { bounds });
    const body = 'POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 10\r\n\r\nhalf';
    await begin(t, gateway, body, '127.0.0.9');
    for (const [at, request] of [body, get('/'), body].entries()) {
      await until(() => upstream.connections === at + 1, 'the one before has its connection');
      const leave = await begin(t, gateway, request, '127.0.0.2');
      await until(() => upstream.connections === at + 2, 'it has one, too');
      leave();
    }
  });

  test('after an upgrade', async (t) => {
    const head = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
    await using upstream = await startRawUpstream((socket) => void socket.write(head));
    await using gateway = await gatewayTo(upstream.port, { bounds });
    const request = 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n';
    await begin(t, gateway, request, '127.0.0.9');
    for (let count = 1; count < 4; count++) {
      await until(() => upstream.connections === count, 'the one before has its connection');
      const leave = await begin(t, gateway, request, '127.0.0.2');
      await until(() => upstream.connections === count + 1, 'it has one, too');
      leave();
    }
  });

  test('while the connection to the upstream is made, and after failed connects', async (t) => {
    await using upstream = await startRawUpstream(() => {});
    await using gateway = await gatewayTo(upstream.port, { bounds });
    await gateway.set(backendEntry('bkdsc_1', upstream.port, { tls: true }));
    const leave = await begin(t, gateway, get('/'), '127.0.0.2');
    await until(() => gateway.inUse.backend_source_connections === 1, 'the handshake has begun');
    leave();
    await nothingIsLeft(gateway);
    await gateway.set(backendEntry('bkdsc_1', 1));
    for (let at = 0; at < 3; at++) assert.equal(errorCode(await ask(gateway, '/', '127.0.0.2')), 'ERR_GATEHOUSE_3006');
  });

  test('in the read that brought their requests', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds });
    const session = await openHttp2From(t, gateway, '127.0.0.2');
    for (let at = 0; at < 20; at++) {
      const stream = session.request({ ':path': '/held' }).on('error', () => {});
      setImmediate(() => {
        stream.close(8);
      });
    }
    assert.equal((await requestHttp2(session, { ':path': '/' })).body, 'at once');
    assert.equal((await ask(gateway, '/', '127.0.0.2')).body, 'at once');
  });
});

suite('the source that counts', () => {
  const bounds = { backendSourceConnections: 1, backendSourceQueue: 0 };
  const trustedProxies = ['127.0.0.1/32'];

  test('is the address that X-Forwarded-For of a trusted proxy gives', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds, trustedProxies });
    await begin(t, gateway, get('/held', 'X-Forwarded-For: 203.0.113.1'), '127.0.0.1');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const asks = async (client: string): Promise<number> =>
      (await ask(gateway, '/', '127.0.0.1', `X-Forwarded-For: ${client}`)).status;
    assert.equal(await asks('203.0.113.1'), 429);
    assert.equal(await asks('203.0.113.2'), 200);
    assert.equal(await asks('203.0.113.2, 203.0.113.1'), 429);
  });

  test('is the /64 network of an IPv6 address', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds, trustedProxies });
    await begin(t, gateway, get('/held', 'X-Forwarded-For: 2001:db8:0:1::1'), '127.0.0.1');
    await until(() => upstream.seen.length === 1, 'it is under way');
    const asks = async (client: string): Promise<number> =>
      (await ask(gateway, '/', '127.0.0.1', `X-Forwarded-For: ${client}`)).status;
    assert.equal(await asks('2001:db8:0:1:ffff::2'), 429);
    assert.equal(await asks('2001:db8:0:2::1'), 200);
    const sources = gateway.logged.map(({ fields }) => 'source' in fields && fields.source);
    assert.deepEqual(sources, ['2001:db8:0:1::/64']);
  });

  test('is the client that a PROXY header names', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, { bounds, trustedProxies, proxyProtocol: true });
    const open = (client: string, path: string): TLSSocket => {
      const below = connect(gateway.port, '127.0.0.1').on('error', () => {});
      t.after(() => below.destroy());
      below.write(`PROXY TCP4 ${client} 192.0.2.1 1000 443\r\n`);
      const socket = connectTls({ socket: below, servername: 'app.test', rejectUnauthorized: false });
      socket.on('error', () => {}).write(get(path));
      return socket;
    };
    const statusOf = async (client: string): Promise<number> => parseAnswer(await readAll(open(client, '/'))).status;
    open('203.0.113.1', '/held');
    await until(() => upstream.seen.length === 1, 'it is under way');
    assert.equal(await statusOf('203.0.113.1'), 429);
    assert.equal(await statusOf('203.0.113.2'), 200);
  });

  test('is nobody for a trusted proxy that names no client: it may forward for many', async (t) => {
    await using upstream = await startHolding();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { ...bounds, backendConnections: 3 },
      trustedProxies,
    });
    for (let at = 0; at < 3; at++) await begin(t, gateway, get('/held'), '127.0.0.1');
    await until(() => upstream.seen.length === 3, 'all are under way');
    await queueUp(t, gateway, [
      ['/1', '127.0.0.1'],
      ['/2', '127.0.0.1'],
    ]);
    assert.equal(gateway.inUse.backend_source_connections, 0);
  });
});
