import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { createEngineBounds } from '../../src/gateway/bounds/engine-bounds.ts';
import { Challenges } from '../../src/gateway/certificates/challenges.ts';
import { HttpsFront } from '../../src/gateway/https/front.ts';
import { TcpFront } from '../../src/gateway/tcp/front.ts';
import { HealthTable } from '../../src/gateway/health/health-table.ts';
import { noDialer } from '../../src/gateway/tunnels/dialer.ts';
import { VisitorKeys } from '../../src/gateway/sign-in/visitor-keys.ts';
import { TunnelBackends } from '../../src/gateway/tunnels/tunnel-backends.ts';
import { Arrivals } from '../../src/gateway/upstream/arrivals.ts';
import type { ConnectUpstream } from '../../src/gateway/upstream/connect.ts';
import { OwnAddresses } from '../../src/gateway/upstream/own-addresses.ts';
import { arrivalOf, UpstreamSockets } from '../../src/gateway/upstream/upstream-sockets.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import { connectionServices } from '../../src/gateway/connection-services.ts';
import { VaultSecrets } from '../../src/gateway/vault-secrets.ts';
import { CidrSet } from '../../src/lib/ip/cidr-set.ts';
import { AccessTable } from '../../src/snapshot/access.ts';
import type { TcpEdgeEntry } from '../../src/snapshot/contract.ts';
import { singleCertificate } from './support/https-certificate.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, until } from './support/tcp-engine.ts';
import { backend, packRules, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, Peer, portOf, startUpstream } from './support/tcp-peers.ts';

/** Connects without a look at where it leads, so that only the arriving side can tell. */
function trackOnly(sockets: UpstreamSockets): ConnectUpstream {
  return ({ host, port }, options, established) => {
    const socket = connect({ host, port, ...options }, established);
    sockets.track(socket, port);
    return socket;
  };
}

function startFronts(t: TestContext, isBlind: boolean) {
  const seen = new Recorder();
  const access = new AccessTable();
  const sockets = new UpstreamSockets();
  const arrivals = new Arrivals(isBlind ? new UpstreamSockets() : sockets, new OwnAddresses());
  const options = {
    ...plainOptions,
    tcpListenHost: '::',
    https: { host: '::', port: 0 },
    http: { host: '::', port: 0 },
    trustedProxies: new CidrSet(packRules([])),
  };
  const bounds = createEngineBounds(options.bounds, seen, seen.log);
  const tunnels = new TunnelBackends(noDialer, bounds.waits, options.timeouts.upstreamConnectMs);
  const health = new HealthTable(() => {});
  const parts = {
    options,
    access,
    observer: seen,
    log: seen.log,
    tunnels,
    health,
    services: connectionServices({ access, bounds, secrets: new VaultSecrets(), log: seen.log }),
    arrivals,
    bounds,
  };
  const common = { ...parts, connect: trackOnly(sockets) };
  const tcp = new TcpFront(common);
  const https = new HttpsFront({
    ...common,
    passThrough: tcp,
    challenges: new Challenges(),
    visitorKeys: new VisitorKeys(),
    certificates: singleCertificate([]),
  });
  t.after(async () => {
    await Promise.all([tcp.drain(0), https.drain(0)]);
    bounds.reports[Symbol.dispose]();
  });
  return { seen, tcp, https };
}

for (const host of ['127.0.0.1', '127.0.0.2', '0.0.0.0', '::', '::1', '::ffff:127.0.0.1', 'localhost']) {
  test(`a connection that the gateway has made to itself, by ${host}, is reset on arrival`, async (t) => {
    const { seen, tcp, https } = startFronts(t, false);
    await https.listen();
    const { addresses } = https;
    const [victim, attacker] = [await freePort('::'), await freePort('::')];
    const upstream = await startUpstream(t);
    const edges = [tcpEdge('edgtcp_1', [victim]), tcpEdge('edgtcp_2', [attacker], toBackend('bkdsc_2'))];
    const ports = [victim, attacker, addresses.https?.port ?? 0, addresses.http?.port ?? 0];
    for (const port of ports) {
      const update = snapshot(backend('bkdsc_1', upstream.port), backend('bkdsc_2', port, { host }), ...edges);
      (await tcp.prepare(update, assert.fail))();
      const [opened, arrived] = [seen.verdicts.length, seen.ownArrivals];
      const client = dial(t, attacker);
      client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await client.isReset();
      assert.equal(client.text, '');
      // A name may have several addresses, each of which is tried.
      assert.ok(seen.ownArrivals > arrived);
      assert.equal(seen.verdicts.length, opened + 1, 'it was admitted once, when the client came');
    }
    assert.equal(upstream.peers.length, 0);
  });
}

