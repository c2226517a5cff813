import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { GatewayBounds } from '../../src/gateway/bounds/bound.ts';
import { noKeptLogins } from '../../src/sign-in/kept-logins.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import type { WorkerEngine, WorkerEngineParts } from '../../src/gateway/workers/worker-engine.ts';
import { WorkerProcess } from '../../src/gateway/workers/worker-process.ts';
import type { WorkerSettings } from '../../src/gateway/workers/worker-process.ts';
import { childrenOf } from '../e2e/gateway/support/child-processes.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, until } from './support/tcp-engine.ts';
import {
  backend,
  change,
  limitedTo,
  packRules,
  policy,
  restriction,
  snapshot,
  tcpEdge,
  toBackend,
} from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';
import type { Peer } from './support/tcp-peers.ts';

async function startWorkers(
  t: TestContext,
  workers: number,
  { boundsOf, ...plan }: Pick<WorkerEngineParts, 'boundsOf'> & Partial<WorkerEngineParts['workers']> = {},
): Promise<{ engine: WorkerEngine; seen: Recorder }> {
  const seen = new Recorder();
  const engine = await createWorkerEngine({
    workers: { least: workers, most: workers, ...plan },
    ...(boundsOf && { boundsOf }),
    options: { ...plainOptions, trustedProxies: packRules([]) },
    localCa: undefined,
    observer: seen,
    log: seen.log,
  });
  t.after(() => engine.drain(0));
  return { engine, seen };
}

/** Opens connections until the kernel has given every worker some. */
async function dialEvenly(t: TestContext, port: number, count = 24): Promise<readonly Peer[]> {
  return Promise.all(Array.from({ length: count }, () => dialAndEcho(t, port)));
}

test('workers share a port, obey an update before it is acknowledged, and report their traffic', async (t) => {
  const { engine, seen } = await startWorkers(t, 2);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const rules = [policy('ipp_1', '127.0.0.1/32', '127.0.0.2/32'), policy('ipp_2', '127.0.0.1/32')];
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  await engine.apply(
    snapshot(...rules, restriction('ipx_1', ['ipp_2'], false), backend('bkdsc_1', upstream.port), edge),
  );
  assert.equal(engine.pids.length, 2);

  const open = await Promise.all(Array.from({ length: 16 }, () => dialAndEcho(t, port, { from: '127.0.0.2' })));
  await until(() => seen.warnings.length === 16, 'the warnings of both workers arrive');
  await engine.apply(change([policy('ipp_1', '127.0.0.1/32')]));
  for (const late of Array.from({ length: 16 }, () => dial(t, port, { from: '127.0.0.2' }))) await late.isReset();
  for (const client of open) await client.isReset();
  await dialAndEcho(t, port, { from: '127.0.0.1' });
  await until(() => seen.closed.length === 16, 'the ends of both workers arrive');
  await until(() => seen.verdicts.length === 33, 'the verdicts of both workers arrive');
  assert.equal(seen.verdicts.filter((verdict) => verdict === 'refused_by_module').length, 16);
});

test('each worker has its part of a bound, and what the workers use and refuse is counted together', async (t) => {
  const boundsOf = (workers: number, index: number): GatewayBounds => ({
    ...plainOptions.bounds,
    sourceConnections: 3 * workers - 3 + index,
  });
  const { engine, seen } = await startWorkers(t, 2, { boundsOf });
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const clients = Array.from({ length: 40 }, () => dial(t, port));
  await until(() => seen.refused.source_connections === 33, 'both workers have refused the others');
  await until(() => clients.filter(({ broken }) => broken === 'ECONNRESET').length === 33, 'they are reset');
  await until(() => seen.inUse.source_connections === 7, 'what both have open is added up');
  assert.equal(seen.limits.source_connections, 7);
  // A worker that is gone takes along what it had.
  const [victim] = engine.pids;
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGKILL');
  await until(() => engine.pids.length === 2 && !engine.pids.includes(victim), 'another worker is there');
  const open = clients.filter(({ ended, broken }) => !ended && broken === undefined);
  assert.ok(open.length > 0 && open.length < 7, `${open.length}`);
  await until(() => seen.inUse.source_connections === open.length, 'the other alone has some open');
  await until(() => seen.limits.source_connections === 7, 'the next one has the part of the bound');
});

