import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';

import { WebSocket } from 'ws';

import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { connectClient, get, openHttp2, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { portOf } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const converter: ModuleSettings = { websocket_tcp_converter: { enabled: true } };

function edge(modules: ModuleSettings = converter) {
  return edgeEntry('ep_1', ['app.test'], [prefixRoute('/', { ...toBackend('ep_1'), ...modules })]);
}

/** A gateway with an agent, whose program speaks no HTTP. */
async function start(t: TestContext, program: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket.on('error', () => {}));
    program(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agents = await startAgents(t);
  const agent = await agents.start(portOf(server));
  const gateway = await startGateway([tunnelBackend('ep_1', [agent]), edge()], { dialer: agents.dialer });
  t.after(async () => {
    await gateway.drain(0);
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { gateway, agent, sockets };
}

function openWebSocket(t: TestContext, port: number, protocols: readonly string[] = []): WebSocket {
  const agent = new Agent({ host: '127.0.0.1', servername: 'app.test', ca: edgeCertificate.certificate });
  const socket = new WebSocket(`wss://app.test:${port}/`, [...protocols], { agent, headers: { host: 'app.test' } });
  t.after(() => {
    socket.terminate();
    agent.destroy();
  });
  return socket.on('error', () => {});
}

function bytesOf(socket: WebSocket): () => Buffer {
  const parts: Buffer[] = [];
  // A client without another setting gets buffers.
  socket.on('message', (data) => parts.push(data as Buffer));
  return () => Buffer.concat(parts);
}

test('the bytes of messages reach a program without HTTP, and its bytes come back as binary messages', async (t) => {
  const { gateway, agent } = await start(t, (socket) => {
    socket.write('welcome ');
    socket.pipe(socket);
  });
  const client = openWebSocket(t, gateway.port);
  const received = bytesOf(client);
  const kinds: boolean[] = [];
  client.on('message', (_data, isBinary) => kinds.push(isBinary));
  await once(client, 'open');
  client.send('text, ');
  client.send(Buffer.from('bytes, '));
  client.send('par', { fin: false });
  client.send('ts');
  await until(() => received().toString() === 'welcome text, bytes, parts', 'all bytes are back');
  assert.ok(kinds.every(Boolean));
  const [visitor = assert.fail()] = agent.visitors;
  assert.deepEqual([visitor.proto, visitor.passthroughTls], ['tcp', false]);
});

test('20 MB go through and back unchanged', async (t) => {
  const { gateway } = await start(t, (socket) => socket.pipe(socket));
  const client = openWebSocket(t, gateway.port);
  const [sent, received] = [createHash('sha256'), createHash('sha256')];
  let count = 0;
  client.on('message', (data: Buffer) => {
    received.update(data);
    count += data.length;
  });
  await once(client, 'open');
  for (let round = 0; round < 20; round++) {
    const bytes = randomBytes(1024 * 1024);
    sent.update(bytes);
    client.send(bytes);
  }
  await until(() => count === 20 * 1024 * 1024, 'all bytes are back');
  assert.equal(received.digest('hex'), sent.digest('hex'));
});

test('a close of the client ends the connection of the program, after all its bytes', async (t) => {
  let [received, ended] = ['', false];
  const { gateway } = await start(t, (socket) => {
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('end', () => (ended = true));
  });
  const client = openWebSocket(t, gateway.port);
  await once(client, 'open');
  client.send('last words');
  client.close(3001, 'done');
  // The event has this argument.
  const [code] = (await once(client, 'close')) as [number];
  assert.equal(code, 3001);
  await until(() => ended, 'the program sees the end');
  assert.equal(received, 'last words');
  await until(() => gateway.answered.length === 1, 'it is logged');
  assert.equal(gateway.answered[0]?.status, 101);
});

test('an end of the program closes the client, after all its bytes', async (t) => {
  const { gateway } = await start(t, (socket) => socket.end('bye'));
  const client = openWebSocket(t, gateway.port);
  const received = bytesOf(client);
  const [code] = (await once(client, 'close')) as [number];
  assert.deepEqual([code, received().toString()], [1000, 'bye']);
});

test('a client that is gone without a close ends the connection of the program', async (t) => {
  const { gateway, sockets } = await start(t, () => {});
  const client = openWebSocket(t, gateway.port);
  await once(client, 'open');
  await until(() => sockets.length === 1, 'the program is reached');
  const gone = new Promise((resolve) => sockets[0]?.on('end', resolve).on('close', resolve).resume());
  client.terminate();
  await gone;
});

test('pings are answered, and do not reach the program', async (t) => {
  const { gateway } = await start(t, (socket) => socket.pipe(socket));
  const client = openWebSocket(t, gateway.port);
  const received = bytesOf(client);
  await once(client, 'open');
  client.ping('are you there');
  const [payload] = (await once(client, 'pong')) as [Buffer];
  assert.equal(payload.toString(), 'are you there');
  client.send('x');
  await until(() => received().length > 0, 'an answer');
  assert.equal(received().toString(), 'x');
});

test('a protocol that is offered is chosen, "binary" before others', async (t) => {
  const { gateway } = await start(t, () => {});
  const client = openWebSocket(t, gateway.port, ['other', 'binary']);
  await once(client, 'open');
  assert.equal(client.protocol, 'binary');
});

test('requests that open no WebSocket are refused, and do not reach the agent', async (t) => {
  const { gateway, agent } = await start(t, () => {});
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  const upgrade = ['Host: app.test', 'Connection: Upgrade', 'Upgrade: websocket'];
  const requests = [
    get('/'),
    `POST / HTTP/1.1\r\n${[...upgrade, key, 'Sec-WebSocket-Version: 13'].join('\r\n')}\r\n\r\n`,
    `GET / HTTP/1.1\r\n${[...upgrade, key, 'Sec-WebSocket-Version: 8'].join('\r\n')}\r\n\r\n`,
    `GET / HTTP/1.1\r\n${[...upgrade, 'Sec-WebSocket-Version: 13'].join('\r\n')}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
  ];
  for (const request of requests) {
    const { status, headers } = await sendRaw(gateway.port, request);
    assert.deepEqual([status, headers['gatehouse-error-code']], [400, 'ERR_GATEHOUSE_20185'], request);
  }
  const session = openHttp2(gateway.port);
  assert.equal((await requestHttp2(session, { ':path': '/' })).status, 400);
  session.destroy();
  assert.equal(agent.visitors.length, 0);
});

/** Opens a WebSocket whose frames are written by hand. */
async function openRaw(port: number, frames = ''): Promise<TLSSocket> {
  const client = await connectClient(port);
  client.write(
    'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n${frames}`,
    'latin1',
  );
  return client;
}

test('a frame that breaks the protocol closes the connection with 1002', async (t) => {
  const { gateway } = await start(t, () => {});
  const text = await readAll(await openRaw(gateway.port, '\x82\x01a'));
  assert.match(text, /^HTTP\/1\.1 101 [^]*Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
  assert.ok(text.endsWith('\x88\x02\x03\xea'));
});

test('nothing follows our close: no answer to a ping, no data, no second close', async (t) => {
  let received = '';
  const { gateway, sockets } = await start(t, (socket) => {
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.end('bye');
  });
  const client = await openRaw(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  const closing = '\x82\x03bye\x88\x02\x03\xe8';
  await until(() => text.endsWith(closing), 'the close');
  const closed = readAll(client);
  // A ping, data, which the program may still read, a close, and data that is too late.
  client.write('\x89\x84\0\0\0\0ping\x82\x84\0\0\0\0data\x88\x82\0\0\0\0\x03\xe9\x82\x84\0\0\0\0late', 'latin1');
  await closed;
  assert.ok(text.endsWith(closing));
  await until(() => sockets[0]?.closed === true, 'the program sees the end');
  assert.equal(received, 'data');
});

test('a connection is closed when the endpoint changes its rules against it', async (t) => {
  const { gateway } = await start(t, () => {});
  const client = openWebSocket(t, gateway.port);
  await once(client, 'open');
  const closed = once(client, 'close');
  await gateway.set(edge({ ...converter, cidr_restriction: { enabled: true, allow: ['192.0.2.0/24'], deny: [] } }));
  await closed;
});
