import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BalanceEntry } from '../../src/snapshot/contract.ts';
import { wideBounds } from './support/bounds.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { backend, change, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, silent, startUpstream } from './support/tcp-peers.ts';

test('a connection above the bound of its backend is reset; one that closes makes room', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, backendConnections: 2 } });
  const upstream = await startUpstream(t);
  const [port, samePort, otherPort] = [await freePort(), await freePort(), await freePort()];
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      backend('bkdsc_2', upstream.port),
      tcpEdge('edgtcp_1', [port]),
      tcpEdge('edgtcp_2', [samePort]),
      tcpEdge('edgtcp_3', [otherPort], toBackend('bkdsc_2')),
    ),
  );
  const first = await dialAndEcho(t, port);
  await dialAndEcho(t, samePort);
  await dial(t, port, { from: '127.0.0.2' }).isReset();
  assert.equal(upstream.peers.length, 2);
  assert.deepEqual(
    seen.closed.map(({ edgeId, source, reason }) => [edgeId, source, reason]),
    [['edgtcp_1', '127.0.0.2', 'too many connections']],
  );
  await dialAndEcho(t, otherPort);
  await until(() => seen.refused.backend_connections === 1, 'it is counted');
  assert.deepEqual(seen.logged, [
    { bound: 'backend_connections', limit: 2, code: 20114, refused: 1, backendId: 'bkdsc_1' },
  ]);
  first.socket.destroy();
  await until(() => seen.closed.length === 2, 'the first is closed');
  await dialAndEcho(t, port);
});

test('the engine says how many clients it has', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  assert.equal(engine.clientCount, 0);
  const client = await dialAndEcho(t, port);
  await dialAndEcho(t, port);
  assert.equal(engine.clientCount, 2);
  client.socket.destroy();
  await until(() => engine.clientCount === 1, 'one has left');
});

test('a backend that cannot be reached gives its place to the next one of its group', async (t) => {
  const { engine } = await startGateway(t, { bounds: { ...wideBounds, accountConnections: 1 } });
  const upstream = await startUpstream(t);
  const port = await freePort();
  const members = ['dead', 'bkdsc_1'].map((id) => ({ id, weight: 1 }));
  await engine.apply(
    snapshot(
      backend('dead', await freePort()),
      backend('bkdsc_1', upstream.port),
      { kind: 'backend_group', id: 'group', choice: 'failover', members },
      tcpEdge('edgtcp_1', [port], toBackend('group')),
    ),
  );
  await dialAndEcho(t, port);
  await dial(t, port).isReset();
});

test('a client whose edge is removed while a backend of a group is tried leaves no place taken', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, accountConnections: 1 } });
  const [upstream, hanging] = [await startUpstream(t), await startUpstream(t, silent)];
  const [port, otherPort] = [await freePort(), await freePort()];
  const members = ['hanging', 'bkdsc_1'].map((id) => ({ id, weight: 1 }));
  await engine.apply(
    snapshot(
      backend('hanging', hanging.port, { tls: true }),
      backend('bkdsc_1', upstream.port),
      { kind: 'backend_group', id: 'group', choice: 'failover', members },
      tcpEdge('edgtcp_1', [port], toBackend('group')),
      tcpEdge('edgtcp_2', [otherPort]),
    ),
  );
  const client = dial(t, port);
  await until(() => hanging.peers.length === 1, 'it is tried');
  await engine.apply(change([], [{ kind: 'tcp_edge', id: 'edgtcp_1' }]));
  await client.isReset();
  assert.equal(seen.closed.length, 1);
  await dialAndEcho(t, otherPort);
});

test('a client that leaves while a backend of a group is tried gives up its place at once', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, accountConnections: 1 } });
  const [upstream, hanging] = [await startUpstream(t), await startUpstream(t, silent)];
  const [port, otherPort] = [await freePort(), await freePort()];
  const members = ['hanging', 'bkdsc_1'].map((id) => ({ id, weight: 1 }));
  await engine.apply(
    snapshot(
      backend('hanging', hanging.port, { tls: true }),
      backend('bkdsc_1', upstream.port),
      { kind: 'backend_group', id: 'group', choice: 'failover', members },
      tcpEdge('edgtcp_1', [port], toBackend('group')),
      tcpEdge('edgtcp_2', [otherPort]),
    ),
  );
  for (const [at, leave] of (['destroy', 'resetAndDestroy'] as const).entries()) {
    const client = dial(t, port);
    await until(() => hanging.peers.length === at + 1, 'it is tried');
    client.socket[leave]();
    await until(() => seen.closed.length === at + 1, 'its leaving is noticed');
  }
  assert.deepEqual(
    seen.closed.map(({ reason }) => reason),
    ['client', 'client'],
  );
  assert.equal(upstream.peers.length, 0);
  await dialAndEcho(t, otherPort);
});

