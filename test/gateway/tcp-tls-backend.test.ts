import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import type { CertificatePair } from '../../src/snapshot/local-ca.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, startGateway, until } from './support/tcp-engine.ts';
import { backend, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dial, dialAndEcho, portOf } from './support/tcp-peers.ts';

async function createAuthority() {
  return openLocalCa({ load: () => Promise.resolve(undefined), save: (pair) => Promise.resolve(pair) });
}

function echoToTheEnd(socket: TLSSocket): void {
  socket.on('data', (chunk) => socket.write(chunk)).on('end', () => socket.end(' and the end'));
}

async function startTlsUpstream(
  t: TestContext,
  { certificatePem, privateKeyPem }: CertificatePair,
  behave = echoToTheEnd,
) {
  const received: string[] = [];
  // The option is documented, but the type omits it.
  const halfOpen: object = { allowHalfOpen: true };
  const server = createServer({ cert: certificatePem, key: privateKeyPem, ...halfOpen }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received.push(chunk.toString());
    });
    behave(socket);
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { port: portOf(server), received };
}

function tlsBackend(port: number) {
  return backend('bkdsc_1', port, { host: 'localhost', tls: true });
}

test('a TLS backend gets the bytes over TLS, and the end of the client after them', async (t) => {
  const authority = await createAuthority();
  const upstream = await startTlsUpstream(t, await authority.issue('localhost', new Date()));
  const { engine } = await startGateway(t, { upstreamAuthorities: [authority.caCertificatePem] });
  const port = await freePort();
  await engine.apply(snapshot(tlsBackend(upstream.port), tcpEdge('edgtcp_1', [port])));

  const client = await dialAndEcho(t, port);
  client.socket.end();
  await client.seesEnd();
  assert.equal(client.text, 'hello and the end');
  assert.deepEqual(upstream.received, ['hello']);
});

test('a TLS backend that has ended its side still gets what the client sends', async (t) => {
  const authority = await createAuthority();
  const upstream = await startTlsUpstream(t, await authority.issue('localhost', new Date()), (socket) => {
    socket.end('bye');
  });
  const { engine } = await startGateway(t, { upstreamAuthorities: [authority.caCertificatePem] });
  const port = await freePort();
  await engine.apply(snapshot(tlsBackend(upstream.port), tcpEdge('edgtcp_1', [port])));

  const client = dial(t, port);
  await client.seesEnd();
  client.socket.end('after the end');
  await until(() => upstream.received.join('') === 'after the end', 'the backend gets it');
});

test('megabytes go to a TLS backend and back whole, at a reader that rests now and then', async (t) => {
  const authority = await createAuthority();
  const upstream = await startTlsUpstream(t, await authority.issue('localhost', new Date()), (socket) => {
    socket.pipe(socket);
  });
  const { engine } = await startGateway(t, { upstreamAuthorities: [authority.caCertificatePem] });
  const port = await freePort();
  await engine.apply(snapshot(tlsBackend(upstream.port), tcpEdge('edgtcp_1', [port])));

  const bytes = randomBytes(10_000_000);
  const { socket } = dial(t, port);
  const received: Buffer[] = [];
  socket.on('data', (chunk) => {
    if (received.push(chunk) % 20 !== 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), 2);
  });
  socket.end(bytes);
  await once(socket, 'end');
  assert.ok(Buffer.concat(received).equals(bytes));
});

test('a TLS backend with a slow handshake is joined within the limit, and the idle limit holds from then on', async (t) => {
  const authority = await createAuthority();
  const upstream = await startTlsUpstream(t, await authority.issue('localhost', new Date()));
  const slow = createTcpServer({ pauseOnConnect: true }, (socket) => {
    setTimeout(
      () =>
        socket
          .on('error', () => {})
          .pipe(connect(upstream.port, '127.0.0.1'))
          .pipe(socket),
      300,
    );
  });
  slow.listen(0, '127.0.0.1');
  await once(slow, 'listening');
  t.after(() => slow.close());
  const { engine, seen } = await startGateway(t, {
    upstreamAuthorities: [authority.caCertificatePem],
    timeouts: { ...plainOptions.timeouts, upstreamConnectMs: 5000, idleMs: 400 },
  });
  const port = await freePort();
  await engine.apply(snapshot(tlsBackend(portOf(slow)), tcpEdge('edgtcp_1', [port])));

  const client = await dialAndEcho(t, port);
  await client.isReset();
  await until(() => seen.closed[0]?.reason === 'idle', 'it is told why');
});

for (const { flaw, trusted, name } of [
  { flaw: 'no trusted authority vouches for', trusted: false, name: 'localhost' },
  { flaw: 'is for another name', trusted: true, name: 'elsewhere.test' },
]) {
  test(`a TLS backend with a certificate that ${flaw} gets nothing, and the client is reset`, async (t) => {
    const authority = await createAuthority();
    const upstream = await startTlsUpstream(t, await authority.issue(name, new Date()));
    const { engine, seen } = await startGateway(t, {
      upstreamAuthorities: trusted ? [authority.caCertificatePem] : [],
    });
    const port = await freePort();
    await engine.apply(snapshot(tlsBackend(upstream.port), tcpEdge('edgtcp_1', [port])));

    const client = dial(t, port);
    client.socket.write('secret');
    await client.isReset();
    assert.deepEqual(upstream.received, []);
    await until(() => seen.closed[0]?.reason === 'connect failed', 'it is told why');
  });
}

test('a backend gets one handshake for a connection, however often it asks for another', async (t) => {
  const authority = await createAuthority();
  const { certificatePem, privateKeyPem } = await authority.issue('localhost', new Date());
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-renegotiation-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'certificate.pem'), certificatePem);
  writeFileSync(join(folder, 'key.pem'), privateKeyPem);
  const upstreamPort = await freePort();
  const server = spawn(
    'openssl',
    // Prints each message of TLS; a line "r" asks for another handshake.
    ['s_server', '-tls1_2', '-msg', '-accept', `${upstreamPort}`, '-cert', 'certificate.pem', '-key', 'key.pem'],
    { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] },
  );
  t.after(() => server.kill());
  let printed = '';
  server.stdout.on('data', (chunk) => (printed += String(chunk)));
  await until(() => printed.includes('ACCEPT'), 'the server listens');
  const { engine } = await startGateway(t, { upstreamAuthorities: [authority.caCertificatePem] });
  const port = await freePort();
  await engine.apply(snapshot(tlsBackend(upstreamPort), tcpEdge('edgtcp_1', [port])));

  const client = dial(t, port);
  client.socket.write('hello');
  await until(() => printed.includes('hello'), 'bytes arrive');
  server.stdin.write('r\n');
  await until(() => client.socket.closed || client.socket.readableEnded, 'the connection has ended');
  assert.equal(printed.match(/<<< .*ClientHello/g)?.length, 1);
});
