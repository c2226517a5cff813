import assert from 'node:assert/strict';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { BackendRefused, Engine, InwardOptions } from '../../src/gateway/engine.ts';
import { createConnector } from '../../src/gateway/upstream/connect.ts';
import { InwardBackendError, UpstreamGuard } from '../../src/gateway/upstream/guard.ts';
import { ListenerTable } from '../../src/gateway/upstream/listener-table.ts';
import { UpstreamSockets } from '../../src/gateway/upstream/upstream-sockets.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import { packCidrs } from '../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import type { ProcessEntry, SnapshotEntry } from '../../src/snapshot/contract.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, startGateway, until } from './support/tcp-engine.ts';
import type { Gateway } from './support/tcp-engine.ts';
import { backend, change, limitedTo, packRules, policy, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

const machineAddress = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

/** Every way to write an address of this machine that a backend may have. */
const spellings = [
  '127.0.0.1',
  '127.0.0.2',
  '0.0.0.0',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:0.0.0.0',
  '64:ff9b::7f00:1',
  'localhost',
  ...(machineAddress === undefined ? [] : [machineAddress, `::ffff:${machineAddress}`]),
];

/** Stands for the port of the edge that leads there. */
const theEdge = 0;

const inward = plainOptions.inward satisfies InwardOptions;

async function startWorkers(t: TestContext): Promise<{ engine: Engine; seen: Recorder }> {
  const seen = new Recorder();
  const options = { ...plainOptions, tcpListenHost: '::', trustedProxies: packRules(['127.0.0.1/32']) };
  const engine = await createWorkerEngine({
    workers: { least: 2, most: 2 },
    options,
    localCa: undefined,
    observer: seen,
    log: seen.log,
  });
  t.after(() => engine.drain(0));
  return { engine, seen };
}

const forms = [
  ['one process', (t: TestContext) => startGateway(t, { tcpListenHost: '::' })],
  ['two workers', startWorkers],
] as const;

for (const [form, start] of forms) {
  test(`with ${form}, no spelling of an own address leads a TCP edge to another one`, async (t) => {
    const { engine, seen } = await start(t);
    const upstream = await startUpstream(t);
    const [victim, attacker] = [await freePort('::'), await freePort('::')];
    const own = policy('ipp_1', '127.0.0.0/8', '::1/128', ...(machineAddress ? [`${machineAddress}/32`] : []));
    const edges = [
      tcpEdge('edgtcp_victim', [victim], limitedTo('ipp_1')),
      tcpEdge('edgtcp_attacker', [attacker], toBackend('bkdsc_2')),
    ];
    await engine.apply(snapshot(own, backend('bkdsc_1', upstream.port), backend('bkdsc_2', victim), ...edges));
    await dialAndEcho(t, victim);
    for (const host of spellings) {
      await engine.apply(change([backend('bkdsc_2', victim, { host })]));
      const client = dial(t, attacker);
      client.socket.write('hello');
      await client.isReset();
      assert.equal(client.text, '', host);
      // A name may have several addresses, each of which is refused.
      await until(() => seen.backendsRefused.at(-1)?.host === host, `the refusal of ${host} is reported`);
      assert.equal(seen.backendsRefused.at(-1)?.leadsTo, 'tcp');
    }
    assert.equal(upstream.peers.length, 1, 'only the direct client came through');
    await until(() => seen.closed.length >= spellings.length, 'the ends are reported');
    assert.equal(seen.closed.at(-1)?.reason, 'backend leads inwards');
  });

  test(`with ${form}, an edge that leads to itself ends at the first hop`, async (t) => {
    const { engine, seen } = await start(t);
    const port = await freePort('::');
    await engine.apply(snapshot(backend('bkdsc_1', port), tcpEdge('edgtcp_1', [port])));
    const client = dial(t, port);
    client.socket.write('x');
    await client.isReset();
    await until(() => seen.closed.length > 0, 'the connection has ended');
    assert.equal(seen.verdicts.length, 1);
  });
}

test('a name is refused by what it resolves to, and one that has other addresses too is connected to those', async (t) => {
  const upstream = await startUpstream(t);
  const victim = upstream.port;
  const answers = new Map<string, readonly string[]>();
  let lookups = 0;
  const { engine, seen } = await startGateway(
    t,
    // The upstream's own port is that of a listener, on every address of this machine.
    { inward: { ...inward, listeners: [{ kind: 'api', host: '127.0.0.1', port: victim }] } },
    [],
    {
      lookup: (name, _options, callback) => {
        lookups++;
        const found = answers.get(name) ?? [];
        const list = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
        setImmediate(() => callback(null, list));
      },
    },
  );
  answers.set('inside.test', ['127.0.0.1', '::1']);
  answers.set('none.test', []);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', victim, { host: 'inside.test' }), tcpEdge('edgtcp_1', [port])));
  await dial(t, port).isReset();
  assert.deepEqual(
    seen.backendsRefused.map(({ host, address, leadsTo }) => [host, address, leadsTo]),
    [
      ['inside.test', '127.0.0.1', 'api'],
      ['inside.test', '::1', 'api'],
    ],
  );
  assert.equal(lookups, 1, 'the name is resolved once');
  await engine.apply(change([backend('bkdsc_1', victim, { host: 'none.test' })]));
  await dial(t, port).isReset();
  assert.equal(upstream.peers.length, 0);

  const other = await startUpstream(t);
  answers.set('mixed.test', ['169.254.1.1', '127.0.0.1']);
  await engine.apply(change([backend('bkdsc_1', other.port, { host: 'mixed.test' })]));
  await dialAndEcho(t, port);
  assert.equal(seen.backendsRefused.at(-1)?.leadsTo, 'link_local');
});

/** Sends one client through an edge to that place, and returns where the gateway says that it leads, if it refuses. */
async function refusalAt(
  t: TestContext,
  { engine, seen }: Gateway,
  { host, port }: { readonly host: string; readonly port: number },
  ...more: readonly SnapshotEntry[]
): Promise<string | undefined> {
  const edgePort = await freePort();
  const edge = tcpEdge('edgtcp_1', [edgePort]);
  await engine.apply(change([backend('bkdsc_1', port === 0 ? edgePort : port, { host }), edge, ...more]));
  const { verdicts, backendsRefused: refused } = seen;
  const [opened, before] = [verdicts.length, refused.length];
  const client = dial(t, edgePort);
  // An address is decided on in the same turn. Nothing is waited for: nobody knows what answers out there.
  await until(() => verdicts.length > opened, 'the client has come');
  client.socket.destroy();
  return refused[before]?.leadsTo;
}

test('link-local addresses are refused, unless the setting allows them', async (t) => {
  const refusing = await startGateway(t);
  const allowing = await startGateway(t, { inward: { ...inward, allowLinkLocal: true } });
  for (const host of ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1', '64:ff9b::a9fe:a9fe']) {
    assert.equal(await refusalAt(t, refusing, { host, port: 80 }), 'link_local', host);
    assert.equal(await refusalAt(t, allowing, { host, port: 80 }), undefined, host);
  }
});

function cidrs(...texts: readonly string[]): InwardOptions['ownAddresses'] {
  return packCidrs(
    texts.map((text) => {
      const parsed = parseCidr(text);
      assert.ok(parsed.ok);
      return { cidr: parsed.cidr, flags: 1 };
    }),
  );
}

test('addresses that lead back from outside are refused at every port of the installation, and at no other', async (t) => {
  const gateway = await startGateway(t, {
    inward: {
      ...inward,
      listeners: [{ kind: 'api', host: '127.0.0.1', port: 4040 }],
      publicPorts: [443],
      ownAddresses: cidrs('203.0.113.10/32', '2001:db8::/32', '127.0.0.9/32'),
    },
  });
  const cases: readonly [host: string, port: number, leadsTo: string | undefined][] = [
    ['203.0.113.10', 443, 'public'],
    ['203.0.113.10', 4040, 'api'],
    ['203.0.113.10', theEdge, 'tcp'],
    ['64:ff9b::cb00:710a', 443, 'public'],
    ['2001:db8::9', 443, 'public'],
    ['127.0.0.9', 443, 'public'],
    ['203.0.113.10', 9, undefined],
    ['203.0.113.11', 443, undefined],
    // A public port is one only where the world comes in.
    ['127.0.0.1', 443, undefined],
  ];
  for (const [host, port, leadsTo] of cases) {
    assert.equal(await refusalAt(t, gateway, { host, port }), leadsTo, `${host} ${port}`);
  }
});

function otherProcess(networkId: string, more: Partial<ProcessEntry> = {}): ProcessEntry {
  return {
    kind: 'running_process',
    id: 'proc_1',
    networkId,
    addresses: ['192.0.2.77', '::ffff:192.0.2.78'],
    listeners: [
      { kind: 'api', host: '0.0.0.0', port: 4041 },
      { kind: 'tcp', host: '0.0.0.0', port: 0 },
    ],
    ...more,
  };
}

test('listeners of other processes are refused: on the addresses of their machine, and here if it is this one', async (t) => {
  const gateway = await startGateway(t, { inward: { ...inward, networkId: 'here' } });
  const cases: readonly [host: string, port: number, process: ProcessEntry, leadsTo: string | undefined][] = [
    ['192.0.2.77', 4041, otherProcess('there'), 'api'],
    ['192.0.2.78', theEdge, otherProcess('there'), 'tcp'],
    ['192.0.2.77', 4042, otherProcess('there'), undefined],
    ['192.0.2.79', 4041, otherProcess('there'), undefined],
    ['192.0.2.77', theEdge, otherProcess('there', { listeners: [] }), undefined],
    // Another machine has loopback addresses of its own.
    ['127.0.0.1', 4041, otherProcess('there'), undefined],
    ['127.0.0.1', 4041, otherProcess('here'), 'api'],
    ['::1', 4041, otherProcess('here'), 'api'],
    // A machine that is not known may be this one.
    ['127.0.0.1', 4041, otherProcess(''), 'api'],
  ];
  for (const [host, port, process, leadsTo] of cases) {
    const at = `${host} ${port} of ${process.networkId}`;
    assert.equal(await refusalAt(t, gateway, { host, port }, process), leadsTo, at);
  }
  await gateway.engine.apply(change([], [{ kind: 'running_process', id: 'proc_1' }]));
  assert.equal(await refusalAt(t, gateway, { host: '127.0.0.1', port: 4041 }), undefined, 'it is gone');
});

test('an address that the system does not list as its own is known by the connection itself', async (t) => {
  const upstream = await startUpstream(t);
  const refused: BackendRefused[] = [];
  const listeners = new ListenerTable(
    { ...inward, listeners: [{ kind: 'api', host: '127.0.0.1', port: upstream.port }] },
    { has: () => false },
  );
  const guard = new UpstreamGuard({
    listeners,
    sockets: new UpstreamSockets(),
    allowLinkLocal: false,
    refused: (event) => refused.push(event),
  });
  for (const tls of [false, true]) {
    const target = { id: 'bkdsc_1', host: '127.0.0.1', port: upstream.port, tls };
    const socket = createConnector(guard)(target, {}, () => assert.fail('it was established'));
    const [error] = await once(socket, 'error');
    assert.ok(error instanceof InwardBackendError);
  }
  assert.deepEqual(
    refused.map(({ leadsTo }) => leadsTo),
    ['api', 'api'],
  );
  await until(() => upstream.peers.every(({ ended, broken }) => ended || broken !== undefined), 'both are closed');
  assert.deepEqual(
    upstream.peers.map(({ text }) => text),
    upstream.peers.map(() => ''),
  );
});

test('an open connection is cut when it turns out to lead to a listener', async (t) => {
  const upstream = await startUpstream(t);
  const elsewhere = await startUpstream(t);
  const { engine } = await startGateway(t);
  const [port, other] = [await freePort(), await freePort()];
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      backend('bkdsc_2', elsewhere.port),
      tcpEdge('edgtcp_1', [port]),
      tcpEdge('edgtcp_2', [other], toBackend('bkdsc_2')),
    ),
  );
  const [cut, kept] = [await dialAndEcho(t, port), await dialAndEcho(t, other)];
  const listeners = [{ kind: 'api', host: '127.0.0.1', port: upstream.port }] as const;
  await engine.apply(change([otherProcess('', { addresses: [], listeners })]));
  await cut.isReset();
  kept.socket.write('!');
  await kept.receives('hello!');
});