test('another worker is added while one has too much to do, and takes traffic too', async (t) => {
  const { engine, seen } = await startWorkers(t, 1, { most: 2, busyAbove: 0.01 });
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const [first] = engine.pids;
  while (engine.pids.length < 2) (await dialAndEcho(t, port)).socket.destroy();
  assert.equal(engine.pids[0], first);
  assert.ok(seen.infos.some((message) => /worker was added/.test(message)));
  await engine.apply(change([policy('ipp_1', '127.0.0.2/32'), tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'))]));
  for (const refused of Array.from({ length: 24 }, () => dial(t, port))) await refused.isReset();
});

test('a killed worker is replaced by one with the whole state, and the connections of the other survive', async (t) => {
  const { engine, seen } = await startWorkers(t, 2);
  const upstream = await startUpstream(t);
  const [port, addedPort] = [await freePort(), await freePort()];
  const rules = policy('ipp_1', '127.0.0.1/32');
  await engine.apply(
    snapshot(rules, backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'))),
  );
  await engine.apply(change([tcpEdge('edgtcp_2', [addedPort], limitedTo('ipp_1'))]));
  const clients = await dialEvenly(t, port);
  const [victim, survivor] = engine.pids;
  assert.ok(victim !== undefined && survivor !== undefined);
  process.kill(victim, 'SIGKILL');

  await until(() => clients.some(({ ended, broken }) => ended || broken !== undefined), 'its connections break');
  await until(() => engine.pids.length === 2 && !engine.pids.includes(victim), 'another worker is there');
  const alive = clients.filter(({ ended, broken }) => !ended && broken === undefined);
  assert.ok(alive.length > 0 && alive.length < clients.length);
  for (const client of alive) {
    client.socket.write('!');
    await client.receives('hello!');
  }
  assert.ok(engine.pids.includes(survivor));
  assert.ok(seen.errors.some((message) => /worker is gone/.test(message)));

  process.kill(survivor, 'SIGKILL');
  await until(() => engine.pids.length === 2 && !engine.pids.includes(survivor), 'the other is replaced too');
  await Promise.all([dialAndEcho(t, port), dialAndEcho(t, addedPort)]);
  await dial(t, addedPort, { from: '127.0.0.2' }).isReset();
});

test('workers that come later know what rate limits have counted', async (t) => {
  const { engine, seen } = await startWorkers(t, 1);
  const upstream = await startUpstream(t);
  const port = await freePort();
  const limit = { enabled: true, limit: 3, window_seconds: 86_400, by: 'source', enforced: true };
  const modules = toBackend('bkdsc_1', { rate_limit: limit });
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port], modules)));
  for (let round = 0; round < 3; round++) await dialAndEcho(t, port);
  await until(() => seen.counted === 3, 'the worker has told what it has counted');
  const [victim] = engine.pids;
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGKILL');
  await until(() => engine.pids.length === 1 && engine.pids[0] !== victim, 'another worker is there');
  await dial(t, port).isReset();
  await dialAndEcho(t, port, { from: '127.0.0.2' });
});

test('a task that a worker has done leaves no timer behind, which would kill it later', async (t) => {
  const { engine } = await startWorkers(t, 2);
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  for (let round = 0; round < 20; round++) await engine.apply(change([policy('ipp_1', `127.0.0.${round + 1}/32`)]));
  assert.ok(timers() < before + 20, `${timers()} timers, ${before} before`);
});

