import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { requestVisit } from '../../../test/support/step-visit.ts';
import { buildModules } from '../../modules/index.ts';
import type { GatewayTimeouts } from '../engine.ts';
import { TcpConnection } from './connection.ts';
import type { OpenConnection } from './connection.ts';
import { connectionList } from './connection-list.ts';
import { OpenConnections } from './open-connections.ts';
import type { OpenUpstream, UpstreamUser } from './upstream.ts';

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
  limits: Partial<GatewayTimeouts> = {},
): Promise<number> {
  const timeouts = { headersMs: 5000, upstreamConnectMs: 5000, idleMs: 50, keepAliveMs: 5000, ...limits };
  const front = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  front.on('connection', (client) => {
    const identity = { kind: 'tcp_edge' as const, id: 'e', accountId: 'a', ports: [], names: [] };
    const list = connectionList(buildModules({}).shared);
    const settings = { list, backendId: undefined, termination: undefined, policyIds: [] };
    const rules = { ...identity, ...settings, isLoaded: true, isPooled: false };
    const edge = { rules, isRemoved: false, connections: new OpenConnections<OpenConnection>() };
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
        admittedBy: 0,
      },
      open,
      { close: () => {} },
      { timeouts, closed },
    );
    joined(connection, client);
  });
  return listen(t, front);
}

for (const isWatched of [false, true])
  test(`an upstream that is left when the client is gone is closed at the idle limit (watched before: ${isWatched})`, async (t) => {
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
        if (isWatched) connection.watch();
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

/** A client whose upstream is connected, and says so when `connected` is called. */
async function joinSlowly(t: TestContext, limits: Partial<GatewayTimeouts>) {
  const port = await listen(
    t,
    createServer((socket) => void socket.on('error', () => {}).resume()),
  );
  const joined = Promise.withResolvers<{ readonly connection: TcpConnection; readonly connected: () => void }>();
  const closed = Promise.withResolvers<TcpConnection>();
  let user: UpstreamUser | undefined;
  const open: OpenUpstream = (each) => {
    user = each;
    return connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  };
  const look = (connection: TcpConnection): void => joined.resolve({ connection, connected: () => user?.connected() });
  const front = await joinClients(t, open, look, closed.resolve, limits);
  const client = connect(front, '127.0.0.1').on('error', () => {});
  t.after(() => client.destroy());
  return { client, closed: closed.promise, ...(await joined.promise) };
}

test('a connect that took long has no limit any more once it has succeeded', async (t) => {
  const limitMs = 200;
  const { connection, connected, closed } = await joinSlowly(t, { upstreamConnectMs: limitMs, idleMs: 60_000 });
  connection.watch();
  connected();
  // This timer runs out after the one of the connect would.
  const longer = new Promise<undefined>((resolve) => setTimeout(resolve, 2 * limitMs, undefined));
  assert.equal((await Promise.race([closed, longer]))?.report.reason, undefined);
});

test('a connection whose connect took long has the idle limit all the same', async (t) => {
  const { connection, connected, closed } = await joinSlowly(t, { idleMs: 50 });
  connection.watch();
  connected();
  assert.equal((await closed).report.reason, 'idle');
});

test('a connect that does not come to an end has its limit', async (t) => {
  const { connection, closed } = await joinSlowly(t, { upstreamConnectMs: 50, idleMs: 60_000 });
  connection.watch();
  assert.equal((await closed).report.reason, 'connect timeout');
});

test('what an upstream has sent before it broke arrives whole, however late it is read', async (t) => {
  const sent = Buffer.alloc(2_000_000, 'x');
  const port = await listen(
    t,
    createServer((socket) => void socket.end(sent).resume()),
  );
  const broken = Promise.withResolvers<undefined>();
  const open: OpenUpstream = (user) => {
    const upstream = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => user.connected());
    upstream.on('data', (bytes) => void (user.received(bytes) || upstream.pause()));
    // All of it has been read, and the client has not ended its direction.
    return upstream.on('end', () => upstream.destroy()).on('close', () => broken.resolve(undefined));
  };
  const front = await joinClients(t, open, () => {}, undefined, { idleMs: 60_000 });
  const client = connect({ port: front, host: '127.0.0.1' }).pause();
  t.after(() => client.destroy());
  let taken = 0;
  client.on('data', ({ length }: Buffer) => (taken += length)).pause();
  const looks = setInterval(() => client.resume().pause(), 5);
  await broken.promise;
  clearInterval(looks);
  client.resume();
  await once(client, 'end');
  assert.equal(taken, sent.length);
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
