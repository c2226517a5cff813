import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { trafficPolicy } from './support/https-entries.ts';
import { backend, limitedTo, policy, restriction, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

test('a source that the module allows talks to the backend; another is reset and never reaches the backend', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.2/32'), backend('bkdsc_1', upstream.port), edge));

  const refused = dial(t, port, { from: '127.0.0.3' });
  refused.socket.write('let me in');
  await refused.isReset();
  await dialAndEcho(t, port, { from: '127.0.0.2' });

  assert.equal(refused.text, '');
  assert.equal(upstream.peers.length, 1);
  assert.deepEqual(seen.verdicts, ['refused_by_module', 'allowed']);
});

test('a deny rule outweighs an allow rule of another policy', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const policies = [policy('ipp_1', '127.0.0.0/8'), policy('ipp_2', '!127.0.0.3/32')];
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1', 'ipp_2'));
  await engine.apply(snapshot(...policies, backend('bkdsc_1', upstream.port), edge));

  await dial(t, port, { from: '127.0.0.3' }).isReset();
  await dialAndEcho(t, port, { from: '127.0.0.2' });
});

test('an enforced restriction of the account refuses what the edge itself would allow', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const rules = [policy('ipp_1', '127.0.0.2/32'), policy('ipp_2', '127.0.0.0/8'), restriction('ipx_1', ['ipp_1'])];
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_2'));
  await engine.apply(snapshot(...rules, backend('bkdsc_1', upstream.port), edge));

  await dial(t, port, { from: '127.0.0.3' }).isReset();
  await dialAndEcho(t, port, { from: '127.0.0.2' });
  assert.deepEqual(seen.verdicts, ['refused_by_restriction', 'allowed']);
  assert.equal(upstream.peers.length, 1);
});

test('a restriction of another account or another type does not touch the edge', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const others = [
    { ...restriction('ipx_1', ['ipp_none']), accountId: 'acc_2' },
    { ...restriction('ipx_2', ['ipp_none']), type: 'api' as const },
  ];
  await engine.apply(snapshot(...others, backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  await dialAndEcho(t, port);
});

test('a restriction that is not enforced warns of the source and lets it pass', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const rules = [policy('ipp_1', '127.0.0.2/32'), restriction('ipx_1', ['ipp_1'], false)];
  await engine.apply(snapshot(...rules, backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));

  await dialAndEcho(t, port, { from: '127.0.0.3' });
  await dialAndEcho(t, port, { from: '127.0.0.2' });
  assert.deepEqual(seen.warnings, ['ipx_1 127.0.0.3']);
});

test('a refused connection is told with the word of the step, restriction or entry that has refused it', async (t) => {
  const { engine, seen } = await startGateway(t);
  const port = await freePort();
  const denying = { on_tcp_connect: [{ actions: [{ type: 'deny' }] }] };
  const edges = [
    [tcpEdge('edgtcp_1', [port], limitedTo('ipp_none'))],
    [tcpEdge('edgtcp_1', [port], trafficPolicy(denying))],
    [tcpEdge('edgtcp_1', [port], { newer_module: { enabled: true } })],
    [policy('ipp_1', '127.0.0.2/32'), restriction('ipx_1', ['ipp_1']), tcpEdge('edgtcp_1', [port])],
  ];
  for (const entries of edges) {
    await engine.apply(snapshot(...entries));
    await dial(t, port).isReset();
  }
  assert.deepEqual(seen.verdicts, [
    'refused_by_module',
    'refused_by_module',
    'refused_unloadable',
    'refused_by_restriction',
  ]);
  const [byModule = '', byPolicy = '', unloadable = '', byRestriction = ''] = seen.reasons;
  assert.match(byModule, /^Your address 127\.0\.0\.1 .*edge or route/);
  assert.match(byPolicy, /policy/);
  assert.match(unloadable, new RegExp(`^Nothing is served at port ${port} .*the edge`));
  assert.match(byRestriction, /^Your address 127\.0\.0\.1 .*of this account/);
});

test('a disabled module checks nothing', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const modules = toBackend('bkdsc_1', { ip_restriction: { enabled: false, ip_policy_ids: ['ipp_none'] } });
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port], modules)));
  await dialAndEcho(t, port);
});

test('without a backend, with a disabled one and with one that does not exist the connection is reset', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const ports = [await freePort(), await freePort(), await freePort()] as const;
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      tcpEdge('edgtcp_1', [ports[0]], {}),
      tcpEdge('edgtcp_2', [ports[1]], { backend: { enabled: false, backend_id: 'bkdsc_1' } }),
      tcpEdge('edgtcp_3', [ports[2]], toBackend('bkdsc_gone')),
    ),
  );
  for (const port of ports) await dial(t, port).isReset();
  assert.equal(upstream.peers.length, 0);
  assert.deepEqual(
    seen.closed.map(({ edgeId, reason }) => `${edgeId} ${reason}`),
    ['edgtcp_1 no backend', 'edgtcp_2 no backend', 'edgtcp_3 no backend'],
  );
});

test('on a dual-stack listener an IPv4 source meets IPv4 rules only, an IPv6 source IPv6 rules only', async (t) => {
  const { engine } = await startGateway(t, { tcpListenHost: '::' });
  const upstream = await startUpstream(t);
  const ipv4Port = await freePort('::');
  const ipv6Port = await freePort('::');
  await engine.apply(
    snapshot(
      policy('ipp_4', '127.0.0.0/8'),
      policy('ipp_6', '::/0'),
      backend('bkdsc_1', upstream.port),
      tcpEdge('edgtcp_4', [ipv4Port], limitedTo('ipp_4')),
      tcpEdge('edgtcp_6', [ipv6Port], limitedTo('ipp_6')),
    ),
  );
  const overIpv6 = { from: '::1', host: '::1' };
  await dialAndEcho(t, ipv4Port, { from: '127.0.0.2' });
  await dial(t, ipv4Port, overIpv6).isReset();
  await dialAndEcho(t, ipv6Port, overIpv6);
  await dial(t, ipv6Port, { from: '127.0.0.2' }).isReset();
});

test('the end of a connection is reported: source, bytes each way and who ended it', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t, (socket) => {
    socket.on('data', () => socket.write('four')).on('end', () => socket.end());
  });
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const client = dial(t, port, { from: '127.0.0.2' });
  client.socket.end('sevenco');
  await client.seesEnd();
  await until(() => seen.closed.length > 0, 'the end is reported');
  const { durationMs, ...event } = seen.closed[0] ?? { durationMs: -1 };
  assert.ok(durationMs >= 0);
  assert.deepEqual(event, { edgeId: 'edgtcp_1', source: '127.0.0.2', bytesIn: 7, bytesOut: 4, reason: 'client' });
});