test('an address has as many connections as are open: one that had many is taken again', async (t) => {
  const { engine, seen } = await startGateway(t);
  const [one, other] = [await startUpstream(t), await startUpstream(t)];
  const port = await freePort();
  const balance: BalanceEntry = {
    addresses: [one, other].map((each) => ({ host: '127.0.0.1', port: each.port, weight: 1 })),
    by: 'least_connections',
    retries: 1,
    whenAllDown: 'fail_open',
    slowStartMs: 0,
  };
  await engine.apply(snapshot(backend('bkdsc_1', one.port, { balance }), tcpEdge('edgtcp_1', [port])));
  const tell = (isDown: boolean) =>
    engine.setHealth([{ backendId: 'bkdsc_1', address: `127.0.0.1:${other.port}`, isDown, isFailing: false }]);
  const pass = async (count: number) => {
    for (let left = count; left > 0; left--) {
      const before = seen.closed.length;
      (await dialAndEcho(t, port)).socket.destroy();
      await until(() => seen.closed.length === before + 1, 'it is closed');
    }
  };
  tell(true);
  await pass(30);
  assert.deepEqual([one.peers.length, other.peers.length], [30, 0]);
  tell(false);
  await pass(25);
  assert.ok(one.peers.length > 30 && other.peers.length > 0, `${one.peers.length} and ${other.peers.length}`);
});

test('a connection above the bound of all upstreams is reset', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, upstreamConnections: 2 } });
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  await dialAndEcho(t, port);
  await dialAndEcho(t, port);
  await dial(t, port).isReset();
  await until(() => seen.refused.upstream_connections === 1, 'it is counted');
});

test('a source has so many connections and no more, over all edges; others are served', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, sourceConnections: 2 } });
  const upstream = await startUpstream(t);
  const [port, otherPort] = [await freePort(), await freePort()];
  await engine.apply(
    snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port]), tcpEdge('edgtcp_2', [otherPort])),
  );
  const first = await dialAndEcho(t, port, { from: '127.0.0.2' });
  await dialAndEcho(t, otherPort, { from: '127.0.0.2' });
  for (const each of [port, otherPort]) await dial(t, each, { from: '127.0.0.2' }).isReset();
  await dialAndEcho(t, port, { from: '127.0.0.3' });
  await until(() => seen.refused.source_connections === 2, 'they are counted');
  assert.equal(upstream.peers.length, 3);
  first.socket.destroy();
  await until(() => seen.closed.length === 1, 'the first is closed');
  await dialAndEcho(t, port, { from: '127.0.0.2' });
});

test('all clients have so many connections and no more', async (t) => {
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, clientConnections: 3 } });
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const [first] = [await dialAndEcho(t, port), await dialAndEcho(t, port), await dialAndEcho(t, port)];
  await dial(t, port, { from: '127.0.0.2' }).isReset();
  await until(() => seen.refused.client_connections === 1, 'it is counted');
  first?.socket.destroy();
  await until(() => seen.closed.length === 1, 'the first is closed');
  await dialAndEcho(t, port, { from: '127.0.0.2' });
});

test('96 silent connections of one source leave most connections of the backend to others', async (t) => {
  const shares = { sourceConnections: 96, backendConnections: 96, backendSourceConnections: 24 };
  const { engine, seen } = await startGateway(t, { bounds: { ...wideBounds, ...shares } });
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const clients = Array.from({ length: 96 }, () => dial(t, port, { from: '127.0.0.2' }));
  await until(() => clients.filter(({ broken }) => broken === 'ECONNRESET').length === 72, 'most are reset');
  await until(() => upstream.peers.length === 24, 'a share is connected');
  const others = [
    await dialAndEcho(t, port, { from: '127.0.0.9' }),
    await dialAndEcho(t, port, { from: '127.0.0.10' }),
  ];
  await until(() => seen.refused.backend_source_connections === 72, 'they are counted');
  assert.deepEqual(seen.logged, [
    {
      bound: 'backend_source_connections',
      limit: 24,
      code: 20126,
      refused: 1,
      backendId: 'bkdsc_1',
      source: '127.0.0.2',
    },
  ]);
  for (const { socket } of [...clients, ...others]) socket.destroy();
  await until(() => seen.closed.length === 98, 'all are closed');
  const again = Array.from({ length: 24 }, () => dialAndEcho(t, port, { from: '127.0.0.2' }));
  await Promise.all(again);
});
