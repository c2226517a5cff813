import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  restriction as httpsRestriction,
  toBackend as toHttpsBackend,
} from './support/https-entries.ts';
import { startGateway as startHttps } from './support/https-gateway.ts';
import { startUpstream as startHttpUpstream } from './support/https-upstream.ts';
import { freePort } from '../support/free-port.ts';
import { startGateway as startTcp, until } from './support/tcp-engine.ts';
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

/** Settings of a module that only a newer version knows. */
const future = { future_check: { enabled: true } };

async function answer(port: number, host = 'app.test'): Promise<string> {
  const { status, headers } = await sendRaw(port, get('/', `Host: ${host}`), { servername: host });
  return `${status} ${headers['gatehouse-error-code'] ?? ''}`;
}

const unloadable = '503 ERR_GATEHOUSE_20077';

function edgeWith(modules: Parameters<typeof prefixRoute>[1], id = 'e', host = 'app.test') {
  return edgeEntry(id, [host], [prefixRoute('/', { ...toHttpsBackend('b'), ...modules })]);
}

suite('an HTTPS edge that cannot be loaded', () => {
  test('is closed, the other changes of its update are live, and a sound form opens it again', async () => {
    await using upstream = await startHttpUpstream();
    await using gateway = await startHttps([backendEntry('b', upstream.port), edgeWith({})]);
    assert.equal(await answer(gateway.port), '200 ');
    const session = openHttp2(gateway.port);
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, 200);
    const asked = upstream.seen.length;

    await gateway.set(edgeWith(future), edgeWith({}, 'e2', 'other.test'));
    assert.deepEqual([...gateway.setAside], [['https_edge e', 'unknown module "future_check"']]);
    assert.equal(await answer(gateway.port), unloadable);
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, 503);
    assert.equal(upstream.seen.length, asked, 'the upstream was asked');
    session.close();
    assert.equal(await answer(gateway.port, 'other.test'), '200 ');

    await gateway.set(edgeWith({}));
    assert.equal(gateway.setAside.size, 0);
    assert.equal(await answer(gateway.port), '200 ');
  });

  test('keeps its names: no wildcard edge answers for them', async () => {
    await using upstream = await startHttpUpstream();
    const wildcard = edgeEntry('e2', ['*.wild.test'], [prefixRoute('/', toHttpsBackend('b'))]);
    const exact = edgeWith(future, 'e', 'a.wild.test');
    await using gateway = await startHttps([backendEntry('b', upstream.port), wildcard, exact]);
    assert.equal(await answer(gateway.port, 'a.wild.test'), unloadable);
    assert.equal(await answer(gateway.port, 'b.wild.test'), '200 ');
    await gateway.remove({ kind: 'https_edge', id: 'e' });
    assert.equal(await answer(gateway.port, 'a.wild.test'), '200 ');
    assert.equal(gateway.setAside.size, 0);
  });

  test('in a whole snapshot is closed too, and the rest of it is served', async () => {
    await using upstream = await startHttpUpstream();
    await using gateway = await startHttps([
      backendEntry('b', upstream.port),
      edgeWith(future),
      edgeWith({}, 'e2', 'other.test'),
    ]);
    assert.equal(await answer(gateway.port), unloadable);
    assert.equal(await answer(gateway.port, 'other.test'), '200 ');
    await gateway.apply({ version: 9, full: true, set: [], removed: [] });
    assert.equal(gateway.setAside.size, 0);
  });
});

