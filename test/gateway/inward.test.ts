import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { Engine, InwardOptions } from '../../src/gateway/engine.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import { packCidrs } from '../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import type { ProcessEntry } from '../../src/snapshot/contract.ts';
import { freePort, plainOptions, Recorder, startGateway, until } from './support/tcp-engine.ts';
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

const inward = plainOptions.inward satisfies InwardOptions;

async function startWorkers(t: TestContext): Promise<{ engine: Engine; seen: Recorder }> {
  const seen = new Recorder();
  const options = { ...plainOptions, tcpListenHost: '::', trustedProxies: packRules(['127.0.0.1/32']) };
  const engine = await createWorkerEngine({ workers: 2, options, localCa: undefined, observer: seen, log: seen.log });
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
    for (const [index, host] of spellings.entries()) {
      await engine.apply(change([backend('bkdsc_2', victim, { host })]));
      const client = dial(t, attacker);
      client.socket.write('hello');
      await client.isReset();
      assert.equal(client.text, '', host);
      await until(() => seen.refused.length > index, `the refusal of ${host} is reported`);
      assert.equal(seen.refused.at(-1)?.host, host);
      assert.equal(seen.refused.at(-1)?.leadsTo, 'tcp');
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
    seen.refused.map(({ host, address, leadsTo }) => [host, address, leadsTo]),
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
  assert.equal(seen.refused.at(-1)?.leadsTo, 'link_local');
});

test('link-local addresses are refused, unless the setting allows them', async (t) => {
  const refusing = await startGateway(t);
  const allowing = await startGateway(t, {
    inward: { ...inward, allowLinkLocal: true },
    timeouts: { ...plainOptions.timeouts, upstreamConnectMs: 200 },
  });
  const [refusedPort, allowedPort] = [await freePort(), await freePort()];
  const hosts = ['169.254.169.254', '::ffff:169.254.169.254', 'fe80::1'];
  for (const host of hosts) {
    const entry = backend('bkdsc_1', 1, { host });
    await refusing.engine.apply(snapshot(entry, tcpEdge('edgtcp_1', [refusedPort])));
    await allowing.engine.apply(snapshot(entry, tcpEdge('edgtcp_1', [allowedPort])));
    await dial(t, refusedPort).isReset();
    await dial(t, allowedPort).isReset();
  }
  assert.deepEqual(
    refusing.seen.refused.map(({ leadsTo }) => leadsTo),
    hosts.map(() => 'link_local'),
  );
  assert.deepEqual(allowing.seen.refused, []);
  assert.ok(allowing.seen.closed.every(({ reason }) => reason !== 'backend leads inwards'));
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
  const { engine, seen } = await startGateway(t, {
    inward: {
      ...inward,
      listeners: [{ kind: 'api', host: '127.0.0.1', port: 4040 }],
      publicPorts: [443],
      ownAddresses: cidrs('203.0.113.10/32', '2001:db8::/32'),
    },
    timeouts: { ...plainOptions.timeouts, upstreamConnectMs: 100 },
  });
  const port = await freePort();
  const refusedAt = async (host: string, to: number): Promise<string | undefined> => {
    const before = seen.refused.length;
    await engine.apply(change([backend('bkdsc_1', to, { host })]));
    await dial(t, port).isReset();
    return seen.refused[before]?.leadsTo;
  };
  await engine.apply(snapshot(backend('bkdsc_1', 1), tcpEdge('edgtcp_1', [port])));
  assert.equal(await refusedAt('203.0.113.10', 443), 'public');
  assert.equal(await refusedAt('203.0.113.10', 4040), 'api');
  assert.equal(await refusedAt('203.0.113.10', port), 'tcp');
  assert.equal(await refusedAt('64:ff9b::cb00:710a', 443), 'public');
  assert.equal(await refusedAt('2001:db8::9', 443), 'public');
  assert.equal(await refusedAt('203.0.113.10', 9), undefined);
  assert.equal(await refusedAt('203.0.113.11', 443), undefined);
  assert.equal(await refusedAt('127.0.0.1', 443), undefined, 'a public port is one only where the world comes in');
});

function otherProcess(networkId: string, more: Partial<ProcessEntry> = {}): ProcessEntry {
  return {
    kind: 'process',
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
  const { engine, seen } = await startGateway(t, {
    inward: { ...inward, networkId: 'here' },
    timeouts: { ...plainOptions.timeouts, upstreamConnectMs: 100 },
  });
  const port = await freePort();
  const refusedAt = async (host: string, to: number, process: ProcessEntry): Promise<string | undefined> => {
    const before = seen.refused.length;
    await engine.apply(change([backend('bkdsc_1', to, { host }), process]));
    await dial(t, port).isReset();
    return seen.refused[before]?.leadsTo;
  };
  await engine.apply(snapshot(backend('bkdsc_1', 1), tcpEdge('edgtcp_1', [port])));
  assert.equal(await refusedAt('192.0.2.77', 4041, otherProcess('there')), 'api');
  assert.equal(await refusedAt('192.0.2.78', port, otherProcess('there')), 'tcp');
  assert.equal(await refusedAt('192.0.2.77', 4042, otherProcess('there')), undefined);
  assert.equal(await refusedAt('192.0.2.79', 4041, otherProcess('there')), undefined);
  assert.equal(
    await refusedAt('127.0.0.1', 4041, otherProcess('there')),
    undefined,
    'it has loopback addresses of its own',
  );
  assert.equal(await refusedAt('192.0.2.77', port, otherProcess('there', { listeners: [] })), undefined);
  assert.equal(await refusedAt('127.0.0.1', 4041, otherProcess('here')), 'api');
  assert.equal(await refusedAt('localhost', 4041, otherProcess('here')), 'api');
  assert.equal(
    await refusedAt('127.0.0.1', 4041, otherProcess('')),
    'api',
    'a machine that is not known may be this one',
  );
  await engine.apply(change([], [{ kind: 'process', id: 'proc_1' }]));
  const before = seen.refused.length;
  await dial(t, port).isReset();
  assert.equal(seen.refused.length, before, 'a process that is gone has no listeners');
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
