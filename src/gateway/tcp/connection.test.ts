import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, Socket } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { parseIp } from '../../lib/ip/address.ts';
import { buildModules } from '../../modules/index.ts';
import { TcpConnection } from './connection.ts';
import type { OpenConnection } from './connection.ts';
import { OpenConnections } from './open-connections.ts';
import type { OpenUpstream } from './upstream.ts';

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

  const source = parseIp('127.0.0.1') ?? assert.fail();
  const front = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  const closed = new Promise<TcpConnection>((resolve) => {
    front.on('connection', (client) => {
      const identity = { kind: 'tcp_edge' as const, id: 'e', accountId: 'a', ports: [], names: [] };
      const rules = { ...identity, pipeline: buildModules({}), termination: undefined, policyIds: [], isLoaded: true };
      const edge = { rules, connections: new OpenConnections<OpenConnection>() };
      const connection = new TcpConnection(
        {
          client,
          source,
          sourceText: '',
          claim: 0,
          edge,
          decision: { connectionId: 'c', accountId: 'a', claim: 0 },
          certificate: undefined,
        },
        connectStuck,
        { close: () => {} },
        {
          timeouts: { headersMs: 5000, upstreamConnectMs: 5000, idleMs: 50, keepAliveMs: 5000 },
          closed: resolve,
        },
      );
      client.on('close', () => {
        // The look that follows.
        setImmediate(() => {
          connection.watch();
        });
      });
    });
  });
  await once(connect(await listen(t, front), '127.0.0.1').resume(), 'close');
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, 60_000, undefined).unref());
  assert.equal((await Promise.race([closed, late]))?.report.reason, 'idle');
});
