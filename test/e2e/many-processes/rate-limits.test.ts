import assert from 'node:assert/strict';
import { Agent } from 'node:https';
import { after, before, suite, test } from 'node:test';

import { childrenOf } from '../gateway/support/child-processes.ts';
import { Program } from '../gateway/support/program.ts';
import { readExposition } from '../gateway/support/prometheus.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { until } from '../gateway/support/until.ts';
import { CrashingPostgres } from './support/crashing-postgres.ts';

const host = 'limited.edge.test';
const limit = 60;
/** So long that no test sees anything slide. */
const window_seconds = 86_400;
const unreachable = 'gatehouse_rate_peers_unreachable';
const heard = 'gatehouse_rate_counts_total{way="heard"}';

class KeptConnections extends Agent implements Disposable {
  constructor() {
    super({ keepAlive: true, maxSockets: 8 });
  }

  [Symbol.dispose](): void {
    this.destroy();
  }
}

suite('a rate limit over three gateways', () => {
  const owner = new AsyncDisposableStack();
  const gateways: Program[] = [];
  let postgres: CrashingPostgres;
  let database: string;
  let sources = 0;

  before(async () => {
    postgres = owner.use(await CrashingPostgres.start());
    database = await postgres.createDatabase();
    const upstream = owner.use(await startUpstream());
    // The second has workers, which count together with those of the others.
    gateways.push(owner.use(await start('all', 'off')));
    gateways.push(owner.use(await start('gateway', '2')));
    gateways.push(owner.use(await start('gateway', 'off')));
    const [api = assert.fail()] = gateways;
    const backend = await api.must('POST', '/backends/static', { address: `127.0.0.1:${upstream.port}` });
    const edge = await api.must('POST', '/edges/https', { hostports: [`${host}:443`] });
    await api.must('POST', `/edges/https/${edge.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: backend.id },
      rate_limit: { limit, window_seconds },
    });
    for (const gateway of gateways) await follows(gateway);
  });
  after(() => owner.disposeAsync());

  const start = (role: string, workers: string) =>
    Program.start(database, { role, workers, 'drain-seconds': '0', 'snapshot-file': 'off' });
  const metric = async (gateway: Program, name: string) =>
    readExposition(await gateway.metrics()).samples.get(name) ?? 0;
  const follows = async (gateway: Program) => {
    const version = await metric(gateways[0] ?? gateway, 'gatehouse_snapshot_version');
    await until(async () => (await metric(gateway, 'gatehouse_snapshot_version')) >= version, 'it has the edge');
  };
  /** Each test has sources of its own, and so counts of its own. */
  const newSource = () => `127.0.7.${++sources}`;
  const ask = async ({ httpsPort }: Program, from: string, agent?: Agent) => {
    const { status } = await askHttps(httpsPort, host, { from, ...(agent && { agent }) });
    assert.ok(status === 200 || status === 429, `${status}`);
    return status === 200 ? 1 : 0;
  };
  const askTimes = async (gateway: Program, from: string, times: number) => {
    let passed = 0;
    for (let round = 0; round < times; round++) passed += await ask(gateway, from);
    return passed;
  };
  /** Waits until all of these refuse the source; returns how many have passed meanwhile. */
  const untilRefused = async (asked: readonly Program[], from: string) => {
    let passed = 0;
    await until(async () => {
      const now = await Promise.all(asked.map((gateway) => ask(gateway, from)));
      for (const each of now) passed += each;
      return now.every((each) => each === 0);
    }, 'all refuse');
    return passed;
  };

  // The first, so that nothing is heard of other sources.
  test('one that starts later knows what was let in before', async () => {
    const from = newSource();
    const [a = assert.fail(), b = assert.fail()] = gateways;
    assert.equal(await askTimes(a, from, limit), limit);
    await untilRefused([b], from);
    await using late = await start('gateway', 'off');
    await follows(late);
    await until(async () => (await metric(late, heard)) >= limit, 'it is told');
    assert.equal(await ask(late, from), 0);
    // In order, so that the others do not miss it.
    late.signal('SIGTERM');
    await late.exited;
  });

  test('what each has let in counts at all of them once they have told each other: no request more passes', async () => {
    const from = newSource();
    const known = await Promise.all(gateways.map((gateway) => metric(gateway, heard)));
    const passed = await Promise.all(gateways.map((gateway) => askTimes(gateway, from, limit / 3)));
    assert.deepEqual(passed, [20, 20, 20]);
    for (const [at, gateway] of gateways.entries())
      await until(async () => (await metric(gateway, heard)) - (known[at] ?? 0) === 40, `${at} has heard of the rest`);
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = gateways;
    assert.deepEqual([await ask(a, from), await ask(c, from)], [0, 0]);
    // The parent of workers has heard; they are told a moment later.
    assert.ok((await untilRefused([b], from)) < limit);
  });

  test('all at once pass by what each lets in before it is told: the limit for each process at the very most', async () => {
    const from = newSource();
    // A handshake for each request would take a busy machine longer than clients have for it.
    using agent = new KeptConnections();
    const all = gateways.flatMap((gateway) => Array.from({ length: 2 * limit }, () => ask(gateway, from, agent)));
    let passed = 0;
    for (const each of await Promise.all(all)) passed += each;
    passed += await untilRefused(gateways, from);
    assert.ok(passed >= limit && passed <= 4 * limit, `${passed} have passed`);
  });

  test('a worker that takes the place of another knows what was let in before', async () => {
    const from = newSource();
    const [a = assert.fail(), b = assert.fail()] = gateways;
    assert.equal(await askTimes(b, from, limit / 2), limit / 2);
    assert.equal(await askTimes(a, from, limit / 2), limit / 2);
    await untilRefused([a, b], from);
    const [pid = assert.fail()] = await childrenOf(b.pid);
    process.kill(pid, 'SIGKILL');
    const working = 'gatehouse_worker_busy_ratio{worker="3"}';
    await until(async () => readExposition(await b.metrics()).samples.has(working), 'there is a third');
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(b, from)));
    assert.ok(answers.every((each) => each === 0));
  });

  test('while the database is down, requests are answered by the rule, and gateways go on counting together', async () => {
    await postgres.crash('SIGKILL');
    const from = newSource();
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = gateways;
    const known = await metric(c, heard);
    assert.equal(await askTimes(a, from, 30), 30);
    assert.equal(await askTimes(b, from, 30), 30);
    await until(async () => (await metric(c, heard)) - known === 60, 'the third has heard of it');
    assert.equal(await ask(c, from), 0);
    await untilRefused([a, b], from);
    await postgres.restart();
    await until(async () => (await a.call('GET', '/ip_policies')).status === 200, 'the API is back');
  });

  test('one that hangs holds nobody up, and is told once it goes on', async () => {
    const from = newSource();
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = gateways;
    const known = await metric(c, heard);
    c.signal('SIGSTOP');
    assert.equal(await askTimes(a, from, limit), limit);
    await untilRefused([a, b], from);
    c.signal('SIGCONT');
    await until(async () => (await metric(c, heard)) - known >= limit, 'it is told');
    assert.equal(await ask(c, from), 0);
  });

  test('one that is killed is said once in the log of the others, which go on, also without a database', async () => {
    const [a = assert.fail(), b = assert.fail(), c = assert.fail()] = gateways;
    const { gateways: listed } = await a.must('GET', '/gateways');
    const { id } = listed.find((each: object) => JSON.stringify(each).includes(`"port":${c.httpsPort}`));
    await postgres.crash('SIGKILL');
    c.signal('SIGKILL');
    await c.exited;
    const from = newSource();
    assert.equal(await askTimes(a, from, limit), limit);
    await untilRefused([a, b], from);
    const lines = () => a.output.split('\n').filter((line) => line.includes('"code":20353') && line.includes(id));
    await until(() => lines().length > 0, 'it is logged');
    await until(async () => (await metric(a, unreachable)) === 1, 'it is counted, and no other');
    assert.equal(await askTimes(b, newSource(), limit), limit);
    assert.equal(lines().length, 1);
  });
});
