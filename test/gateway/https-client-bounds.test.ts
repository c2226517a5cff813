import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { headersFrame } from '../e2e/gateway/support/http2-frames.ts';
import { connectClient, get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings, TestGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** The beginning of an HTTP/2 connection, with windows that hold every answer. */
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff]),
  Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0]),
]);
const goAwayFrame = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const requestFields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
  [':authority', 'app.test'],
] as const;

function gatewayTo(port: number, settings: GatewaySettings): Promise<TestGateway> {
  const edge = edgeEntry('edg_1', ['app.test'], [prefixRoute('/', toBackend('bkdsc_1'))]);
  return startGateway([backendEntry('bkdsc_1', port), edge], settings);
}

/** Opens a TLS connection and makes one request, whose answer it waits for unless it goes to `/held`. */
async function use(t: TestContext, gateway: TestGateway, path: string, localAddress = '127.0.0.1'): Promise<TLSSocket> {
  const socket = await connectClient(gateway.port, { localAddress });
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  if (path !== '/held') await once(socket, 'data');
  return socket.resume();
}

function openPlain(t: TestContext, gateway: TestGateway, localAddress: string): Socket {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', localAddress });
  t.after(() => socket.destroy());
  return socket.on('error', () => {});
}

/** Opens an HTTP/2 connection and makes a request; it stays open on this side whatever the gateway does. */
async function openStubborn(t: TestContext, gateway: TestGateway): Promise<TLSSocket> {
  const below = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
  const socket = connectTls({
    socket: below,
    servername: 'app.test',
    rejectUnauthorized: false,
    ALPNProtocols: ['h2'],
  });
  t.after(() => socket.destroy());
  socket.on('error', () => {}).resume();
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([preface, headersFrame(requestFields, true)]));
  return socket;
}

async function isClosed(socket: Socket): Promise<void> {
  await until(() => socket.closed, 'it is closed');
  assert.equal(socket.bytesRead, 0);
}

suite('connections of one source', () => {
  test('are bounded: further ones are closed before TLS, those of other sources are served', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, { bounds: { sourceConnections: 3 } });
    const open = [];
    for (let at = 0; at < 3; at++) open.push(await use(t, gateway, '/', '127.0.0.2'));
    await isClosed(openPlain(t, gateway, '127.0.0.2'));
    await assert.rejects(sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' }));
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.3' })).status, 200);
    await until(() => (gateway.refused.source_connections ?? 0) === 2, 'they are counted');
    assert.equal(gateway.inUse.source_connections, 3);
    const [line] = gateway.logged;
    assert.deepEqual(line?.fields, {
      bound: 'source_connections',
      limit: 3,
      code: 20120,
      refused: 1,
      source: '127.0.0.2',
    });
    assert.match(line?.message ?? '', /GATEHOUSE_SOURCE_CONNECTIONS/);

    open[0]?.destroy();
    await until(() => gateway.inUse.source_connections === 2, 'one has left');
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' })).status, 200);
  });

  test('are those of the client that a PROXY header names: an address of IPv4, a /64 network of IPv6', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { sourceConnections: 1 },
      trustedProxies: ['127.0.0.1/32'],
      proxyProtocol: true,
    });
    const asks = async (header: string): Promise<boolean> => {
      const below = connect(gateway.port, '127.0.0.1').on('error', () => {});
      t.after(() => below.destroy());
      below.write(`PROXY ${header} 443\r\n`);
      const socket = connectTls({ socket: below, servername: 'app.test', rejectUnauthorized: false });
      socket.on('error', () => {}).write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      await new Promise((resolve) => {
        socket.on('data', resolve);
        below.on('close', resolve);
      });
      return socket.bytesRead > 0;
    };
    assert.equal(await asks('TCP6 2001:db8:0:1::1 2001:db8::1 1000'), true);
    assert.equal(await asks('TCP6 2001:db8:0:1:ffff::2 2001:db8::1 1000'), false);
    assert.equal(await asks('TCP6 2001:db8:0:2::1 2001:db8::1 1000'), true);
    assert.equal(await asks('TCP4 203.0.113.1 192.0.2.1 1000'), true);
    assert.equal(await asks('TCP4 203.0.113.1 192.0.2.1 1000'), false);
    assert.equal(await asks('TCP4 203.0.113.2 192.0.2.1 1000'), true);
  });

  test('are not bounded for a trusted proxy, which forwards for many', async (t) => {
    await using upstream = await startUpstream();
    const settings = { bounds: { sourceConnections: 1 }, trustedProxies: ['127.0.0.1/32'] };
    await using gateway = await gatewayTo(upstream.port, settings);
    for (let at = 0; at < 5; at++) await use(t, gateway, '/');
    assert.equal(gateway.refused.source_connections ?? 0, 0);
  });
});

