import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import {
  backend,
  change,
  limitedTo,
  policy,
  restriction,
  snapshot,
  tcpEdge,
  toBackend,
} from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';
import type { Peer } from './support/tcp-peers.ts';

/** Opens an edge for 127.0.0.1 and 127.0.0.2, and one connection from each. */
async function openToTwo(t: TestContext) {
  const gateway = await startGateway(t);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  const rules = policy('ipp_1', '127.0.0.1/32', '127.0.0.2/32');
  await gateway.engine.apply(snapshot(rules, backend('bkdsc_1', upstream.port), edge));
  const first = await dialAndEcho(t, port, { from: '127.0.0.1' });
  const second = await dialAndEcho(t, port, { from: '127.0.0.2' });
  return { ...gateway, upstream, port, first, second };
}

async function stillTalks(peer: Peer): Promise<void> {
  const before = peer.text;
  peer.socket.write('!');
  await peer.receives(`${before}!`);
}

test('when its allow rule goes, the open connection of a source is reset; that of another source stays', async (t) => {
  const { engine, seen, upstream, first, second } = await openToTwo(t);
  await engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
  await second.isReset();
  await stillTalks(first);
  await upstream.peers[1]?.isReset();
  await until(() => seen.closed.length > 0, 'the end is told');
  assert.deepEqual(
    seen.closed.map(({ source, reason }) => `${source} ${reason}`),
    ['127.0.0.2 rules changed'],
  );
});

test('when the policy goes, every connection that it allowed is reset', async (t) => {
  const { engine, first, second } = await openToTwo(t);
  await engine.apply(change([], [{ kind: 'policy', id: 'ipp_1' }]));
  await Promise.all([first.isReset(), second.isReset()]);
});

test('a restriction checks open connections when it is enforced, and when a policy of it changes', async (t) => {
  const { engine, first, second } = await openToTwo(t);
  const all = policy('ipp_2', '127.0.0.0/8');
  await engine.apply(change([all, restriction('ipx_1', ['ipp_2'])]));
  await stillTalks(second);
  await engine.apply(change([policy('ipp_2', '127.0.0.1/32')]));
  await second.isReset();
  await stillTalks(first);
  await engine.apply(change([policy('ipp_3', '127.0.0.9/32'), restriction('ipx_2', ['ipp_3'], false)]));
  await stillTalks(first);
  await engine.apply(change([restriction('ipx_2', ['ipp_3'], true)]));
  await first.isReset();
});

test('another module, or a whole new snapshot, checks open connections again', async (t) => {
  const { engine, upstream, port, first, second } = await openToTwo(t);
  await engine.apply(change([policy('ipp_2', '127.0.0.1/32'), tcpEdge('edgtcp_1', [port], limitedTo('ipp_2'))]));
  await second.isReset();
  await stillTalks(first);
  const target = backend('bkdsc_1', upstream.port);
  await engine.apply(
    snapshot(policy('ipp_2', '127.0.0.9/32'), target, tcpEdge('edgtcp_1', [port], limitedTo('ipp_2'))),
  );
  await first.isReset();
});

test('a change of another edge or an unused policy leaves connections alone', async (t) => {
  const { engine, first, second } = await openToTwo(t);
  const other = tcpEdge('edgtcp_2', [await freePort()], limitedTo('ipp_2'));
  await engine.apply(change([policy('ipp_2', '10.0.0.0/8'), other]));
  await engine.apply(change([], [{ kind: 'tcp_edge', id: 'edgtcp_2' }]));
  await stillTalks(first);
  await stillTalks(second);
});

test('a new backend is for new connections; open ones keep theirs', async (t) => {
  const { engine, upstream, port, first } = await openToTwo(t);
  const next = await startUpstream(t);
  await engine.apply(change([backend('bkdsc_1', next.port)]));
  await dialAndEcho(t, port);
  await stillTalks(first);
  assert.equal(next.peers.length, 1);
  assert.equal(upstream.peers.length, 2);
});

