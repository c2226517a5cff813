import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { suite, test } from 'node:test';
import type { TLSSocket } from 'node:tls';

import { edgeCertificate } from './support/https-certificate.ts';
import { connectClient } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { TestGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const timeouts = { headersMs: 1000, idleMs: 1000, keepAliveMs: 1000 };
/** Two of them fill the memory of a socket in this process, which makes its writer wait. In bytes. */
const answerBytes = 20_000;
/** More than the system takes for a client that reads nothing. In bytes. */
const muchBytes = 30_000_000;

function gatewayTo(upstream: number): Promise<TestGateway> {
  return startGateway(
    [backendEntry('b', upstream), edgeEntry('e', ['app.test'], [prefixRoute('/b', toBackend('b'))])],
    { timeouts },
  );
}

function ask(socket: TLSSocket, path: string, headers = ''): void {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: app.test\r\n${headers}\r\n`);
}

async function connectDeaf(gateway: TestGateway): Promise<TLSSocket> {
  const socket = await connectClient(gateway.port);
  socket.on('error', () => {});
  return socket.pause();
}

/** Waits until no more requests are answered, and returns how many were. */
async function answeredUntilFull(gateway: TestGateway): Promise<number> {
  let count = -1;
  while (count < gateway.answered.length) {
    count = gateway.answered.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return count;
}

async function closesAll(gateway: TestGateway): Promise<void> {
  await until(() => gateway.inUse.client_connections === 0, 'no connection is left');
}

suite('a client that reads nothing is closed once nothing has moved for the time of idle connections', async () => {
  test('behind answers of the gateway itself', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectDeaf(gateway);
    for (let at = 0; at < 20_000; at++) ask(socket, '/none');
    await until(() => gateway.answered.length > 0, 'the first is answered');
    await closesAll(gateway);
    assert.ok(gateway.answered.length < 20_000, 'its answers were too many for the system');
    socket.destroy();
  });

  for (const [name, last] of Object.entries({ kept: '', closed: 'Connection: close\r\n' })) {
    test(`where the last answer fits into the memory of a connection that is to be ${name}`, async () => {
      await using upstream = await startUpstream((_, response) => response.end('x'.repeat(answerBytes)));
      await using gateway = await gatewayTo(upstream.port);
      const first = await connectDeaf(gateway);
      for (let at = 0; at < 1000; at++) ask(first, '/b');
      const most = await answeredUntilFull(gateway);
      assert.ok(most < 1000, 'its answers were too many for the system');
      const others: TLSSocket[] = [];
      for (const fewer of [1, 2, 3]) {
        const socket = await connectDeaf(gateway);
        others.push(socket);
        for (let at = 1; at < most - fewer; at++) ask(socket, '/b');
        ask(socket, '/b', last);
      }
      await closesAll(gateway);
      for (const socket of [first, ...others]) socket.destroy();
    });
  }

  for (const [name, endsAtOnce] of Object.entries({ 'has ended': true, 'goes on': false })) {
    test(`in another protocol, whose upstream ${name}`, async () => {
      await using upstream = await startRawUpstream((socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
        socket.write(Buffer.alloc(muchBytes));
        if (endsAtOnce) socket.end();
      });
      await using gateway = await gatewayTo(upstream.port);
      const socket = await connectDeaf(gateway);
      ask(socket, '/b', 'Connection: Upgrade\r\nUpgrade: x\r\n');
      await until(() => gateway.answered.length === 1, 'the tunnel is over');
      await closesAll(gateway);
      socket.destroy();
    });
  }

  const streams = {
    'leaves no room for the answer': { settings: { initialWindowSize: 0 }, path: '/none', endStream: true },
    'never ends the body of a request that was answered': { settings: {}, path: '/b', endStream: false },
  };
  for (const [name, { settings, path, endStream }] of Object.entries(streams)) {
    test(`over HTTP/2, where it ${name}`, async () => {
      await using upstream = await startUpstream();
      await using gateway = await gatewayTo(upstream.port);
      const session = connect(`https://127.0.0.1:${gateway.port}`, {
        servername: 'app.test',
        ca: edgeCertificate.certificate,
        settings: { enablePush: false, ...settings },
      });
      session.on('error', () => {});
      const stream = session.request(
        { ':authority': 'app.test', ':path': path, ':method': endStream ? 'GET' : 'POST' },
        { endStream },
      );
      stream.on('error', () => {});
      await new Promise((resolve) => stream.on('response', resolve));
      await closesAll(gateway);
      session.destroy();
    });
  }
});
