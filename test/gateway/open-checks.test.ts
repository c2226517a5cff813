import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { TunnelDialer } from '../../src/gateway/tunnels/dialer.ts';
import { Pace } from '../../src/lib/pace.ts';
import { countSlices } from '../support/count-slices.ts';
import { freePort } from '../support/free-port.ts';
import { connectClient } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  toBackend,
  trafficPolicy,
} from './support/https-entries.ts';
import { startGateway as startHttps } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { plainOptions, startGateway, until } from './support/tcp-engine.ts';
import {
  accountId,
  backend,
  change,
  limitedTo,
  policy,
  restriction,
  snapshot,
  tcpEdge,
} from './support/tcp-entries.ts';
import type { SnapshotUpdate } from '../../src/snapshot/contract.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';
import type { Peer } from './support/tcp-peers.ts';

/** Nothing ends a connection but the rules. */
const idleMs = 86_400_000;
const neverIdle = { timeouts: { ...plainOptions.timeouts, idleMs } };
const most = 40;

async function openMany(t: TestContext, port: number, from: string): Promise<readonly Peer[]> {
  const peers: Peer[] = [];
  for (let at = 0; at < most; at++) peers.push(await dialAndEcho(t, port, { from }));
  return peers;
}

/** An edge with connections of two sources. */
async function openEdge(t: TestContext) {
  const { engine, seen } = await startGateway(t, neverIdle);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const target = backend('bkdsc_1', upstream.port);
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.1/32', '127.0.0.2/32'), target, edge));
  const [stay, go] = [await openMany(t, port, '127.0.0.1'), await openMany(t, port, '127.0.0.2')];
  return { engine, seen, stay, go, port, edge };
}

const changes: Readonly<Record<string, (port: number) => SnapshotUpdate>> = {
  'an IP policy': () => change([policy('ipp_1', '127.0.0.1/32')]),
  'a restriction': () => change([policy('ipp_2', '127.0.0.1/32'), restriction('ipx_1', ['ipp_2'])]),
  'the edge': (port) => change([policy('ipp_2', '127.0.0.1/32'), tcpEdge('edgtcp_1', [port], limitedTo('ipp_2'))]),
};

for (const [name, update] of Object.entries(changes))
  test(`when ${name} changes, connections of an edge are asked again in slices, and all of them`, async (t) => {
    const { engine, stay, go, port } = await openEdge(t);
    const slices = await countSlices(() => engine.apply(update(port)));
    assert.ok(slices >= 2 * most, `${slices} slices`);
    for (const peer of go) await peer.isReset();
    assert.ok(stay.every(({ socket }) => !socket.destroyed));
    const unconcerned = change([policy('ipp_unused', '192.0.2.0/24')]);
    assert.equal(await countSlices(() => engine.apply(unconcerned)), 0);
  });

test('connections of an edge that is gone end in slices, and all of them', async (t) => {
  const { engine, seen, stay, go } = await openEdge(t);
  const slices = await countSlices(() => engine.apply(change([], [{ kind: 'tcp_edge', id: 'edgtcp_1' }])));
  assert.ok(slices >= 2 * most, `${slices} slices`);
  for (const peer of [...stay, ...go]) await peer.isReset();
  await until(() => seen.closed.length === 2 * most, 'all ends');
  assert.deepEqual(new Set(seen.closed.map(({ reason }) => reason)), new Set(['edge removed']));
});

test('changes that come while connections are asked lose none of them', async (t) => {
  const { engine, stay, go, port } = await openEdge(t);
  const both = [change([policy('ipp_1', '127.0.0.1/32')]), change([policy('ipp_1', '127.0.0.9/32')])];
  let late: Peer | undefined;
  await countSlices(async () => {
    const applying = both.map((update) => engine.apply(update));
    late = dial(t, port);
    await Promise.all(applying);
  });
  for (const peer of [...stay, ...go]) await peer.isReset();
  await late?.isReset();
});

const forwarding = { actions: [{ type: 'forward-internal', config: { url: 'tcp://a.internal:1' } }] };

for (const isForwarded of [false, true])
  test(`a connection whose backend is reached while others are asked is asked too (forwarded: ${isForwarded})`, async (t) => {
    const dialled: ((stream: Duplex) => void)[] = [];
    const dialer: TunnelDialer = {
      dial: () => new Promise((resolve) => dialled.push(resolve)),
      load: () => 0,
    };
    const { engine } = await startGateway(t, neverIdle, [], { dialer });
    const port = await freePort();
    const own = limitedTo('ipp_1');
    const value = JSON.stringify({ on_tcp_connect: [forwarding] });
    const edge = tcpEdge('edgtcp_1', [port], isForwarded ? { traffic_policy: { enabled: true, value } } : own);
    const internal = {
      kind: 'internal_endpoint',
      id: 'ep_1',
      accountId,
      url: 'tcp://a.internal:1',
      modules: own,
    } as const;
    const tunnel = { kind: 'tunnel_backend', id: 'bkdsc_1', tunnels: [{ id: 'tn_1', holder: 'here' }] } as const;
    await engine.apply(snapshot(policy('ipp_1', '127.0.0.0/8'), tunnel, internal, edge));
    const others = Array.from({ length: most }, () => dial(t, port));
    await until(() => dialled.length === most, 'they are being dialled');
    for (const reach of dialled) reach(new PassThrough());
    const last = dial(t, port, { from: '127.0.0.2' });
    await until(() => dialled.length === most + 1, 'the last one is, too');
    await countSlices(async () => {
      const applied = engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
      await new Promise(setImmediate);
      dialled.at(-1)?.(new PassThrough());
      await applied;
    });
    await last.isReset();
    assert.ok(others.every(({ socket }) => !socket.destroyed));
  });

