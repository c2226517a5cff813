import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';

import { ready } from '../../src/lib/awaitable.ts';
import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import { identifyClient } from '../../src/lib/ip/identify-client.ts';
import { CidrSet } from '../../src/lib/ip/cidr-set.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, startGateway, until } from './support/tcp-engine.ts';
import { backend, limitedTo, packRules, policy, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dial, portOf, startUpstream } from './support/tcp-peers.ts';

const proxyAddress = '127.0.0.5';
const fromClient = 'PROXY TCP4 203.0.113.7 127.0.0.1 4000 443\r\n';
const fromStranger = 'PROXY TCP4 198.51.100.1 127.0.0.1 4000 443\r\n';

/** Opens an edge for the client behind the proxy, the proxy itself and 127.0.0.2. */
async function openEdge(t: TestContext, headersMs = 5000) {
  const gateway = await startGateway(
    t,
    { proxyProtocol: { tcp: true, https: false, http: false }, timeouts: { ...plainOptions.timeouts, headersMs } },
    [`${proxyAddress}/32`],
  );
  const upstream = await startUpstream(t);
  const port = await freePort();
  const rules = policy('ipp_1', '203.0.113.7/32', `${proxyAddress}/32`, '127.0.0.2/32');
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  await gateway.engine.apply(snapshot(rules, backend('bkdsc_1', upstream.port), edge));
  return { ...gateway, upstream, port };
}

function v2(command: number, family: number, block: readonly number[]): Buffer {
  const signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
  return Buffer.concat([signature, Buffer.from([0x20 | command, family, 0, block.length, ...block])]);
}

const v2Client = v2(1, 0x11, [203, 0, 113, 7, 127, 0, 0, 1, 15, 160, 1, 187]);

for (const [name, header, source] of [
  ['version 1', Buffer.from(fromClient), '203.0.113.7'],
  ['version 2', v2Client, '203.0.113.7'],
  ['version 1 UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n'), proxyAddress],
  ['version 2 LOCAL', v2(0, 0, []), proxyAddress],
] as const) {
  test(`a ${name} header of a trusted proxy says who the source is, and is not passed on`, async (t) => {
    const { port, upstream, seen } = await openEdge(t);
    const client = dial(t, port, { from: proxyAddress });
    client.socket.write(Buffer.concat([header, Buffer.from('hel')]));
    client.socket.write('lo');
    await client.receives('hello');
    client.socket.end();
    await until(() => seen.closed.length > 0, 'the connection is over');
    assert.equal(seen.closed[0]?.source, source);
    assert.equal(seen.closed[0].bytesIn, 5);
    assert.equal(upstream.peers[0]?.text, 'hello');
  });
}

test('megabytes right behind the header go on whole', async (t) => {
  const { port, seen } = await openEdge(t);
  const bytes = randomBytes(3_000_000);
  const { socket } = dial(t, port, { from: proxyAddress });
  socket.end(Buffer.concat([Buffer.from(fromClient), bytes]));
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  await once(socket, 'end');
  assert.ok(Buffer.concat(received).equals(bytes));
  await until(() => seen.closed.length > 0, 'the connection is over');
  assert.deepEqual([seen.closed[0]?.bytesIn, seen.closed[0]?.bytesOut], [bytes.length, bytes.length]);
});

