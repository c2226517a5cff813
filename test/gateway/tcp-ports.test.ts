import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { createEngineBounds } from '../../src/gateway/bounds/engine-bounds.ts';
import { TcpFront } from '../../src/gateway/tcp/front.ts';
import { HealthTable } from '../../src/gateway/health/health-table.ts';
import { noDialer } from '../../src/gateway/tunnels/dialer.ts';
import { TunnelBackends } from '../../src/gateway/tunnels/tunnel-backends.ts';
import { createUpstream } from '../../src/gateway/upstream/create-upstream.ts';
import { connectionServices } from '../../src/gateway/connection-services.ts';
import { VaultSecrets } from '../../src/gateway/vault-secrets.ts';
import { CidrSet } from '../../src/lib/ip/cidr-set.ts';
import { AccessTable } from '../../src/snapshot/access.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, startGateway, until } from './support/tcp-engine.ts';
import { backend, change, limitedTo, packRules, policy, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

test('a port held by a foreign program is a fault of its edge alone, and works once the port is free', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const [taken, free] = [await freePort(), await freePort()];
  const foreign = createServer().listen(taken, '127.0.0.1');
  await once(foreign, 'listening');
  t.after(() => foreign.close());

  const edges = [tcpEdge('edgtcp_1', [taken]), tcpEdge('edgtcp_2', [free])];
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), ...edges));
  await dialAndEcho(t, free);
  assert.deepEqual(
    seen.faults.map(({ edgeId, port }) => [edgeId, port]),
    [['edgtcp_1', taken]],
  );
  assert.match(seen.faults[0]?.cause ?? '', /EADDRINUSE/);
  assert.equal(seen.errors.length, 1);

  foreign.close();
  await until(() => seen.faults.length === 2, 'the port is tried again');
  assert.deepEqual(seen.faults[1], { edgeId: 'edgtcp_1', port: taken, cause: undefined });
  await dialAndEcho(t, taken);
});

test('a fault ends with its edge, and moves with its port', async (t) => {
  const { engine, seen } = await startGateway(t);
  const taken = await freePort();
  const foreign = createServer().listen(taken, '127.0.0.1');
  await once(foreign, 'listening');
  t.after(() => foreign.close());

  await engine.apply(snapshot(tcpEdge('edgtcp_1', [taken])));
  await engine.apply(change([tcpEdge('edgtcp_2', [taken])], [{ kind: 'tcp_edge', id: 'edgtcp_1' }]));
  await engine.apply(change([tcpEdge('edgtcp_2', [])]));
  assert.deepEqual(
    seen.faults.map(({ edgeId, cause }) => `${edgeId} ${cause === undefined ? 'works' : 'faulty'}`),
    ['edgtcp_1 faulty', 'edgtcp_1 works', 'edgtcp_2 faulty', 'edgtcp_2 works'],
  );
});

test('a client that connects before the edge of a new port is in force waits for its rules', async (t) => {
  const access = new AccessTable();
  const seen = new Recorder();
  const options = { ...plainOptions, trustedProxies: new CidrSet(packRules([])) };
  const bounds = createEngineBounds(options.bounds, seen, seen.log);
  const front = new TcpFront({
    options,
    access,
    observer: seen,
    log: seen.log,
    ...createUpstream({ options, observer: seen }),
    tunnels: new TunnelBackends(noDialer, bounds.waits, options.timeouts.upstreamConnectMs),
    health: new HealthTable(() => {}),
    services: connectionServices({ access, bounds, secrets: new VaultSecrets(), log: seen.log }),
    bounds,
  });
  t.after(() => front.drain(0));
  const upstream = await startUpstream(t);
  const [port, abandonedPort] = [await freePort(), await freePort()];

  const update = snapshot(
    policy('ipp_1', '127.0.0.2/32'),
    backend('bkdsc_1', upstream.port),
    tcpEdge('edgtcp_1', [port], limitedTo('ipp_1')),
  );
  const swaps = [access.prepare(update, assert.fail), await front.prepare(update, assert.fail)];
  const [refused, admitted] = [dial(t, port, { from: '127.0.0.3' }), dial(t, port, { from: '127.0.0.2' })];
  refused.socket.write('early');
  admitted.socket.write('early');
  await Promise.all([once(refused.socket, 'connect'), once(admitted.socket, 'connect')]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(upstream.peers.length, 0);
  for (const swap of swaps) swap();
  await refused.isReset();
  await admitted.receives('early');
  assert.equal(upstream.peers.length, 1);

  await front.prepare(change([tcpEdge('edgtcp_2', [abandonedPort])]), assert.fail);
  const stranded = dial(t, abandonedPort);
  await once(stranded.socket, 'connect');
  front.abandon?.();
  await stranded.isReset();
});

test('one change among 2,000 ports costs no more than among ten', async (t) => {
  // Its own address, so that the many ports conflict with no other test.
  const host = '127.0.0.77';
  const upstream = await startUpstream(t);
  const firstPort = 20_000;
  const entriesOf = (at: number) => [
    policy(`ipp_${at}`, '127.0.0.0/8'),
    tcpEdge(`edgtcp_${at}`, [firstPort + at], limitedTo(`ipp_${at}`)),
  ];
  const start = async (count: number) => {
    const { engine } = await startGateway(t, { tcpListenHost: host });
    const edges = Array.from({ length: count }, (_, at) => entriesOf(firstOf(count) + at)).flat();
    await engine.apply(snapshot(backend('bkdsc_1', upstream.port), ...edges));
    return { engine, count, times: [] as number[] };
  };
  const [few, many] = [await start(10), await start(2000)];
  for (let round = 0; round < 100; round++) {
    for (const { engine, count, times } of [few, many]) {
      const startMs = performance.now();
      await engine.apply(change(entriesOf(firstOf(count) + (round % count))));
      times.push(performance.now() - startMs);
    }
  }
  await dialAndEcho(t, firstPort + firstOf(2000) + 1999, { host });
  // A cost that grew with the number of edges would be 200 times as much.
  const [fewMs, manyMs] = [median(few.times), median(many.times)];
  assert.ok(manyMs < fewMs * 20 + 1, `${manyMs} ms among 2,000, ${fewMs} ms among 10`);
});

/** Returns the first port, different for the two gateways of the test above. */
function firstOf(count: number): number {
  return count === 10 ? 0 : 10;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

test('a backend that comes back is used again', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port], toBackend())));
  await engine.apply(change([], [{ kind: 'backend', id: 'bkdsc_1' }]));
  await dial(t, port).isReset();
  await engine.apply(change([backend('bkdsc_1', upstream.port)]));
  await dialAndEcho(t, port);
});