suite('connections of all clients together', () => {
  test('are bounded: a further one is closed at once, until another has left', async (t) => {
    await using upstream = await startUpstream(() => {});
    await using gateway = await gatewayTo(upstream.port, { bounds: { clientConnections: 4 } });
    const open = [];
    for (let at = 0; at < 4; at++) open.push(await use(t, gateway, '/held', `127.0.0.${at + 2}`));
    await until(() => upstream.seen.length === 4, 'all requests are under way');
    await isClosed(openPlain(t, gateway, '127.0.0.9'));
    await until(() => gateway.refused.client_connections === 1, 'it is counted');
    assert.equal(gateway.inUse.client_connections, 4);
    const [line] = gateway.logged;
    assert.deepEqual(line?.fields, { bound: 'client_connections', limit: 4, code: 20119, refused: 1 });
    assert.equal(
      open.every(({ closed }) => !closed),
      true,
      'requests under way are not disturbed',
    );
    open[0]?.destroy();
    await until(() => gateway.inUse.client_connections === 3, 'one has left');
    await use(t, gateway, '/held', '127.0.0.9');
    await until(() => upstream.seen.length === 5, 'another has come');
  });

  test('that are idle make room for new ones, the oldest first', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { clientConnections: 10 },
      // The gateway's clock ticks four times in the shorter one.
      timeouts: { idleMs: 1000, keepAliveMs: 60_000 },
    });
    const idle: Socket[] = [];
    for (let at = 0; at < 14; at++) {
      idle.push(await use(t, gateway, '/', `127.0.0.${at + 3}`));
      await sleep(300);
    }
    await until(() => idle[0]?.closed === true, 'the first is closed');
    assert.deepEqual(
      idle.slice(-8).map(({ closed }) => closed),
      Array.from({ length: 8 }, () => false),
    );
    assert.equal(gateway.refused.client_connections ?? 0, 0);
  });

  test('make room when the bound becomes lower, as when another worker takes its part of it: new ones are served', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, { bounds: { clientConnections: 40 } });
    const idle: Socket[] = [];
    for (let at = 0; at < 30; at++) idle.push(await use(t, gateway, '/', `127.0.0.${at + 3}`));
    gateway.changeBounds({ clientConnections: 10 });
    await until(() => (gateway.inUse.client_connections ?? 0) < 10, 'there is room again');
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' })).status, 200);
    assert.equal(gateway.refused.client_connections ?? 0, 0);
    assert.ok(idle.some(({ closed }) => !closed));
  });

  test('make room in the same way when they speak HTTP/2 or have sent requests with a body', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, {
      bounds: { clientConnections: 5 },
      // The gateway's clock ticks four times in the shorter one.
      timeouts: { idleMs: 1000, keepAliveMs: 60_000 },
    });
    const session = openHttp2(gateway.port);
    t.after(() => session.destroy());
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, 200);
    const posting = await connectClient(gateway.port);
    posting.write('POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: 2\r\n\r\nhi');
    await once(posting, 'data');
    posting.resume();
    for (let at = 0; at < 10; at++) {
      await use(t, gateway, '/');
      await until(() => (gateway.inUse.client_connections ?? 0) <= 5, 'there is room again');
      await sleep(300);
    }
    await until(() => session.closed && posting.closed, 'both are closed');
    assert.equal(gateway.refused.client_connections ?? 0, 0);
  });

  test('make room in the same way when they speak HTTP/2 and keep their side open', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, { bounds: { clientConnections: 5 } });
    for (let at = 0; at < 10; at++) {
      await openStubborn(t, gateway);
      await until(() => upstream.seen.length === at + 1, 'its request was served');
      await until(() => (gateway.inUse.client_connections ?? 0) < 5, 'there is room again');
    }
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' })).status, 200);
    assert.equal(gateway.refused.client_connections ?? 0, 0);
  });

  test('are closed at the idle limit when they speak HTTP/2, were told to go and keep their side open', async (t) => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, { timeouts: { keepAliveMs: 200, idleMs: 500 } });
    await openStubborn(t, gateway);
    const leaving = await openStubborn(t, gateway);
    await until(() => upstream.seen.length === 2, 'both requests were served');
    leaving.write(goAwayFrame);
    await until(() => gateway.inUse.client_connections === 0, 'both are closed');
  });

  test('are closed when they are idle also after a request that took longer than that', async (t) => {
    await using upstream = await startUpstream((_request, response) => {
      setTimeout(() => response.end('late'), 600);
    });
    await using gateway = await gatewayTo(upstream.port, { timeouts: { keepAliveMs: 200 } });
    const session = openHttp2(gateway.port);
    t.after(() => session.destroy());
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, 200);
    await until(() => session.closed, 'it is closed');
  });

  test('are closed at the idle limit when they speak HTTP/2 and read nothing of a long answer', async (t) => {
    await using upstream = await startUpstream((_request, response) => {
      response.on('error', () => {}).end(Buffer.alloc(50_000_000));
    });
    await using gateway = await gatewayTo(upstream.port, { timeouts: { keepAliveMs: 200, idleMs: 500 } });
    (await openStubborn(t, gateway)).pause();
    await until(() => gateway.inUse.client_connections === 0, 'it is closed');
  });

  test('make room in the same way when they never finish their TLS handshake', async (t) => {
    await using upstream = await startUpstream();
    const settings = { bounds: { clientConnections: 10 }, timeouts: { headersMs: 60_000 } };
    await using gateway = await gatewayTo(upstream.port, settings);
    const silent: Socket[] = [];
    for (let at = 0; at < 20; at++) {
      silent.push(openPlain(t, gateway, `127.0.0.${at + 3}`));
      await once(silent[at] ?? assert.fail(), 'connect');
      await sleep(20);
    }
    assert.equal((await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' })).status, 200);
    await until(() => silent.filter(({ closed }) => closed).length >= 10, 'the first are closed');
    assert.equal(silent.at(-1)?.closed, false);
  });
});