test('a header that comes in pieces is put together', async (t) => {
  const { port } = await openEdge(t);
  const client = dial(t, port, { from: proxyAddress });
  client.socket.setNoDelay();
  for (const byte of v2Client) {
    client.socket.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  client.socket.write('hello');
  await client.receives('hello');
});

test('the source that the header names is the one that is judged', async (t) => {
  const { port, upstream, seen } = await openEdge(t);
  const client = dial(t, port, { from: proxyAddress });
  client.socket.write(fromStranger);
  await client.isReset();
  assert.deepEqual(seen.verdicts, ['refused_by_module']);
  assert.equal(upstream.peers.length, 0);
});

test('a trusted proxy that sends no header, a malformed one or only a part of one is closed', async (t) => {
  const { port, upstream, seen } = await openEdge(t, 300);
  const malformed = ['GET / HTTP/1.1\r\n\r\n', 'PROXY TCP4 203.0.113.7\r\n', 'PROXY TCP4 203.0.113.7 127.0.0.1 4000 4'];
  for (const bytes of ['', ...malformed]) {
    const client = dial(t, port, { from: proxyAddress });
    client.socket.write(bytes);
    await until(() => client.ended || client.broken !== undefined, `closed after ${JSON.stringify(bytes)}`);
  }
  assert.equal(upstream.peers.length, 0);
  assert.deepEqual(seen.verdicts, []);
});

test('a header of an untrusted peer is not a header: the peer is the source, and its bytes go on as they are', async (t) => {
  const { port, upstream, seen } = await openEdge(t);
  const allowed = dial(t, port, { from: '127.0.0.2' });
  allowed.socket.write(fromStranger);
  await allowed.receives(fromStranger);
  assert.equal(upstream.peers[0]?.text, fromStranger);
  const refused = dial(t, port, { from: '127.0.0.3' });
  refused.socket.write(fromClient);
  await refused.isReset();
  assert.deepEqual(seen.verdicts, ['allowed', 'refused_by_module']);
});

test('a drain does not wait longer than its limit for a header', async (t) => {
  const { engine, port } = await openEdge(t, 60_000);
  const client = dial(t, port, { from: proxyAddress });
  await once(client.socket, 'connect');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await engine.drain(10);
  await client.isReset();
});

/** Starts a listener that reads the PROXY header and passes its sockets to another server. */
async function handTo(t: TestContext, server: { emit(name: 'connection', socket: unknown): boolean }) {
  const seen: boolean[] = [];
  const trustedProxies = new CidrSet(packRules([`${proxyAddress}/32`]));
  const noArrivals = { isOurs: () => ready(false), ownArrivalReset: () => {} };
  const rules = { proxyProtocol: true, trustedProxies, headersMs: 5000, ...noArrivals };
  const listener = createServer((socket) => {
    identifyClient(socket, portOf(listener), rules, ({ peerTrusted }) => {
      seen.push(peerTrusted);
      server.emit('connection', socket);
    });
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => listener.close());
  return { port: portOf(listener), seen };
}

test('a TLS server can take the socket over, with the first bytes of the handshake in the same packet', async (t) => {
  const authority = await openLocalCa({ load: async () => undefined, save: async (pair) => pair });
  const { certificatePem, privateKeyPem } = await authority.issue('localhost', new Date());
  const server = createTlsServer({ cert: certificatePem, key: privateKeyPem }, (socket) => void socket.end('over TLS'));
  const { port, seen } = await handTo(t, server);
  const raw = connect({ port, host: '127.0.0.1', localAddress: proxyAddress });
  raw.cork();
  raw.write(fromClient);
  const client = connectTls({ socket: raw, servername: 'localhost', ca: authority.caCertificatePem });
  setImmediate(() => {
    raw.uncork();
  });
  const [answer] = await once(client, 'data');
  assert.equal(String(answer), 'over TLS');
  // The proxy is trusted, but the client it names is not, so neither are the forwarding headers of that client.
  assert.deepEqual(seen, [false]);
  client.destroy();
});

test('an HTTP server can take the socket over, with the request in the same packet', async (t) => {
  const server = createHttpServer((incoming, response) => void response.end(incoming.url));
  const { port } = await handTo(t, server);
  const raw = connect({ port, host: '127.0.0.1', localAddress: proxyAddress });
  raw.write(`${fromClient}GET /first HTTP/1.1\r\nHost: a\r\n\r\n`);
  const [first] = await once(raw, 'data');
  assert.match(String(first), /\r\n\r\n\/first$/);
  const second = request({ createConnection: () => raw, path: '/second' }).end();
  const [response] = await once(second, 'response');
  assert.equal(response.statusCode, 200);
  raw.destroy();
});
