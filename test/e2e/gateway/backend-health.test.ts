import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { after, before, suite, test } from 'node:test';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { freePort } from '../../support/free-port.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { newSqlite } from '../../support/scratch.ts';
import { someOf } from '../../support/sample.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import { childrenOf } from './support/child-processes.ts';
import { Program } from './support/program.ts';
import { readExposition } from './support/prometheus.ts';
import { Site } from './support/site.ts';
import { askHttps, askTcp } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';
import type { Upstream } from './support/upstream.ts';
import { UpstreamProcess } from './support/upstream-process.ts';

const local = (port: number): string => `127.0.0.1:${port}`;

interface Health {
  readonly state: string;
  readonly addresses: readonly {
    readonly address: string;
    readonly gateways: readonly { readonly state: string; readonly cause?: string; readonly by?: string }[];
  }[];
  readonly flips: readonly { readonly address: string; readonly state: string; readonly cause?: string }[];
}

for (const workers of someOf(['off', '2'], 1, 'workers', 'backend-health')) {
  test(`kill -9 of one of three upstreams fails nothing that may be repeated (workers ${workers})`, async (t) => {
    const one = await UpstreamProcess.start('one');
    await using two = await UpstreamProcess.start('two');
    await using three = await UpstreamProcess.start('three');
    await using program = await Program.start(newSqlite(), { workers, 'drain-seconds': '0' });
    const { backendId, tcpPort } = await createAppEdge(program, one.port);
    await program.must('PATCH', `/backends/static/${backendId}`, {
      addresses: [one, two, three].map(({ port }) => ({ address: local(port) })),
      passive_check: { failures: 2, down_seconds: 1 },
    });
    const health = async (): Promise<Health> => program.must('GET', `/backends/static/${backendId}/health`);
    const stateOf = async (port: number) =>
      (await health()).addresses.find(({ address }) => address === local(port))?.gateways[0]?.state;

    const names = new Map<string, number>();
    const failed = { repeatable: [] as string[], posts: 0, connections: 0 };
    const load = { isOver: false };
    // A test that fails must not go on for ever.
    t.after(() => (load.isOver = true));
    let rounds = 0;
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    const repeat = async (
      ask: () => Promise<{ status: number; text: string; echo: { name: string } | undefined }>,
      fail: (why: string) => void,
    ) => {
      while (!load.isOver) {
        const answer = await ask().catch((error: unknown) => ({ status: 0, text: String(error), echo: undefined }));
        rounds++;
        if (answer.status !== 200) fail(`${answer.status} ${answer.text}`);
        const name = answer.echo?.name ?? '';
        names.set(name, (names.get(name) ?? 0) + 1);
      }
    };
    const { httpsPort } = program;
    const note = (why: string) => failed.repeatable.push(why);
    const clients = [
      ...Array.from({ length: 4 }, () => repeat(() => askHttps(httpsPort, appHost, { agent }), note)),
      ...Array.from({ length: 2 }, () => repeat(() => askHttps(httpsPort, appHost, { method: 'HEAD', agent }), note)),
      repeat(() => askHttps(httpsPort, appHost), note),
      repeat(
        () => askHttps(httpsPort, appHost, { method: 'POST', body: 'x', agent }),
        () => failed.posts++,
      ),
      repeat(
        () => askTcp(tcpPort),
        () => failed.connections++,
      ),
    ];
    await until(() => ['one', 'two', 'three'].every((name) => (names.get(name) ?? 0) > 10), 'all three serve');
    // More than there are kept connections: the others are found to be broken in the midst of a request.
    const path = '/held-by-one';
    const held = Array.from({ length: 45 }, () => askHttps(httpsPort, appHost, { path, agent }));
    await until(() => one.held >= 12, 'it has requests in flight');
    await one.kill();
    for (const { status, text } of await Promise.all(held)) if (status !== 200) note(`held: ${status} ${text}`);
    await until(async () => (await stateOf(one.port)) === 'down', 'it is found to be down');
    const since = rounds;
    await until(() => rounds > since + 300, 'the others serve');
    assert.deepEqual(failed.repeatable, []);
    // One client each: no more than what was in flight.
    assert.ok(failed.posts <= 1 && failed.connections <= 1, JSON.stringify(failed));
    const seen = await health();
    assert.equal(seen.state, 'in_part');
    const [flip] = seen.flips;
    assert.deepEqual([flip?.address, flip?.state], [local(one.port), 'down']);
    assert.match(flip?.cause ?? '', /ECONNREFUSED|ECONNRESET|closed|hang up/);
    const down = `gatehouse_backend_address_down{backend="${backendId}",address="${local(one.port)}"}`;
    assert.equal(readExposition(await program.metrics()).samples.get(down), 1);
    const told = (message: string) => program.logged(message).length;
    await until(() => told('an address of a backend is down: others get its traffic') === 1, 'it is logged');

    await using again = await UpstreamProcess.start('again', one.port);
    await until(async () => (await stateOf(again.port)) === 'up', 'it is found to be back');
    await until(() => (names.get('again') ?? 0) > 10, 'it serves again');
    load.isOver = true;
    await Promise.all(clients);
    agent.destroy();
    assert.deepEqual(failed.repeatable, []);
    assert.equal((await health()).state, 'up');
    await until(() => told('an address of a backend is up again') > 0, 'that is logged too');
  });
}

