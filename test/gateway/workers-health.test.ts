import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import type { WorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import type { ActiveCheckEntry, BackendEntry, BalanceEntry } from '../../src/snapshot/contract.ts';
import { freePort } from '../support/free-port.ts';
import { plainOptions, Recorder, until } from './support/tcp-engine.ts';
import { backend, change, packRules, snapshot, tcpEdge } from './support/tcp-entries.ts';
import { dialAndEcho, silent, startUpstream } from './support/tcp-peers.ts';

const limit = { timeout: 240_000 };
const check: ActiveCheckEntry = {
  kind: 'http',
  path: '/',
  statuses: [[200, 299]],
  intervalMs: 1000,
  timeoutMs: 1000,
  failures: 1,
  passes: 1,
};

function balance(ports: readonly number[], more: Partial<BalanceEntry>): BalanceEntry {
  const addresses = ports.map((port) => ({ host: '127.0.0.1', port, weight: 1 }));
  return { addresses, by: 'round_robin', retries: 1, whenAllDown: 'fail_open', slowStartMs: 0, ...more };
}

function checked(accountId: string, id: string, port: number, more: Partial<ActiveCheckEntry> = {}): BackendEntry {
  return backend(id, port, { accountId, balance: balance([port], { active: { ...check, ...more } }) });
}

async function startWorkers(t: TestContext): Promise<{ engine: WorkerEngine; down: Set<string> }> {
  const seen = new Recorder();
  const down = new Set<string>();
  const engine = await createWorkerEngine({
    workers: { least: 2, most: 2 },
    options: { ...plainOptions, trustedProxies: packRules([]) },
    localCa: undefined,
    observer: seen,
    log: seen.log,
    health: {
      addressHealth: ({ address, state }) => void (state === 'down' ? down.add(address) : down.delete(address)),
      addressGone: (_, address) => void down.delete(address),
    },
  });
  t.after(() => engine.drain(0));
  return { engine, down };
}

/** Kills a worker and waits for its successor. */
async function replace(engine: WorkerEngine, pid: number | undefined): Promise<void> {
  assert.ok(pid !== undefined);
  process.kill(pid, 'SIGKILL');
  await until(() => engine.pids.length === 2 && !engine.pids.includes(pid), 'another worker is there');
}

test('with dead addresses of another account an address is checked on, also by the next worker', limit, async (t) => {
  const { engine } = await startWorkers(t);
  const dead = await startUpstream(t, silent);
  const sound = await startUpstream(t, (socket) => {
    socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n'));
  });
  const settings = { timeoutMs: 60_000, intervalMs: 60_000 };
  const heldOf = () => dead.peers.filter(({ socket }) => !socket.destroyed).length;
  const isCheckedOn = async () => {
    const before = sound.peers.length;
    await until(() => sound.peers.length >= before + 3, 'the checks go on');
  };
  await engine.apply(snapshot(checked('acc_a', 'bkdsc_a', sound.port)));
  await isCheckedOn();
  // Each comes alone, and so begins at once.
  for (let at = 0; at < 300; at++) await engine.apply(change([checked('acc_b', `bkdsc_b${at}`, dead.port, settings)]));
  await until(() => heldOf() === 128, 'the other account has half of the places');
  await isCheckedOn();
  assert.equal(heldOf(), 128);
  const [checking, other] = engine.pids;
  await replace(engine, other);
  assert.equal(heldOf(), 128, 'the other worker makes no checks');
  await replace(engine, checking);
  await isCheckedOn();
  await engine.apply(change([], [{ kind: 'backend', id: 'bkdsc_a' }]));
  const before = sound.peers.length;
  await engine.apply(change([checked('acc_a', 'bkdsc_c', dead.port)]));
  const held = dead.peers.length;
  await until(() => dead.peers.length > held + 2, 'other checks are made');
  // One may have been on its way.
  assert.ok(sound.peers.length <= before + 1, 'nothing checks what is deleted');
});

test('workers that come later know which address is down', limit, async (t) => {
  const { engine, down } = await startWorkers(t);
  const sound = await startUpstream(t);
  const broken = await startUpstream(t, (socket) => socket.resetAndDestroy());
  const port = await freePort();
  const refused = await freePort();
  const passive = { failures: 1, statuses: [], downMs: 3_600_000 };
  const members = balance([refused, sound.port], { passive });
  await engine.apply(snapshot(backend('bkdsc_1', refused, { balance: members }), tcpEdge('edgtcp_1', [port])));
  for (let round = 0; round < 8; round++) await dialAndEcho(t, port);
  await until(() => down.has(`127.0.0.1:${refused}`), 'it is found to be down');
  // From now on it takes connections: whoever does not know better sends some there.
  broken.server.close();
  broken.server.listen(refused, '127.0.0.1');
  for (const pid of engine.pids) await replace(engine, pid);
  for (let round = 0; round < 24; round++) await dialAndEcho(t, port);
  assert.equal(broken.peers.length, 0);
});

/** An entry whose field is another one in the first copy that is made of it, which the first worker gets. */
function oddInFirstCopy<Entry extends object>(entry: Entry, field: keyof Entry, odd: unknown): Entry {
  let copies = 0;
  const { [field]: value } = entry;
  return Object.defineProperty({ ...entry }, field, { enumerable: true, get: () => (copies++ === 0 ? odd : value) });
}

test(
  'an update that one worker refuses leaves nothing open in the others, and the next one is taken',
  limit,
  async (t) => {
    const { engine } = await startWorkers(t);
    const upstream = await startUpstream(t);
    const [port, added] = [await freePort(), await freePort()];
    await engine.apply(snapshot(backend('bkdsc_1', upstream.port), tcpEdge('edgtcp_1', [port])));
    const { pids } = engine;
    const update = change([tcpEdge('edgtcp_2', [added])]);
    // No list in the first copy: the worker cannot build it.
    await assert.rejects(engine.apply(oddInFirstCopy(update, 'removed', undefined)), /cannot be put in force/);
    const isClosed = () =>
      dialAndEcho(t, added).then(
        () => false,
        (error: Error) => /ECONNREFUSED/.test(error.message),
      );
    assert.equal(await isClosed(), true);
    assert.deepEqual([engine.version, engine.pids], [update.version - 1, pids]);
    await engine.apply(change([tcpEdge('edgtcp_2', [added])]));
    await Promise.all([dialAndEcho(t, added), dialAndEcho(t, port)]);
  },
);

test('a worker that cannot put in force what it has built is replaced, and traffic obeys', limit, async (t) => {
  const { engine } = await startWorkers(t);
  const [before, after] = [await startUpstream(t), await startUpstream(t)];
  const port = await freePort();
  await engine.apply(snapshot(backend('bkdsc_1', before.port), tcpEdge('edgtcp_1', [port])));
  const [first, second] = engine.pids;
  assert.ok(first !== undefined && second !== undefined);
  const entry = backend('bkdsc_1', after.port, { balance: balance([after.port], {}) });
  // Addresses are looked at when the update is put in force.
  await engine.apply(change([oddInFirstCopy(entry, 'balance', { by: 'round_robin' })]));
  await until(() => engine.pids.length === 2 && !engine.pids.includes(first), 'it is replaced');
  assert.ok(engine.pids.includes(second));
  await Promise.all(Array.from({ length: 24 }, () => dialAndEcho(t, port)));
  assert.equal(before.peers.length, 0);
});