test('a worker that is killed while all are busy gets one successor, and there are never more than planned', async (t) => {
  // All are always too busy.
  const { engine } = await startWorkers(t, 2, { busyAbove: -1 });
  const hasReported = () => ![...engine.workers.loads.values()].includes(undefined);
  for (let kills = 0; kills < 2; kills++) {
    await until(hasReported, 'both have reported, and were looked at');
    const [victim] = engine.pids;
    assert.ok(victim !== undefined);
    process.kill(victim, 'SIGKILL');
    await until(() => engine.pids.length >= 2 && !engine.pids.includes(victim), 'another worker is there');
  }
  await until(hasReported, 'the last one was looked at too');
  const all = await childrenOf(process.pid);
  assert.equal(all.length, 2);
  assert.deepEqual(new Set(all), new Set(engine.pids));
});

test('workers that end again and again are named so, and a next one is started all the same', async (t) => {
  const { engine, seen } = await startWorkers(t, 1);
  const killed = new Set<number>();
  const isNamed = () => seen.errors.some((message) => /again and again/.test(message));
  while (!isNamed()) {
    await until(() => isNamed() || engine.pids.some((pid) => !killed.has(pid)), 'another one is there');
    for (const pid of engine.pids) if (!killed.has(pid)) process.kill(pid, 'SIGKILL');
    for (const pid of engine.pids) killed.add(pid);
  }
  await until(() => engine.pids.some((pid) => !killed.has(pid)), 'the next one is there');
});

test('an entry that no worker can load is closed in all of them and reported once, and the rest of its update is live', async (t) => {
  const { engine, seen } = await startWorkers(t, 2);
  const upstream = await startUpstream(t);
  const [port, otherPort] = [await freePort(), await freePort()];
  const edges = [tcpEdge('edgtcp_1', [port], limitedTo('ipp_1')), tcpEdge('edgtcp_2', [otherPort])];
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.1/32'), backend('bkdsc_1', upstream.port), ...edges));
  const unknown = tcpEdge('edgtcp_2', [otherPort], toBackend('bkdsc_1', { future_check: { enabled: true } }));
  await engine.apply(change([policy('ipp_1', '127.0.0.2/32'), unknown]));
  const fault = 'tcp_edge edgtcp_2: unknown module "future_check"';
  assert.deepEqual([seen.setAside, seen.entryFaults.length], [[fault], 1]);
  for (const refused of Array.from({ length: 24 }, () => dial(t, port))) await refused.isReset();
  await dialAndEcho(t, port, { from: '127.0.0.2' });
  for (const refused of Array.from({ length: 24 }, () => dial(t, otherPort))) await refused.isReset();

  const [victim] = engine.pids;
  assert.ok(victim !== undefined);
  process.kill(victim, 'SIGKILL');
  await until(() => engine.pids.length === 2 && !engine.pids.includes(victim), 'another worker is there');
  assert.deepEqual(seen.setAside, [fault]);
  for (const refused of Array.from({ length: 24 }, () => dial(t, otherPort))) await refused.isReset();
  await engine.apply(change([tcpEdge('edgtcp_2', [otherPort])]));
  assert.deepEqual(seen.setAside, []);
  await dialEvenly(t, otherPort);
});

/** Makes an edge that has an unknown module only in so many copies, each of which the next worker gets. */
function unknownToFirst(port: number, workers: number): ReturnType<typeof tcpEdge> {
  const edge = tcpEdge('edgtcp_2', [port]);
  let copies = 0;
  return Object.defineProperty({ ...edge }, 'modules', {
    enumerable: true,
    get: () => (copies++ < workers ? { ...edge.modules, future_check: { enabled: true } } : edge.modules),
  });
}