test('checks go on when the worker that makes them is killed, and a new worker knows what is down', async () => {
  await using upstream = await startUpstream('one');
  await using other = await startUpstream('two');
  await using program = await Program.start(newSqlite(), { workers: '2', 'drain-seconds': '0' });
  const { backendId } = await createAppEdge(program, upstream.port);
  let isWell = false;
  await using wellness = await startUpstream('checked', (_request, response) => {
    response.statusCode = isWell ? 200 : 500;
    response.end();
  });
  await program.must('PATCH', `/backends/static/${backendId}`, {
    addresses: [{ address: local(other.port) }, { address: local(wellness.port) }],
    active_check: {
      path: '/healthz',
      interval_seconds: 1,
      timeout_seconds: 1,
      failures: 1,
      passes: 1,
      statuses: ['200-299', '404'],
    },
  });
  const stateOf = async () =>
    (await program.must('GET', `/backends/static/${backendId}/health`)).addresses[1].gateways[0].state;
  await until(async () => (await stateOf()) === 'down', 'the check fails');
  const askMany = async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => askHttps(program.httpsPort, appHost)));
    return new Set(answers.map(({ status }) => status));
  };
  assert.deepEqual(await askMany(), new Set([200]));
  for (const pid of await childrenOf(program.pid)) {
    process.kill(pid, 'SIGKILL');
    await until(async () => {
      const pids = await childrenOf(program.pid);
      return pids.length === 2 && !pids.includes(pid);
    }, 'another worker');
    await until(() => program.logged('a gateway worker is gone; starting another').length > 0, 'the log says so');
  }
  await until(async () => (await askMany().catch(() => new Set())).has(200), 'the new workers serve');
  assert.deepEqual(await askMany(), new Set([200]));
  isWell = true;
  await until(async () => (await stateOf()) === 'up', 'the checks go on');
});

