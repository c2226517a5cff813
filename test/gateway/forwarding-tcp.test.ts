import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { InternalEndpointEntry, ModuleSettings } from '../../src/snapshot/contract.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { accountId, backend, change, limitedTo, policy, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

function forwardTo(...urls: readonly string[]): ModuleSettings {
  const actions = urls.map((url, at) => {
    const isLast = at === urls.length - 1;
    return { type: 'forward-internal', config: { url, ...(isLast ? {} : { on_error: 'continue' }) } };
  });
  return { traffic_policy: { enabled: true, value: JSON.stringify({ on_tcp_connect: [{ actions }] }) } };
}

function internal(id: string, url: string, modules: ModuleSettings): InternalEndpointEntry {
  return { kind: 'internal_endpoint', id, accountId, url, modules };
}

test('an open connection obeys the rules of every endpoint that it was forwarded through', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const all = policy('ipp_1', '127.0.0.0/8');
  const second = internal('ep_2', 'tcp://b.internal:2', limitedTo('ipp_1'));
  await engine.apply(
    snapshot(
      all,
      backend('bkdsc_1', upstream.port),
      tcpEdge('ep_0', [port], forwardTo('tcp://a.internal:1')),
      internal('ep_1', 'tcp://a.internal:1', forwardTo('tcp://b.internal:2')),
      second,
    ),
  );
  const goesByPolicy = await dialAndEcho(t, port, { from: '127.0.0.2' });
  const goesWithEndpoint = await dialAndEcho(t, port);
  await engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
  await goesByPolicy.isReset();
  await dial(t, port, { from: '127.0.0.2' }).isReset();
  assert.equal(goesWithEndpoint.socket.destroyed, false);
  await engine.apply(change([second], [{ kind: 'internal_endpoint', id: 'ep_1' }]));
  await goesWithEndpoint.isReset();
  await dial(t, port).isReset();
});

test('a circle of endpoints ends, a failure goes on where the policy says so, and names of other accounts do not count', async (t) => {
  const { engine, seen } = await startGateway(t);
  const upstream = await startUpstream(t);
  const [circle, goesOn, foreign] = [await freePort(), await freePort(), await freePort()];
  await engine.apply(
    snapshot(
      backend('bkdsc_1', upstream.port),
      tcpEdge('ep_0', [circle], forwardTo('tcp://a.internal:1')),
      internal('ep_1', 'tcp://a.internal:1', forwardTo('tcp://b.internal:2')),
      internal('ep_2', 'tcp://b.internal:2', forwardTo('tcp://a.internal:1')),
      tcpEdge('ep_3', [goesOn], forwardTo('tcp://gone.internal:1', 'tcp://c.internal:3')),
      internal('ep_4', 'tcp://c.internal:3', toBackend()),
      tcpEdge('ep_5', [foreign], forwardTo('tcp://theirs.internal:1')),
      { ...internal('ep_6', 'tcp://theirs.internal:1', toBackend()), accountId: 'acc_2' },
    ),
  );
  await dial(t, circle).isReset();
  await dial(t, foreign).isReset();
  await dialAndEcho(t, goesOn);
  await until(() => seen.verdicts.length === 3, 'the verdicts');
});

test('an internal endpoint that cannot be loaded serves nobody', async (t) => {
  const { engine } = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const unknown = toBackend('bkdsc_1', { no_such_module: { enabled: true } });
  const edge = tcpEdge('ep_0', [port], forwardTo('tcp://a.internal:1'));
  const entries = [backend('bkdsc_1', upstream.port), edge, internal('ep_1', 'tcp://a.internal:1', toBackend())];
  await engine.apply(snapshot(...entries));
  const open = await dialAndEcho(t, port);
  await engine.apply(change([internal('ep_1', 'tcp://a.internal:1', unknown)]));
  await open.isReset();
  await dial(t, port).isReset();
});

test('edges that say so share a port: connections go to all of them, and to those that are left', async (t) => {
  const { engine, seen } = await startGateway(t);
  const [one, two] = [await startUpstream(t), await startUpstream(t)];
  const port = await freePort();
  const pooled = (id: string, backendId: string) => ({
    ...tcpEdge(id, [port], toBackend(backendId)),
    isPooled: true as const,
  });
  const [first, second] = [pooled('ep_1', 'bkdsc_1'), pooled('ep_2', 'bkdsc_2')];
  await engine.apply(snapshot(backend('bkdsc_1', one.port), backend('bkdsc_2', two.port), first, second));
  while (one.peers.length === 0 || two.peers.length === 0) await dialAndEcho(t, port);
  await engine.apply(change([], [{ kind: 'tcp_edge', id: 'ep_1' }]));
  const count = one.peers.length;
  for (let at = 0; at < 5; at++) await dialAndEcho(t, port);
  assert.equal(one.peers.length, count);
  const before = two.peers.length;
  await engine.apply(change([{ ...second, modules: toBackend('bkdsc_1') }, first]));
  for (let at = 0; at < 5; at++) await dialAndEcho(t, port);
  assert.equal(two.peers.length, before);
  await engine.apply(change([tcpEdge('ep_3', [port], toBackend('bkdsc_2'))]));
  await dialAndEcho(t, port);
  assert.equal(two.peers.length, before, 'one that does not share gets no port of others');
  await engine.apply(
    change(
      [],
      [
        { kind: 'tcp_edge', id: 'ep_1' },
        { kind: 'tcp_edge', id: 'ep_2' },
      ],
    ),
  );
  assert.equal(seen.verdicts.includes('refused_unloadable'), false);
});