suite('rules that cannot be loaded refuse', () => {
  const faulty = { ...allowPolicy('p', '0.0.0.0/0'), fault: 'the stored rule "x" is not a CIDR' };

  test('all traffic of a route, also beside a policy that allows it', async () => {
    await using upstream = await startHttpUpstream();
    const rules = [allowPolicy('p', '127.0.0.0/8'), allowPolicy('p2', '127.0.0.0/8')];
    const edges = [edgeWith(ipRestriction('p', 'p2')), edgeWith(ipRestriction('p2'), 'e2', 'other.test')];
    await using gateway = await startHttps([backendEntry('b', upstream.port), ...rules, ...edges]);
    assert.equal(await answer(gateway.port), '200 ');
    await gateway.set(faulty);
    assert.equal(await answer(gateway.port), unloadable);
    assert.equal(await answer(gateway.port, 'other.test'), '200 ');
    await gateway.set(allowPolicy('p', '10.0.0.0/8'), allowPolicy('p2', '10.0.0.0/8'));
    assert.equal(await answer(gateway.port), '403 ERR_GATEHOUSE_3203');
  });

  test('all traffic of an account whose enforced restriction names such a policy', async () => {
    await using upstream = await startHttpUpstream();
    await using gateway = await startHttps([
      backendEntry('b', upstream.port),
      edgeWith({}),
      faulty,
      httpsRestriction('r', true, 'p'),
    ]);
    assert.equal(await answer(gateway.port), unloadable);
    await gateway.set(httpsRestriction('r', false, 'p'));
    assert.equal(await answer(gateway.port), '200 ');
    assert.deepEqual(gateway.warned[0]?.restrictionIds, ['r']);
  });

  test('all traffic of an account that has a restriction of an unknown type, and no other', async () => {
    await using upstream = await startHttpUpstream();
    const other = edgeEntry('e2', ['other.test'], [prefixRoute('/', toHttpsBackend('b'))], 'acc_2');
    await using gateway = await startHttps([backendEntry('b', upstream.port), edgeWith({}), other]);
    // A newer version may know more types than the contract of this one.
    const unknown = { ...httpsRestriction('r', false), type: 'tunnels' } as unknown as ReturnType<
      typeof httpsRestriction
    >;
    await gateway.set(unknown);
    assert.deepEqual([...gateway.setAside], [['restriction r', 'unknown type of restriction "tunnels"']]);
    assert.equal(await answer(gateway.port), unloadable);
    assert.equal(await answer(gateway.port, 'other.test'), '200 ');
    await gateway.remove({ kind: 'restriction', id: 'r' });
    assert.equal(await answer(gateway.port), '200 ');
  });
});

test('nothing is sent to where a backend led before that cannot be loaded', async () => {
  await using upstream = await startHttpUpstream();
  await using gateway = await startHttps([backendEntry('b', upstream.port), edgeWith({})]);
  await gateway.set({ ...backendEntry('b', upstream.port), fault: 'its stored address is none' });
  assert.equal(await answer(gateway.port), '503 ERR_GATEHOUSE_6528');
  assert.equal(upstream.seen.length, 0);
});

suite('a TCP edge', () => {
  test('that cannot be loaded resets its open connections and every new one; other edges obey the same update', async (t) => {
    const { engine, seen } = await startTcp(t);
    const upstream = await startUpstream(t);
    const [port, otherPort] = [await freePort(), await freePort()];
    const other = tcpEdge('edgtcp_2', [otherPort], limitedTo('ipp_1'));
    await engine.apply(
      snapshot(policy('ipp_1', '127.0.0.0/8'), backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port]), other),
    );
    const open = await dialAndEcho(t, port);
    await engine.apply(
      change([tcpEdge('edgtcp_1', [port], toBackend('bkdsc_1', future)), policy('ipp_1', '127.0.0.1/32')]),
    );
    assert.deepEqual(seen.setAside, ['tcp_edge edgtcp_1: unknown module "future_check"']);
    await open.isReset();
    const arrived = upstream.peers.length;
    await dial(t, port).isReset();
    assert.equal(upstream.peers.length, arrived, 'the upstream was reached');
    assert.equal(seen.verdicts.at(-1), 'refused_unloadable');
    await dial(t, otherPort, { from: '127.0.0.2' }).isReset();
    await dialAndEcho(t, otherPort);
    await engine.apply(change([tcpEdge('edgtcp_1', [port])]));
    assert.deepEqual(seen.setAside, []);
    await dialAndEcho(t, port);
  });

  test('resets its open connections when a rule that it depends on cannot be loaded any more', async (t) => {
    const { engine, seen } = await startTcp(t);
    const upstream = await startUpstream(t);
    const [port, otherPort] = [await freePort(), await freePort()];
    const edges = [tcpEdge('edgtcp_1', [port], limitedTo('ipp_1')), tcpEdge('edgtcp_2', [otherPort])];
    const rules = policy('ipp_1', '127.0.0.0/8');
    await engine.apply(snapshot(rules, backend('bkdsc_1', upstream.port), ...edges));
    const [first, second] = [await dialAndEcho(t, port), await dialAndEcho(t, otherPort)];
    await engine.apply(change([{ ...rules, fault: 'the stored rule "x" is not a CIDR' }]));
    await first.isReset();
    await dial(t, port).isReset();
    await until(() => seen.verdicts.at(-1) === 'refused_unloadable', 'the verdict is told');
    // A newer version may know more types than the contract of this one.
    const unknown = { ...restriction('ipx_1', []), type: 'tunnels' } as unknown as ReturnType<typeof restriction>;
    await engine.apply(change([unknown]));
    await second.isReset();
  });
});