test('an edge that is deleted, or loses a port, resets the connections there and listens no longer', async (t) => {
  const { engine, upstream, port, first } = await openToTwo(t);
  const kept = await freePort();
  await engine.apply(change([tcpEdge('edgtcp_1', [port, kept])]));
  const onKept = await dialAndEcho(t, kept);
  await engine.apply(change([tcpEdge('edgtcp_1', [kept])]));
  await first.isReset();
  await stillTalks(onKept);
  const late = dial(t, port);
  await until(() => late.broken === 'ECONNREFUSED', 'the lost port is closed');
  await engine.apply(change([], [{ kind: 'tcp_edge', id: 'edgtcp_1' }]));
  await onKept.isReset();
  const tooLate = dial(t, kept);
  await until(() => tooLate.broken === 'ECONNREFUSED', 'the port of the deleted edge is closed');
  assert.equal(upstream.peers.length, 3);
});

test('a port that moves to another edge in one update is served by it at once, and is never closed', async (t) => {
  const { engine, port, first } = await openToTwo(t);
  const next = await startUpstream(t);
  const other = await freePort();
  // Connections during the change may reach the old edge or the new one, but always a listener.
  const meanwhile = Array.from({ length: 20 }, () => dial(t, port));
  await engine.apply(
    change([
      backend('bkdsc_2', next.port),
      tcpEdge('edgtcp_2', [port], toBackend('bkdsc_2')),
      tcpEdge('edgtcp_1', [other]),
    ]),
  );
  await first.isReset();
  await dialAndEcho(t, port);
  await dialAndEcho(t, other);
  assert.ok(next.peers.length >= 1);
  assert.deepEqual(
    meanwhile.filter(({ broken }) => broken === 'ECONNREFUSED'),
    [],
  );
});

test('an edge that claims the port of another goes without it, and gets it when the other gives it up', async (t) => {
  const { engine, seen, port, first } = await openToTwo(t);
  const [ownPort, newPort] = [await freePort(), await freePort()];
  const rival = tcpEdge('edgtcp_9', [ownPort, port], limitedTo('ipp_1'));
  await engine.apply(change([rival]));
  assert.deepEqual(seen.setAside, [`tcp_edge edgtcp_9: another TCP edge holds port ${port}`]);
  await stillTalks(first);
  await dialAndEcho(t, port);
  await dialAndEcho(t, ownPort);
  await engine.apply(change([rival, tcpEdge('edgtcp_1', [newPort], limitedTo('ipp_1'))]));
  assert.deepEqual(seen.setAside, []);
  await first.isReset();
  await dialAndEcho(t, port);
  await dialAndEcho(t, newPort);
});

test('two edges of one update that claim the same port are both closed', async (t) => {
  const { engine, seen, port } = await openToTwo(t);
  const [ownPort, shared] = [await freePort(), await freePort()];
  await engine.apply(change([tcpEdge('edgtcp_8', [shared]), tcpEdge('edgtcp_9', [ownPort, shared])]));
  assert.deepEqual(
    seen.setAside,
    ['8', '9'].map((id) => `tcp_edge edgtcp_${id}: port ${shared} is claimed by another TCP edge too`),
  );
  await dial(t, shared).isReset();
  await dial(t, ownPort).isReset();
  await dialAndEcho(t, port);
});

test('updates asked for at once are carried out one after another, in order', async (t) => {
  const { engine, port, second } = await openToTwo(t);
  const steps = Array.from({ length: 20 }, (_, step) =>
    engine.apply(change([policy('ipp_1', step === 19 ? '127.0.0.3/32' : '127.0.0.0/8')])),
  );
  await Promise.all(steps);
  await second.isReset();
  await dial(t, port, { from: '127.0.0.2' }).isReset();
  await dialAndEcho(t, port, { from: '127.0.0.3' });
});
