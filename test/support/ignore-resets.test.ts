import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { EventEmitter } from 'node:events';
import { createServer, request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Waits as tests do that have no use for errors: `once` would take each for its own. */
function closing(connection: EventEmitter): Promise<void> {
  return new Promise((resolve) => connection.once('close', resolve));
}

test('a reset fails no test, neither of its client nor of its server', async (t) => {
  for (const end of [0, 1] as const) {
    const server = createTcpServer();
    const accepted = once(server, 'connection');
    const client = connect(await listen(t, server), '127.0.0.1');
    await once(client, 'connect');
    const [socket] = (await accepted) as [Socket];
    const sides = [client.resume(), socket.resume()] as const;
    const closed = closing(sides[end]);
    sides[1 - end]?.resetAndDestroy();
    await closed;
  }
});

test('nor does one of an HTTP/2 session, or of a socket after an upgrade', async (t) => {
  const server = createHttp2Server();
  const accepted = once(server, 'session');
  const session = connectHttp2(`http://127.0.0.1:${await listen(t, server)}`);
  await once(session, 'connect');
  await accepted;
  const closed = closing(session);
  session.destroy(Object.assign(new Error('as at a reset'), { code: 'ECONNRESET' }));
  await closed;

  const site = createServer();
  const upgraded = once(site, 'upgrade');
  const client = connect(await listen(t, site), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  const [, socket] = (await upgraded) as [unknown, Socket];
  const reset = closing(socket.resume());
  client.resetAndDestroy();
  await reset;
});

test('a request may lose its connection once it is answered, and not before', async (t) => {
  const site = createServer((_, response) => void response.write('begun'));
  const sent: ClientRequest = request({ port: await listen(t, site), host: '127.0.0.1' }).end();
  const early = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  assert.throws(() => sent.emit('error', early), early);
  const [response] = await once(sent, 'response');
  sent.emit('error', early);
  response.destroy();
  site.closeAllConnections();
});

test('all other errors fail as before', async (t) => {
  const server = createTcpServer();
  const port = await listen(t, server);
  const client = connect(port, '127.0.0.1');
  t.after(() => client.destroy());
  const early = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  assert.throws(() => client.emit('error', early), early);
  await once(client, 'connect');
  client.emit('error', early);
  const other = new Error('something else');
  assert.throws(() => client.emit('error', other), other);
  const told: Error[] = [];
  client.once('error', (error) => told.push(error));
  client.emit('error', other);
  assert.deepEqual(told, [other], 'whoever waits for an error gets it');
});