test('without that, the other edge would take the connection', async (t) => {
  const { tcp } = startFronts(t, true);
  const [victim, attacker] = [await freePort('::'), await freePort('::')];
  const upstream = await startUpstream(t);
  const edges = [tcpEdge('edgtcp_1', [victim]), tcpEdge('edgtcp_2', [attacker], toBackend('bkdsc_2'))];
  const update = snapshot(backend('bkdsc_1', upstream.port), backend('bkdsc_2', victim), ...edges);
  (await tcp.prepare(update, assert.fail))();
  await dialAndEcho(t, attacker);
});

test('a connection of somebody else that shares a local port with one of ours is not taken for it', async (t) => {
  const sockets = new UpstreamSockets();
  const arrived: Socket[] = [];
  const [first, second] = [createServer(), createServer((socket) => arrived.push(socket))];
  for (const server of [first, second]) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
  }
  const ours = connect({ port: portOf(first), host: '127.0.0.1' });
  sockets.track(ours, portOf(first));
  t.after(() => ours.destroy());
  await once(ours, 'connect');
  const theirs = connect({ port: portOf(second), host: '127.0.0.1' });
  t.after(() => theirs.destroy());
  await until(() => arrived.length === 1, 'the other connection has arrived');
  const [socket] = arrived;
  const arrival = socket && arrivalOf(socket);
  assert.ok(arrival !== undefined && ours.localPort !== undefined);
  assert.equal(sockets.made({ ...arrival, peerPort: ours.localPort }), false, 'another listener');
  const made = { ...arrival, peerPort: ours.localPort, port: portOf(first) };
  assert.equal(sockets.made(made), true);
  assert.equal(sockets.made({ ...made, peerPort: ours.localPort + 1 }), false);
  assert.equal(sockets.made({ ...made, peerAddress: '127.0.0.2' }), false);
  assert.equal(sockets.made({ ...made, address: '127.0.0.2' }), false);
  ours.destroy();
  await once(ours, 'close');
  assert.equal(sockets.made(made), false, 'it is closed');
  assert.equal(sockets.hasPort(portOf(first)), false);
});

test('the parent of workers knows the connections of any of them, and no others', async (t) => {
  const seen = new Recorder();
  const options = { ...plainOptions, trustedProxies: packRules([]) };
  const engine = await createWorkerEngine({
    workers: { least: 2, most: 2 },
    options,
    localCa: undefined,
    observer: seen,
    log: seen.log,
  });
  t.after(() => engine.drain(0));
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  await Promise.all(Array.from({ length: 12 }, () => dialAndEcho(t, port)));
  const isOurs = ({ socket }: Peer) => engine.isOurs(socket, upstream.port);
  for (const peer of upstream.peers) assert.equal(await isOurs(peer), true);
  await dialAndEcho(t, upstream.port);
  const foreign = upstream.peers.at(-1);
  assert.ok(foreign !== undefined);
  assert.equal(await isOurs(foreign), false);
});

/** Makes an edge that has its port in one worker only: the first or the second that gets a copy. */
function inOneWorker(edge: TcpEdgeEntry, turn: 0 | 1): TcpEdgeEntry {
  let copies = 0;
  return Object.defineProperty({ ...edge }, 'ports', {
    enumerable: true,
    get: () => (copies++ === turn ? edge.ports : []),
  });
}

const plans = {
  'another one': { least: 2, most: 2 },
  'one that has joined it': { least: 1, most: 2, busyAbove: -1 },
};
for (const [maker, workers] of Object.entries(plans)) {
  test(`a worker resets a connection that ${maker} has made`, async (t) => {
    const seen = new Recorder();
    const options = { ...plainOptions, trustedProxies: packRules([]) };
    const engine = await createWorkerEngine({
      workers,
      options,
      localCa: undefined,
      observer: seen,
      log: seen.log,
    });
    t.after(() => engine.drain(0));
    await until(() => engine.pids.length === 2, 'there are two');
    const upstream = await startUpstream(t);
    const [victim, attacker] = [await freePort(), await freePort()];
    await engine.apply(
      snapshot(
        backend('bkdsc_1', upstream.port),
        backend('bkdsc_2', victim),
        // Each worker has one of them, and so none knows where the other's backend leads.
        inOneWorker(tcpEdge('edgtcp_1', [victim]), 0),
        inOneWorker(tcpEdge('edgtcp_2', [attacker], toBackend('bkdsc_2')), 1),
      ),
    );
    await dialAndEcho(t, victim);
    const client = dial(t, attacker);
    client.socket.write('hello');
    await client.isReset();
    await until(() => seen.ownArrivals === 1, 'the reset is reported');
    assert.deepEqual(seen.backendsRefused, [], 'the side that connects did not know');
    assert.equal(client.text, '');
    assert.equal(upstream.peers.length, 1, 'only the direct client came through');
  });
}