suite('the health of backends', () => {
  let site: Site;
  let one: Upstream;
  let two: Upstream;
  /** What the upstream named one does. */
  let mood: 'well' | 'failing' | 'silent' = 'well';
  /** Requests to it that no check makes: those of other tests' backends go on. */
  let posts = 0;
  before(async () => {
    site = await Site.start({ drainSeconds: '0' });
    one = await startUpstream('one', (request, response) => {
      request.resume();
      if (request.method === 'POST') posts++;
      if (mood === 'silent') return;
      response.statusCode = mood === 'well' ? 200 : 503;
      response.end(JSON.stringify({ name: 'one', method: request.method, url: request.url, headers: {} }));
    });
    two = await startUpstream('two');
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    await two[Symbol.asyncDispose]();
  });

  const both = () => [{ address: local(one.port) }, { address: local(two.port) }];
  const create = async (body: object): Promise<string> => (await site.gatehouse.create('/backends/static', body)).id;
  const use = async (backend_id: string) => {
    for (const path of [`${site.routePath}/backend`, `/edges/tcp/${site.tcpEdgeId}/backend`])
      assert.equal((await site.gatehouse.put(path, { backend_id })).status, 200);
  };
  const health = async (id: string): Promise<Health> =>
    (await site.gatehouse.get(`/backends/static/${id}/health`)).body;
  const isIn = (id: string, state: string) => until(async () => (await health(id)).state === state, `it is ${state}`);
  const namesOf = async (ask: () => Promise<{ echo: { name: string } | undefined }>, rounds = 8) => {
    const names = new Set<string | undefined>();
    for (let round = 0; round < rounds; round++) names.add((await ask()).echo?.name);
    return names;
  };

  test('an address that fails or hangs in its checks gets nothing, and everything again when it is back', async () => {
    mood = 'well';
    const id = await create({
      addresses: both(),
      active_check: { path: '/healthz', interval_seconds: 1, timeout_seconds: 1, failures: 2, passes: 1 },
    });
    await use(id);
    await isIn(id, 'up');
    assert.deepEqual(await namesOf(() => site.askHttps()), new Set(['one', 'two']));
    assert.deepEqual(await namesOf(() => site.askTcp()), new Set(['one', 'two']));
    for (const [bad, cause] of [
      ['failing', /^it answered 503$/],
      ['silent', /^it did not answer within 1 s$/],
    ] as const) {
      mood = bad;
      await isIn(id, 'in_part');
      assert.match((await health(id)).flips[0]?.cause ?? '', cause);
      const { backends } = (await site.gatehouse.get('/traffic/health')).body;
      const { fault, ...told } = backends.find((each: { id: string }) => each.id === id);
      assert.deepEqual(told, { id, state: 'in_part', addresses: 2, answering: 1 });
      assert.match(fault.cause, cause);
      assert.deepEqual(await namesOf(() => site.askHttps()), new Set(['two']));
      assert.deepEqual(await namesOf(() => site.askTcp()), new Set(['two']));
      mood = 'well';
      await isIn(id, 'up');
      assert.deepEqual(await namesOf(() => site.askHttps()), new Set(['one', 'two']));
    }
  });

  test('a request that may be repeated does not see a failing status; another one does, and they take the address out', async () => {
    const id = await create({
      addresses: both(),
      passive_check: { failures: 3, statuses: ['500-599'], down_seconds: 3600 },
    });
    await use(id);
    mood = 'failing';
    assert.deepEqual(await namesOf(() => site.askHttps(), 4), new Set(['two']));
    // Each address is asked for every other request: one of two is passed on as it is.
    const statuses = [];
    for (let round = 0; round < 2; round++) statuses.push((await site.askHttps({ method: 'POST', body: 'x' })).status);
    assert.deepEqual(new Set(statuses), new Set([200, 503]));
    await isIn(id, 'in_part');
    const asked = posts;
    assert.deepEqual(await namesOf(() => site.askHttps({ method: 'POST', body: 'x' })), new Set(['two']));
    assert.equal(posts, asked);
    await site.gatehouse.patch(`/backends/static/${id}`, {
      retries: 0,
      passive_check: { failures: 100, statuses: ['503'] },
    });
    const answers = [];
    for (let round = 0; round < 6; round++) answers.push((await site.askHttps()).status);
    assert.ok(!answers.includes(503), 'an address that is down stays so when its backend is changed');
    mood = 'well';
  });

  test('connections of a TCP edge take an address out that they cannot reach, and bring it back', async () => {
    const port = await freePort();
    const id = await create({
      addresses: [{ address: local(port) }, { address: local(two.port) }],
      passive_check: { failures: 2, down_seconds: 1 },
    });
    await site.gatehouse.put(`/edges/tcp/${site.tcpEdgeId}/backend`, { backend_id: id });
    assert.deepEqual(await namesOf(() => site.askTcp()), new Set(['two']));
    await isIn(id, 'in_part');
    await using back = await startUpstream('back', undefined, port);
    await until(
      async () => (await site.askTcp()).echo?.name === 'back' && (await health(id)).state === 'up',
      'it is back',
    );
    assert.ok(back);
  });

  test('with all addresses down traffic is tried all the same, or refused where the backend says so', async () => {
    mood = 'well';
    const check = { path: '/', statuses: ['418'], interval_seconds: 1, timeout_seconds: 1, failures: 1 };
    const id = await create({ addresses: both(), active_check: check });
    await use(id);
    await isIn(id, 'down');
    assert.equal((await site.askHttps()).status, 200);
    assert.equal((await site.askTcp()).status, 200);
    await site.gatehouse.patch(`/backends/static/${id}`, { when_all_down: 'fail_closed' });
    const refused = await site.askHttps();
    assert.deepEqual([refused.status, refused.headers['retry-after']], [503, '1']);
    assert.match(refused.text, /set to fail closed/);
    await assert.rejects(site.askTcp());
    // A failover backend goes past it, whatever it says.
    const failover = await site.gatehouse.create('/backends/failover', { backends: [id, site.backendId] });
    for (const when_all_down of ['fail_closed', 'fail_open']) {
      await site.gatehouse.patch(`/backends/static/${id}`, { when_all_down });
      await use(failover.id);
      assert.deepEqual(await namesOf(() => site.askHttps(), 3), new Set(['upstream']));
      assert.deepEqual(await namesOf(() => site.askTcp(), 3), new Set(['upstream']));
      await use(id);
    }
    await site.gatehouse.patch(`/backends/static/${id}`, { active_check: { enabled: false } });
    await isIn(id, 'up');
  });

  test('one value of a header stays with one address, and moves when that one goes', async () => {
    mood = 'well';
    await using third = await startUpstream('third');
    const id = await create({
      addresses: [...both(), { address: local(third.port) }],
      balance: { by: 'header', header: 'X-User' },
    });
    await use(id);
    const nameFor = async (user: string) => (await site.askHttps({ headers: { 'x-user': user } })).echo?.name;
    const users = Array.from({ length: 20 }, (_, at) => `user-${at}`);
    const places = new Map<string, string | undefined>();
    for (const user of users) places.set(user, await nameFor(user));
    assert.equal(new Set(places.values()).size, 3);
    for (const user of users) assert.equal(await nameFor(user), places.get(user));
    third.server.closeAllConnections();
    third.server.close();
    await once(third.server, 'close');
    for (const user of users) {
      const name = await nameFor(user);
      if (places.get(user) === 'third') assert.notEqual(name, 'third');
      else assert.equal(name, places.get(user));
    }
    third.server.listen(third.port, '127.0.0.1');
    await once(third.server, 'listening');
  });

  test('a check that leads inwards is refused like traffic', async () => {
    const id = await create({
      address: local(Number(new URL(site.gatehouse.url).port)),
      active_check: { interval_seconds: 1, timeout_seconds: 1, failures: 1 },
    });
    await isIn(id, 'down');
    assert.match((await health(id)).addresses[0]?.gateways[0]?.cause ?? '', /which is refused/);
  });
});

