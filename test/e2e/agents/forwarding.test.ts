import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { after, before, suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { newSqlite } from '../../support/scratch.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import type { Program } from '../gateway/support/program.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { agentAccess, connectLibrary, echoPort, exchange, listen, startForAgents } from './support/agents.ts';
import type { AgentProgram } from './support/agents.ts';

/** A gateway that visitors come to. */
interface Gateway {
  readonly program: Program;
  readonly host: string;
}

interface Installation extends AgentProgram {
  readonly gateways: readonly Gateway[];
}

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly way: string;
}

const front = 'front.example.com';
const onRequest = (...rules: readonly object[]) => ({ on_http_request: rules });
const act = (type: string, config: object = {}, ...expressions: readonly string[]) => ({
  expressions,
  actions: [{ type, config }],
});
const tag = (value: string) => act('add-headers', { headers: { 'x-way': value } });
const forwardTo = (url: string, more: object = {}) => act('forward-internal', { url, ...more });

function ask1({ program, host }: Gateway, path: string): Promise<Answered> {
  return askHttps(program.httpsPort, front, { to: host, path }).then(({ status, text, headers }) => ({
    status,
    text,
    way: String(headers['x-way']),
  }));
}

/** A connection that is about to close refuses what begins then, which clients send once more. */
async function ask2(gateway: Gateway, path: string): Promise<Answered> {
  try {
    return await askOverHttp2(gateway, path);
  } catch (error) {
    if (!String(error).includes('NGHTTP2_REFUSED_STREAM')) throw error;
    return ask2(gateway, path);
  }
}

async function askOverHttp2({ program, host }: Gateway, path: string): Promise<Answered> {
  const session = connectHttp2(`https://${host}:${program.httpsPort}`, {
    servername: front,
    rejectUnauthorized: false,
  });
  try {
    const { promise, resolve, reject } = Promise.withResolvers<Answered>();
    session.on('error', reject);
    const request = session.request({ ':path': path, ':authority': front }).on('error', reject);
    let head: Readonly<Record<string, unknown>> = {};
    let text = '';
    request.on('response', (headers) => (head = headers)).on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      resolve({ status: Number(head[':status']), text, way: String(head['x-way']) });
    });
    return await promise;
  } finally {
    session.close();
  }
}

