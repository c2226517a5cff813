import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import type { SnapshotEntry, TlsEndpointEntry } from '../../src/snapshot/contract.ts';
import { freePort } from '../support/free-port.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { backendEntry, restriction, allowPolicy, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { portOf } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const megabyte = 1024 * 1024;

/** A TLS edge, whose TLS ends at the gateway. */
function edge(backendId: string, over: Partial<TlsEndpointEntry> = {}): TlsEndpointEntry {
  const modules = toBackend(backendId);
  return {
    kind: 'tls_endpoint',
    id: 'edgtls_1',
    accountId: 'acc_1',
    names: ['app.test'],
    modules,
    termination: {},
    ...over,
  };
}

/** A server that sends back what it gets. */
async function startEcho(
  t: TestContext,
  greeting = '',
): Promise<{ readonly port: number; readonly sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    if (greeting !== '') socket.write(greeting);
    socket.on('error', () => {}).pipe(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: portOf(server), sockets };
}

async function start(t: TestContext, entries: readonly SnapshotEntry[], settings: GatewaySettings = {}) {
  const gateway = await startGateway(entries, settings);
  t.after(() => gateway.drain(0));
  return gateway;
}

function visit(t: TestContext, port: number, options: ConnectionOptions = {}): TLSSocket {
  const raw = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const socket = connectTls({ socket: raw, servername: 'app.test', ca: edgeCertificate.certificate, ...options });
  t.after(() => socket.destroy());
  return socket.on('error', () => {});
}

/** All that comes back until the end. */
async function say(socket: TLSSocket, text: string): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.end(text);
  if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
  return received;
}

test('what is inside of TLS goes to an address in the clear, and back', async (t) => {
  const upstream = await startEcho(t);
  const gateway = await start(t, [edge('b'), backendEntry('b', upstream.port)]);
  const client = visit(t, gateway.port);
  assert.equal(await say(client, 'hello'), 'hello');
  assert.equal(client.authorized, true);
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
});

test('20 MB come back whole from an address, to a client that rests now and then', async (t) => {
  const upstream = await startEcho(t);
  const gateway = await start(t, [edge('b'), backendEntry('b', upstream.port)]);
  const payload = randomBytes(20 * megabyte);
  const received = createHash('sha256');
  const client = visit(t, gateway.port);
  let left = megabyte;
  client.on('data', (chunk: Buffer) => {
    received.update(chunk);
    left -= chunk.length;
    if (left > 0) return;
    left = megabyte;
    client.pause();
    setTimeout(() => client.resume(), 2);
  });
  client.end(payload);
  await once(client, 'end');
  assert.equal(received.digest('hex'), createHash('sha256').update(payload).digest('hex'));
});

test('backends that stand for others are tried after the handshake, and a fixed answer is given', async (t) => {
  const [upstream, dead] = [await startEcho(t, 'hi '), await freePort()];
  const gateway = await start(t, [
    edge('group'),
    { kind: 'backend_group', id: 'group', choice: 'failover', members: ['dead', 'b'].map((id) => ({ id, weight: 1 })) },
    backendEntry('dead', dead),
    backendEntry('b', upstream.port),
    { kind: 'fixed_answer', id: 'f', status: 418, headers: [], body: 'teapot' },
  ]);
  assert.equal(await say(visit(t, gateway.port), 'there'), 'hi there');
  await gateway.set(edge('f'));
  assert.match(
    await say(visit(t, gateway.port), 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n'),
    /^HTTP\/1.1 418 [^]*teapot$/,
  );
  await gateway.set(edge('none'));
  assert.equal(await say(visit(t, gateway.port), 'hello'), '');
  await until(() => gateway.tcpClosed.at(-1)?.reason === 'no backend', 'it is logged');
});

test('a version that is too old gets no handshake, and an open connection of it is closed when the version is raised', async (t) => {
  const upstream = await startEcho(t);
  const strict = { ...toBackend('b'), tls_termination: { enabled: true, min_version: '1.3' } };
  const gateway = await start(t, [edge('b'), backendEntry('b', upstream.port)]);
  const open = ['TLSv1.2', 'TLSv1.3'] as const;
  const clients = open.map((version) => visit(t, gateway.port, { minVersion: version, maxVersion: version }));
  for (const client of clients) {
    client.write('a');
    await once(client, 'data');
  }
  await gateway.set(edge('b', { modules: strict }));
  const [old, recent] = clients;
  await until(() => old?.readableEnded === true || old?.closed === true, 'the older one is closed');
  recent?.write('b');
  await once(recent ?? assert.fail(), 'data');
  assert.equal(gateway.tcpClosed.at(-1)?.reason, 'rules changed');
  const before = upstream.sockets.length;
  assert.equal(await say(visit(t, gateway.port, { maxVersion: 'TLSv1.2' }), 'hello'), '');
  assert.equal(upstream.sockets.length, before);
  assert.equal(await say(visit(t, gateway.port), 'hello'), 'hello');
});

test('a source that a restriction refuses is reset before its handshake, and nothing reaches the upstream', async (t) => {
  const upstream = await startEcho(t);
  const rules = [restriction('ipx_1', true, 'others'), allowPolicy('others', '192.0.2.0/24')];
  const gateway = await start(t, [edge('b'), backendEntry('b', upstream.port), ...rules]);
  for (const termination of [true, false]) {
    const { termination: _, ...passed } = edge('b');
    await gateway.set(termination ? edge('b') : passed);
    const client = visit(t, gateway.port);
    const [error] = (await once(client, 'error')) as [NodeJS.ErrnoException];
    assert.equal(error.code, 'ECONNRESET');
  }
  assert.deepEqual(gateway.verdicts, ['refused_by_restriction', 'refused_by_restriction']);
  assert.equal(upstream.sockets.length, 0);
});

test('connections whose handshake is under way end with a drain', async (t) => {
  const upstream = await startEcho(t);
  const gateway = await start(t, [edge('b'), backendEntry('b', upstream.port)]);
  const raw = connect(gateway.port, '127.0.0.1').on('error', () => {});
  const hello = connectTls({ socket: raw, servername: 'app.test' });
  hello.on('secureConnect', () => assert.fail('the certificate is not trusted'));
  // The certificate is refused: the handshake stays half done on the side of the gateway.
  await once(hello, 'error');
  await gateway.drain(50);
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
});