onDatabasesInTurn('what every gateway sees of a backend', (newDatabase) => {
  test('is shown side by side, and goes with the gateway', async () => {
    await using upstream = await startUpstream();
    const url = await newDatabase();
    await using one = await Gatehouse.start(url, { httpsListen: '127.0.0.1:0' });
    const { id } = await one.create('/backends/static', {
      addresses: [{ address: local(upstream.port) }, { address: '127.0.0.1:1' }],
      active_check: { kind: 'tcp', interval_seconds: 1, timeout_seconds: 1, failures: 1 },
    });
    const read = async (): Promise<Health> => (await one.get(`/backends/static/${id}/health`)).body;
    const states = async () =>
      (await read()).addresses.map(({ gateways }) => gateways.map(({ state }) => state).join()).join(' ');
    {
      await using other = await Gatehouse.start(url, { role: 'gateway', httpsListen: '127.0.0.1:0' });
      assert.equal(other.app.api, undefined);
      await until(async () => (await states()) === 'up,up down,down', 'both have checked');
      assert.equal((await read()).state, 'in_part');
      assert.match((await read()).addresses[1]?.gateways[1]?.cause ?? '', /ECONNREFUSED/);
      const told = async (token?: string) =>
        (await one.get('/traffic/health', token === undefined ? {} : { token })).body.backends;
      const [{ state, answering, fault }] = await told();
      assert.deepEqual([state, answering, fault.address], ['in_part', 1, '127.0.0.1:1']);
      const stranger = await createUser(one, 'admin', await createAccount(one));
      assert.deepEqual(await told(stranger.token), []);
      const viewer = await createUser(one, 'viewer');
      const hostsFor = async (options = {}) => {
        const { text } = await one.get(`/backends/static/${id}/health`, options);
        return text.match(/"host":/g)?.length ?? 0;
      };
      assert.ok((await hostsFor()) > 0, 'admins are told the machines');
      assert.equal(await hostsFor({ token: viewer.token }), 0);
    }
    await until(async () => (await states()) === 'up down', 'the report goes with its process');
    const addresses = [{ address: local(upstream.port) }, { address: '127.0.0.1:1', weight: 0 }];
    assert.equal((await one.patch(`/backends/static/${id}`, { addresses })).status, 200);
    await until(async () => (await states()) === 'up down', 'one that is taken out is still checked');
    assert.equal((await read()).state, 'up');
    await one.delete(`/backends/static/${id}`);
    const rows = () => one.app.context.store.queries.all('SELECT * FROM backend_health WHERE backend_id = $1', [id]);
    await until(async () => (await rows()).length === 0, 'and with the backend');
  });
});