const versions = { 'HTTP/1.1': ask1, 'HTTP/2': ask2 } as const;
function forwardingTests(workers: string, start: (owner: AsyncDisposableStack) => Promise<Installation>): void {
  /** Each connection goes to one of the workers: which one, the system decides. */
  const visits = workers === '1' ? 3 : 20;
  const owner = new AsyncDisposableStack();
  let at: Installation;
  let tcpPort = 0;
  let formerPort = 0;
  let agent: Awaited<ReturnType<typeof connectLibrary>>;

  before(async () => {
    at = await start(owner);
    const { program, agentPort } = at;
    const answer = (name: string) =>
      createServer(({ url, headers }, response) =>
        response.end(`${name} ${url} ${headers.host} ${String(headers['x-way'])}`),
      );
    const upstream = await listen(owner, answer('agent'));
    const shared = await listen(owner, answer('pool'));
    agent = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(program));
    const internal = (name: string) => agent.httpEndpoint().binding('internal').domain(name);
    await internal('app.internal')
      .trafficPolicy(JSON.stringify({ ...onRequest(tag('agent')), on_http_response: [tag('agent')] }))
      .listenAndForward(`http://127.0.0.1:${upstream}`);
    await internal('pool.internal').poolingEnabled(true).listenAndForward(`http://127.0.0.1:${shared}`);
    await agent
      .tcpEndpoint()
      .binding('internal')
      .remoteAddr('db.internal:5432')
      .listenAndForward(`tcp://127.0.0.1:${await echoPort(owner)}`);

    const create = (url: string, policy: object, more: object = {}) =>
      program.must('POST', '/endpoints', { url, type: 'cloud', traffic_policy: JSON.stringify(policy), ...more });
    await program.must('POST', '/reserved_domains', { domain: front });
    await create('https://middle.internal', {
      ...onRequest(tag('middle'), forwardTo('https://app.internal')),
      on_http_response: [tag('middle')],
    });
    await create('https://circle.internal', onRequest(forwardTo('https://circle.internal')));
    await create('https://pool.internal', onRequest(act('custom-response', { body: 'cloud' })), {
      pooling_enabled: true,
    });
    const failed = act('custom-response', { body: '${actions.ngrok.forward_internal.error.code}' });
    const byPath = (path: string, url: string, more: object = {}) => ({
      ...forwardTo(url, more),
      expressions: [`req.url.path.startsWith('${path}')`],
    });
    await create(`https://${front}`, {
      ...onRequest(
        byPath('/direct', 'https://app.internal'),
        byPath('/circle', 'https://circle.internal'),
        byPath('/pool', 'https://pool.internal'),
        {
          expressions: ["req.url.path == '/asks'"],
          actions: [
            { type: 'http-request', config: { url: 'https://app.internal/asked', timeout: '30s' } },
            { type: 'custom-response', config: { body: '${actions.ngrok.http_request.res.body}' } },
          ],
        },
        byPath('/gone', 'https://gone.internal'),
        byPath('/else', 'https://gone.internal', { on_error: 'continue' }),
        { ...failed, expressions: ["req.url.path == '/else'"] },
        tag('front'),
        forwardTo('https://middle.internal'),
      ),
      on_tcp_connect: [act('terminate-tls', { min_version: '1.3' })],
      on_http_response: [
        tag('front'),
        act(
          'response-body-find-replace',
          { replacements: [{ from: 'agent', to: 'AGENT' }] },
          "req.url.path == '/swap'",
        ),
      ],
    });
    const { addr } = await program.must('POST', '/reserved_addrs', {});
    tcpPort = Number(String(addr).split(':')[1]);
    await create(`tcp://${addr}`, { on_tcp_connect: [forwardTo('tcp://db.internal:5432')] });
    const { addr: former } = await program.must('POST', '/reserved_addrs', {});
    formerPort = Number(String(former).split(':')[1]);
    await program.must('POST', '/edges/tcp', {
      hostports: [former],
      policy: { inbound: [forwardTo('tcp://db.internal:5432')] },
    });
    for (const gateway of at.gateways) {
      const known = async () => {
        const answers = await Promise.all(Array.from({ length: visits }, () => ask1(gateway, '/')));
        return answers.every(({ text }) => text.startsWith('agent'));
      };
      await until(known, 'the endpoints are known in every process');
      // The newest of them.
      const isOpen = async () => (await exchange(gateway.host, formerPort, Buffer.from('x'))).toString() === 'x';
      await until(isOpen, 'the port is open');
    }
  });
  after(() => owner.disposeAsync());

  /** Asks every gateway, in both versions of HTTP, over many connections. */
  async function askAll(path: string, check: (answers: readonly Answered[], where: string) => void): Promise<void> {
    for (const gateway of at.gateways)
      for (const [version, ask] of Object.entries(versions))
        check(
          await Promise.all(Array.from({ length: visits }, () => ask(gateway, path))),
          `${version} at ${gateway.host}`,
        );
  }

  const same = (expected: Answered) => (answers: readonly Answered[], where: string) => {
    for (const answer of answers) assert.deepEqual(answer, expected, where);
  };

  test('through a cloud endpoint to an endpoint of an agent: all policies run, there and back', () =>
    askAll(
      '/a?b=c',
      same({ status: 200, text: `agent /a?b=c ${front} front, middle, agent`, way: 'agent, middle, front' }),
    ));

  test('straight to an endpoint of an agent', () =>
    askAll('/direct', same({ status: 200, text: `agent /direct ${front} agent`, way: 'agent, front' })));

  test('a rule asks an endpoint of an agent, and the body of an answer is changed', async () => {
    await askAll('/asks', same({ status: 200, text: 'agent /asked app.internal agent', way: 'front' }));
    await askAll(
      '/swap',
      same({ status: 200, text: `AGENT /swap ${front} front, middle, AGENT`, way: 'agent, middle, front' }),
    );
  });

  test('TLS ends as the policy says, in every process', async () => {
    const ended = async ({ program, host }: Gateway, maxVersion: 'TLSv1.2' | 'TLSv1.3') => {
      const options = { host, port: program.httpsPort, servername: front, rejectUnauthorized: false, maxVersion };
      const socket = connectTls(options);
      try {
        await once(socket, 'secureConnect');
        return socket.getProtocol();
      } catch {
        return 'refused';
      } finally {
        socket.destroy();
      }
    };
    for (const gateway of at.gateways)
      for (const [version, expected] of [
        ['TLSv1.2', 'refused'],
        ['TLSv1.3', 'TLSv1.3'],
      ] as const) {
        const all = await Promise.all(Array.from({ length: visits }, () => ended(gateway, version)));
        assert.deepEqual(new Set(all), new Set([expected]), gateway.host);
      }
  });

  test('both members of a pool, one of the cloud and one of an agent, answer', () =>
    askAll('/pool', (answers, where) => {
      for (const { text } of answers) assert.match(text, /^(cloud|pool \/pool .*)$/, where);
    }));

  test('a circle ends, and an endpoint that is not there is offline, or what the policy says', async () => {
    await askAll('/circle', (answers, where) => {
      for (const { status, text } of answers) {
        assert.equal(status, 508, where);
        assert.match(text, /3501/);
      }
    });
    await askAll('/gone', (answers, where) => {
      for (const { status, text } of answers) {
        assert.equal(status, 503, where);
        assert.match(text, /3200/);
      }
    });
    await askAll('/else', same({ status: 200, text: 'ERR_NGROK_3200', way: 'front' }));
  });

  test('TCP is forwarded to an endpoint of an agent', async () => {
    const sent = Buffer.from('x'.repeat(300_000));
    // By an endpoint of the cloud, and by the older form of policies at an edge.
    for (const { host } of at.gateways)
      for (const port of [tcpPort, formerPort]) {
        const received = await Promise.all(Array.from({ length: 6 }, () => exchange(host, port, sent)));
        for (const bytes of received) assert.ok(bytes.equals(sent), `${bytes.length} bytes at ${host}:${port}`);
      }
  });

  test('when the agent has left, its endpoint is offline at every gateway, and what is of the cloud still answers', async () => {
    for (const listener of await agent.listeners()) await listener.close();
    const all = (gateway: Gateway, path: string, isSo: (answer: Answered) => boolean) => async () =>
      (await Promise.all(Array.from({ length: visits }, () => ask1(gateway, path)))).every(isSo);
    for (const gateway of at.gateways)
      await until(
        all(gateway, '/direct', ({ status }) => status === 503),
        'it is offline',
      );
    await askAll('/direct', (answers, where) => {
      for (const { status, text } of answers) {
        assert.equal(status, 503, where);
        assert.match(text, /3200/);
      }
    });
    for (const gateway of at.gateways)
      await until(
        all(gateway, '/pool', ({ text }) => text === 'cloud'),
        'the pool has one member',
      );
    await askAll('/pool', same({ status: 200, text: 'cloud', way: 'front' }));
  });
}

async function startOne(owner: AsyncDisposableStack, workers: string): Promise<Installation> {
  const one = await startForAgents(owner, newSqlite(), { settings: { workers } });
  return { ...one, gateways: [{ program: one.program, host: '127.0.0.1' }] };
}

for (const workers of ['1', '2'])
  suite(`forwarding with workers: ${workers}`, () => {
    forwardingTests(workers, (owner) => startOne(owner, workers));
  });

suite('forwarding by two gateways, of which one has the agent', () => {
  forwardingTests('1', async (owner) => {
    const [hostA, hostB] = ['127.0.0.1', '127.0.0.2'];
    const database = await usePostgres(owner);
    const a = await startForAgents(owner, database, { host: hostA, settings: { workers: '1' } });
    const settings = { role: 'gateway', 'agent-listen': 'off', workers: '1' };
    const b = await startForAgents(owner, database, { host: hostB, settings });
    return {
      ...a,
      gateways: [
        { program: a.program, host: hostA },
        { program: b.program, host: hostB },
      ],
    };
  });
});
