import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { requestVisit } from '../../../test/support/step-visit.ts';
import { buildModules } from '../../modules/index.ts';
import { TcpConnection } from './connection.ts';
import type { OpenConnection } from './connection.ts';
import { connectionList } from './connection-list.ts';
import { OpenConnections } from './open-connections.ts';
import type { OpenUpstream } from './upstream.ts';

/** A socket whose bytes never get out. */
class FullSocket extends Socket {
  override _write(): void {}
}

/** A socket that never gets its end out. */
class StuckSocket extends Socket {
  override _final(): void {}
}

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  // A server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}

/** Accepts clients on a port and joins each to the upstream that `open` makes. */
async function joinClients(
  t: TestContext,
  open: OpenUpstream,
  joined: (connection: TcpConnection, client: Socket) => void,
  closed: (connection: TcpConnection) => void = () => {},
): Promise<number> {
  const front = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  front.on('connection', (client) => {
    const identity = { kind: 'tcp_edge' as const, id: 'e', accountId: 'a', ports: [], names: [] };
    const list = connectionList(buildModules({}).shared);
    const settings = { list, backendId: undefined, termination: undefined, policyIds: [] };
    const rules = { ...identity, ...settings, isLoaded: true, isPooled: false };
    const edge = { rules, connections: new OpenConnections<OpenConnection>() };
    const connection = new TcpConnection(
      {
        client,
        port: 0,
        visit: requestVisit(),
        sourceText: '',
        claim: 0,
        edge,
        decision: { connectionId: 'c', accountId: 'a', claim: 0 },
        hops: [],
        isSecuring: false,
        untilMs: Infinity,
      },
      open,
      { close: () => {} },
      { timeouts: { headersMs: 5000, upstreamConnectMs: 5000, idleMs: 50, keepAliveMs: 5000 }, closed },
    );
    joined(connection, client);
  });
  return listen(t, front);
}

test('an upstream that is left when the client is gone is closed at the idle limit', async (t) => {
  const port = await listen(
    t,
    createServer((socket) => void socket.end('bye').resume()),
  );
  const connectStuck: OpenUpstream = (user) => {
    const socket = new StuckSocket({ allowHalfOpen: true });
    socket.connect(port, '127.0.0.1', () => {
      user.connected();
    });
    return socket.on('data', (bytes) => user.received(bytes));
  };

  let ready = Promise.resolve(0);
  const closed = new Promise<TcpConnection>((resolve) => {
    const look = (connection: TcpConnection, client: Socket): void => {
      client.on('close', () => {
        // The look that follows.
        setImmediate(() => {
          connection.watch();
        });
      });
    };
    ready = joinClients(t, connectStuck, look, resolve);
  });
  await once(connect(await ready, '127.0.0.1').resume(), 'close');
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 60_000, undefined).unref());
  assert.equal((await Promise.race([closed, late]))?.report.reason, 'idle');
});

test('a side that takes nothing keeps few pieces waiting, however small they are', async (t) => {
  const port = await listen(
    t,
    createServer((socket) => void socket.on('error', () => {}).resume()),
  );
  const upstreams: Socket[] = [];
  const connectFull: OpenUpstream = (user) => {
    const socket = new FullSocket({ allowHalfOpen: true });
    upstreams.push(socket);
    socket.connect(port, '127.0.0.1', () => {
      user.connected();
    });
    return socket;
  };
  let pieces = 0;
  const clients: Socket[] = [];
  const frontPort = await joinClients(t, connectFull, (_, client) => {
    clients.push(client);
    client.on('data', () => (pieces += 1));
  });
  const client = connect(frontPort, '127.0.0.1').setNoDelay();
  for (let at = 0; at < 3000; at++) {
    client.write('x');
    await nextTurn();
  }
  pieces += clients[0]?.readableLength ?? 0;
  assert.ok(pieces > 1 && pieces < 200, `${pieces} pieces were taken`);
  for (const socket of [client, ...upstreams]) socket.destroy();
});
