import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { WebSocket, WebSocketServer } from 'ws';

import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { connectClient, parseAnswer, readAll, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  requestHeaders,
  responseHeaders,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';

function gatewayTo(port: number, settings?: GatewaySettings, modules: ModuleSettings = {}) {
  return startGateway(
    [
      backendEntry('b', port),
      allowPolicy('nobody', '192.0.2.1/32'),
      edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...modules })]),
    ],
    settings,
  );
}

const upgradeRequest = 'GET /chat HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo/1\r\n\r\n';

function openWebSocket(port: number): WebSocket {
  const agent = new Agent({ host: '127.0.0.1', servername: 'app.test', ca: edgeCertificate.certificate });
  return new WebSocket(`wss://127.0.0.1:${port}/chat`, ['a', 'b'], { agent, headers: { Host: 'app.test' } });
}

suite('WebSockets', async () => {
  test('messages go both ways, through the header rules of the route', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    server.on('connection', (socket, request) => {
      socket.send(String(request.headers['x-a']));
      socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`));
    });
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    await using gateway = await gatewayTo(
      address.port,
      {},
      {
        ...requestHeaders({ 'x-a': 'added' }, []),
        ...responseHeaders({ 'x-b': 'answered' }, []),
      },
    );
    const client = openWebSocket(gateway.port);
    const upgraded = once(client, 'upgrade');
    const [greeting] = await once(client, 'message');
    assert.equal(String(greeting), 'added');
    assert.equal((await upgraded)[0].headers['x-b'], 'answered');
    assert.equal(client.protocol, 'a');
    const big = 'x'.repeat(3_000_000);
    client.send(big);
    const [echo] = await once(client, 'message');
    assert.equal(String(echo), `echo ${big}`);
    client.close(1000);
    await once(client, 'close');
    while (gateway.answered.length === 0) await sleep(5);
    assert.equal(gateway.answered[0]?.status, 101);
    server.close();
  });

  test('are refused like any other request', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port, {}, ipRestriction('nobody'));
    const client = openWebSocket(gateway.port);
    const [error] = await once(client, 'error');
    assert.match(String(error), /403/);
    assert.equal(upstream.connections, 0);
  });
});

suite('other upgrades', async () => {
  test('bytes that came early are not lost, on either side', async () => {
    await using upstream = await startRawUpstream((socket, text) => {
      if (text.startsWith('GET'))
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: echo/1\r\nConnection: upgrade\r\n\r\nhello ');
      else socket.end(text);
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write(`${upgradeRequest}early`);
    const answer = parseAnswer(await readAll(socket));
    assert.equal(answer.status, 101);
    assert.equal(answer.headers['upgrade'], 'echo/1');
    assert.equal(answer.body, 'hello early');
    assert.match(
      upstream.received,
      /^GET \/chat HTTP\/1\.1\r\n[^]*Connection: Upgrade\r\nUpgrade: echo\/1\r\n\r\nearly$/,
    );
  });

  test('a connection that has changed protocol carries no other request', async () => {
    await using upstream = await startRawUpstream((socket, text) => {
      if (text.includes('Upgrade: echo/1'))
        socket.write('HTTP/1.1 101 Switching\r\nUpgrade: echo/1\r\nConnection: upgrade\r\n\r\n');
      else if (text.startsWith('GET')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      else socket.write(text);
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write(upgradeRequest);
    await once(socket, 'data');
    const other = await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
    assert.equal(other.body, 'ok');
    socket.write('still here');
    const [echo] = await once(socket, 'data');
    assert.equal(String(echo), 'still here');
    socket.destroy();
  });

  test('an upstream that does not change protocol answers, and the connection ends', async () => {
    await using upstream = await startUpstream((_, response) => response.writeHead(426).end('no'));
    await using gateway = await gatewayTo(upstream.port);
    const answer = await sendRaw(gateway.port, upgradeRequest);
    assert.equal(answer.status, 426);
    assert.equal(answer.headers['connection'], 'close');
  });

  test('silence ends the connection', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 101 Switching\r\nUpgrade: echo/1\r\nConnection: upgrade\r\n\r\n');
    });
    await using gateway = await gatewayTo(upstream.port, { timeouts: { idleMs: 100 } });
    const answer = await sendRaw(gateway.port, upgradeRequest);
    assert.equal(answer.status, 101);
  });

  test('a dead upstream is an error as usual', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.end());
    await using gateway = await gatewayTo(upstream.port);
    assert.equal((await sendRaw(gateway.port, upgradeRequest)).status, 502);
  });
});