test('an entry that one worker of three cannot load is closed there and reported, and all of them obey the rest', async (t) => {
  const { engine, seen } = await startWorkers(t, 3);
  const upstream = await startUpstream(t);
  const [port, otherPort] = [await freePort(), await freePort()];
  const edge = tcpEdge('edgtcp_1', [port], limitedTo('ipp_1'));
  await engine.apply(snapshot(policy('ipp_1', '127.0.0.1/32'), backend('bkdsc_1', upstream.port), edge));
  const { pids } = engine;
  await engine.apply(change([unknownToFirst(otherPort, 3)]));
  await engine.apply(change([policy('ipp_1', '127.0.0.2/32'), unknownToFirst(otherPort, 1)]));
  const fault = 'tcp_edge edgtcp_2: unknown module "future_check"';
  assert.deepEqual([seen.setAside, seen.entryFaults.length], [[fault], 1], 'two of three that load it do not end it');
  assert.deepEqual(engine.pids, pids);
  for (const late of Array.from({ length: 24 }, () => dial(t, port))) await late.isReset();
  await Promise.all(Array.from({ length: 24 }, () => dialAndEcho(t, port, { from: '127.0.0.2' })));
  await engine.apply(change([tcpEdge('edgtcp_2', [otherPort])]));
  assert.deepEqual(seen.setAside, []);
  await dialEvenly(t, otherPort);
});

function newSettings(): WorkerSettings {
  const options = { ...plainOptions, trustedProxies: packRules([]) };
  return {
    start: { options, localCa: undefined },
    log: new Recorder().log,
    logins: noKeptLogins,
    observed: () => undefined,
    noted: () => undefined,
    questioned: () => undefined,
    linked: () => undefined,
  };
}

test('a worker cannot commit what it has not staged', async (t) => {
  const worker = await WorkerProcess.start(newSettings());
  t.after(() => {
    worker.kill();
  });
  await assert.rejects(worker.ask({ task: 'commit' }), /no staged update/);
  await worker.ask({ task: 'stage', update: snapshot() });
  await worker.ask({ task: 'abandon' });
  await assert.rejects(worker.ask({ task: 'commit' }), /no staged update/);
});

test('a worker that dies answers nothing, and nobody waits for it', async () => {
  const worker = await WorkerProcess.start(newSettings());
  assert.ok(worker.pid !== undefined);
  process.kill(worker.pid, 'SIGSTOP');
  const asked = worker.ask({ task: 'stage', update: snapshot() });
  process.kill(worker.pid, 'SIGKILL');
  await assert.rejects(
    Promise.race([asked, worker.gone.then(() => 'it is gone, and the question waits')]),
    /is gone: it was ended by SIGKILL/,
  );
  await assert.rejects(worker.ask({ task: 'commit' }), /is gone/);
});

test('a port that a foreign program holds is one fault, whatever the number of workers', async (t) => {
  const { engine, seen } = await startWorkers(t, 2);
  const upstream = await startUpstream(t);
  const foreign = createServer().listen(await freePort(), '127.0.0.1');
  await once(foreign, 'listening');
  t.after(() => foreign.close());
  const address = foreign.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  assert.equal(seen.faults.length, 1);
  assert.match(seen.faults[0]?.cause ?? '', /EADDRINUSE/);
  foreign.close();
  await until(() => seen.faults.length === 2, 'the fault is over');
  assert.equal(seen.faults[1]?.cause, undefined);
  await dialAndEcho(t, port);
});

test('a drain lets connections of every worker end, then no worker is left', async (t) => {
  const { engine, seen } = await startWorkers(t, 2);
  const upstream = await startUpstream(t);
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
  const clients = [...(await dialEvenly(t, port, 8))];
  const { pids } = engine;
  const drained = engine.drain(10_000);
  // Those that waited to be accepted are served, and end at once here; then no more are taken.
  for (;;) {
    const late = dial(t, port);
    late.socket.end();
    await until(() => late.broken !== undefined || late.ended, 'it is served, or not taken');
    if (late.broken !== undefined) break;
    clients.push(late);
  }
  for (const client of clients) client.socket.end();
  for (const client of clients) await client.seesEnd();
  await drained;
  assert.deepEqual(
    seen.closed.map(({ reason }) => reason),
    clients.map(() => 'client'),
  );
  for (const pid of pids) assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});