test('connections that have changed protocol are asked again in slices, and all of them', async (t) => {
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const route = prefixRoute('/', { ...toBackend('b'), ...ipRestriction('ipp_1') });
  const gateway = await startHttps(
    [allowPolicy('ipp_1', '127.0.0.0/8'), backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [route])],
    { timeouts: { idleMs } },
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  const clients = [];
  for (let at = 0; at < most; at++) {
    const client = await connectClient(gateway.port);
    client
      .on('error', () => {})
      .write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    await until(() => text.endsWith('up'), 'the upgrade');
    clients.push(client);
  }
  const all = await countSlices(() => gateway.set(allowPolicy('ipp_other', '192.0.2.0/24')));
  assert.ok(all >= most, `${all} slices`);
  assert.ok(clients.every((client) => !client.destroyed));
  const closed = clients.map((client) => once(client, 'close'));
  await countSlices(() => gateway.set(allowPolicy('ipp_1', '192.0.2.0/24')));
  await Promise.all(closed);
});

/** Rules whose every question costs most of what a visit may, and that let everybody in. */
const deny = Array.from({ length: 200 }, (_, at) => `\${'10.${at}.0.0/16'}`);
const restrict = { type: 'restrict-ips', config: { deny, allow: ['127.0.0.0/8'] } };
const costly = Array.from({ length: 40 }, () => ({ actions: [restrict] }));
/** Connections that cost more together than those of an account may. */
const tooMany = 130;

test('connections that have changed protocol end where asking all of an account would cost too much', async (t) => {
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const rules = trafficPolicy({ on_http_request: costly });
  const gateway = await startHttps(
    [
      backendEntry('b', upstream.port),
      { ...edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...rules })]), accountId: 'ac_1' },
      { ...edgeEntry('n', ['other.test'], [prefixRoute('/', toBackend('b'))]), accountId: 'ac_2' },
    ],
    { timeouts: { idleMs } },
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  const open = async (servername: string) => {
    const client = await connectClient(gateway.port, { servername });
    let text = '';
    client.on('error', () => {}).on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    client.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
    await until(() => text.endsWith('up'), 'the upgrade');
    return client;
  };
  const clients: Awaited<ReturnType<typeof open>>[] = [];
  for (let at = 0; at < tooMany; at++) clients.push(await open('app.test'));
  const other = await open('other.test');
  await gateway.set(allowPolicy('ipp_other', '192.0.2.0/24'));
  await until(() => clients.at(-1)?.destroyed === true, 'the last one has ended');
  const left = clients.filter(({ destroyed }) => !destroyed).length;
  assert.ok(left > 80 && left < tooMany, `${left} are left`);
  assert.equal(other.destroyed, false);
});

test('connections of an edge end where asking all of an account would cost too much', async (t) => {
  const { engine } = await startGateway(t, neverIdle);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const rules = { ...limitedTo('ipp_1'), ...trafficPolicy({ on_tcp_connect: costly }) };
  const target = backend('bkdsc_1', upstream.port);
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.0/8'), target, tcpEdge('edgtcp_1', [port], rules)));
  const peers: Peer[] = [];
  for (let at = 0; at < tooMany; at++) peers.push(await dialAndEcho(t, port));
  await engine.apply(change([policy('ipp_1', '127.0.0.0/9')]));
  // Those that came last are asked first.
  await peers[0]?.isReset();
  const left = peers.filter(({ socket }) => !socket.destroyed).length;
  assert.ok(left > 80 && left < tooMany, `${left} are left`);
});

test('long work of others does not hold up that connections obey', async (t) => {
  const { engine, go, stay } = await openEdge(t);
  const over = new AbortController();
  let others = 0;
  const long = async (): Promise<void> => {
    const pace = new Pace();
    while (!over.signal.aborted) {
      others += 1;
      await pace.giveWay();
    }
  };
  const working = Array.from({ length: 20 }, long);
  await countSlices(() => engine.apply(change([policy('ipp_1', '127.0.0.1/32')])));
  over.abort();
  await Promise.all(working);
  for (const peer of go) await peer.isReset();
  assert.ok(stay.every(({ socket }) => !socket.destroyed));
  // Every other slice belongs to the connections.
  assert.ok(others < 6 * most, `${others} slices of others`);
});
