import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { StreamDuplex } from '../../../src/agents/mux/stream-duplex.ts';
import { readProxyHeader } from '../../../src/agents/wire/proxy-header.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { makePair } from '../../support/certificate-pair.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { Program } from '../gateway/support/program.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import type { Answered } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { TcpProxy } from '../many-processes/support/tcp-proxy.ts';
import { agentAccess, connectLibrary, echoPort, exchange, hashOf, listen, startForAgents } from './support/agents.ts';
import type { AgentProgram } from './support/agents.ts';

const [hostA, hostB] = ['127.0.0.1', '127.0.0.2'];

/** Visits a name at a gateway, until it is known there. */
async function visit({ httpsPort }: Program, to: string, name: string, more = {}): Promise<Answered> {
  let answer: Answered | undefined;
  await until(async () => {
    answer = await askHttps(httpsPort, name, { to, ...more }).catch(() => undefined);
    return answer !== undefined && answer.errorCode !== 3200;
  }, `${name} is served`);
  return answer ?? assert.fail();
}

async function helloPort(owner: AsyncDisposableStack): Promise<number> {
  const answer = ({ url, headers }: IncomingMessage): string => `${url} for ${String(headers['x-forwarded-for'])}`;
  return listen(
    owner,
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => response.end(chunks.length > 0 ? Buffer.concat(chunks) : answer(request)));
    }),
  );
}

suite('a pair of gateways', () => {
  const programs = new AsyncDisposableStack();
  let proxy: TcpProxy;
  /** API and gateway, to which agents connect. */
  let a: AgentProgram;
  /** A gateway, to which an agent connects in one of the tests. */
  let b: AgentProgram;
  before(async () => {
    const way = await TcpProxy.before(await usePostgres(programs));
    proxy = programs.use(way.proxy);
    a = await startForAgents(programs, way.url, { host: hostA });
    b = await startForAgents(programs, way.url, { host: hostB, settings: { role: 'gateway' } });
  });
  after(() => programs.disposeAsync());

  test('an agent that is connected to one gateway is visited through another: HTTP and TCP, 5 MB each way', async () => {
    await using owner = new AsyncDisposableStack();
    const { program, agentPort } = a;
    const other = b.program;
    const session = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(program));
    await session
      .httpEndpoint()
      .domain('shop.localhost')
      .listenAndForward(`http://127.0.0.1:${await helloPort(owner)}`);
    const tcp = await session.tcpEndpoint().listenAndForward(`tcp://127.0.0.1:${await echoPort(owner)}`);
    const { text } = await visit(other, hostB, 'shop.localhost', { path: '/a?b', from: '127.0.0.3' });
    assert.equal(text, '/a?b for 127.0.0.3');
    assert.equal((await visit(program, hostA, 'shop.localhost', { path: '/' })).text, '/ for 127.0.0.1');
    const body = randomBytes(5 * 1024 * 1024).toString('base64');
    const posted = await visit(other, hostB, 'shop.localhost', { method: 'POST', body });
    assert.equal(hashOf(Buffer.from(posted.text)), hashOf(Buffer.from(body)));
    const port = Number(new URL(tcp.url() ?? '').port);
    (await dialled(hostB, port)).destroy();
    const sent = Array.from({ length: 3 }, () => randomBytes(5 * 1024 * 1024));
    const received = await Promise.all(sent.map((bytes) => exchange(hostB, port, bytes)));
    assert.deepEqual(received.map(hashOf), sent.map(hashOf));
    const metrics = await fetch(`http://${hostB}:${other.metricsPort}/metrics`).then((answer) => answer.text());
    assert.match(metrics, /^gatehouse_links_opened 1$/m);
  });

  test('the agent is told the address of the visitor, and a reset of either side reaches the other', async () => {
    await using owner = new AsyncDisposableStack();
    const { program, agentPort } = a;
    const other = b.program;
    const { token, ca } = await agentAccess(program);
    const streams: StreamDuplex[] = [];
    const { agent } = await signIn(agentPort, ca, token, {
      visitor: (stream) => {
        const duplex = new StreamDuplex().attach(stream);
        streams.push(duplex.on('error', () => {}));
        return duplex;
      },
    });
    owner.defer(() => void agent.socket.destroy());
    const bound = await agent.call('bind', { Id: '', Proto: 'tcp', ForwardsTo: 'x', Opts: {}, Extra: { Token: '' } });
    const port = Number(new URL(String(bound['URL'])).port);
    const visitor = await dialled(hostB, port);
    visitor.write('hello');
    await until(() => streams.length === 1, 'a stream');
    const first = streams[0] ?? assert.fail();
    let heard = Buffer.alloc(0);
    first.on('data', (chunk: Buffer) => (heard = Buffer.concat([heard, chunk])));
    await until(() => heard.includes('hello'), 'the first bytes');
    const read = readProxyHeader(heard);
    assert.ok(read.state === 'done');
    assert.equal(read.header.clientAddr, `127.0.0.3:${visitor.localPort}`);
    assert.equal(read.header.proto, 'tcp');
    assert.equal(String(read.rest), 'hello');
    const broken = closed(first);
    visitor.resetAndDestroy();
    await broken;
    assert.equal(first.readableEnded, false);
    const second = await dialled(hostB, port);
    await until(() => streams.length === 2, 'a second stream');
    const end = closed(second);
    streams[1]?.destroy();
    await end;
    assert.equal(second.readableEnded, false);
    await until(() => other.logged('a link to another process is open').length === 1, 'the log has one link');
  });

  test('nobody else speaks to the listener of links, and no backend leads there', async () => {
    const { program } = a;
    const [line] = program.logged('listening for links');
    assert.equal(line.host, '127.0.0.1');
    const foreign = makePair('foreign', '-subj', '/CN=link.gatehouse.invalid');
    for (const credentials of [{}, { cert: foreign.certificate_pem, key: foreign.private_key_pem }]) {
      const socket = connectTls({
        port: line.port,
        host: '127.0.0.1',
        servername: 'link.gatehouse.invalid',
        rejectUnauthorized: false,
        ALPNProtocols: ['gatehouse-link/1'],
        ...credentials,
      });
      let heard = 0;
      socket.on('error', () => {}).on('data', ({ length }) => (heard += length));
      socket.on('secureConnect', () => socket.write(randomBytes(64)));
      await closed(socket);
      assert.equal(heard, 0);
    }
    await until(async () => /^gatehouse_link_refusals_total 2$/m.test(await program.metrics()), 'both are counted');
    const { id } = await program.must('POST', '/backends/static', { address: `127.0.0.1:${line.port}` });
    const { id: edge } = await program.must('POST', '/edges/https', { hostports: ['inward.example.com:443'] });
    await program.must('POST', `/edges/https/${edge}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: { backend_id: id },
    });
    const { status, errorCode } = await askHttps(program.httpsPort, 'inward.example.com');
    assert.deepEqual([status, errorCode], [502, 20110]);
  });

  test('an endpoint that agents of both gateways share has its visitors spread evenly, whichever gateway they come to', async () => {
    await using owner = new AsyncDisposableStack();
    const access = await agentAccess(a.program);
    const holding: [ServerResponse[], ServerResponse[]] = [[], []];
    for (const [at, server] of [`localhost:${a.agentPort}`, `${hostB}:${b.agentPort}`].entries()) {
      const upstream = await listen(
        owner,
        createServer((request, response) => {
          if (request.url === '/ready') response.end();
          else holding[at]?.push(response);
        }),
      );
      const session = await connectLibrary(owner, server, access);
      await session
        .httpEndpoint()
        .domain('pool.localhost')
        .poolingEnabled(true)
        .listenAndForward(`http://127.0.0.1:${upstream}`);
    }
    await until(async () => (await a.program.must('GET', '/tunnels')).tunnels.length === 2, 'both are online');
    for (const [{ program }, to] of [
      [a, hostA],
      [b, hostB],
    ] as const) {
      await visit(program, to, 'pool.localhost', { path: '/ready' });
      // The second agent may become known to the gateway a moment later than the first.
      await until(async () => {
        const visitors = Array.from({ length: 10 }, () => askHttps(program.httpsPort, 'pool.localhost', { to }));
        await until(() => holding[0].length + holding[1].length === 10, 'all have arrived');
        const counts = holding.map(({ length }) => length);
        for (const response of holding.flatMap((responses) => responses.splice(0))) response.end('held');
        for (const { text } of await Promise.all(visitors)) assert.equal(text, 'held');
        return counts.every((count) => count === 5);
      }, `visitors at ${to} are spread`);
    }
  });

  test('without the database the visitors of agents are served as before, through both gateways', async () => {
    await using owner = new AsyncDisposableStack();
    const { program, agentPort } = a;
    const other = b.program;
    const session = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(program));
    await session
      .httpEndpoint()
      .domain('away.localhost')
      .listenAndForward(`http://127.0.0.1:${await helloPort(owner)}`);
    await visit(other, hostB, 'away.localhost');
    await proxy.cut();
    await until(async () => (await program.call('GET', '/credentials')).status === 503, 'the database is away');
    for (const [gateway, host] of [
      [other, hostB],
      [program, hostA],
    ] as const) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => askHttps(gateway.httpsPort, 'away.localhost', { to: host })),
      );
      for (const { status } of answers) assert.equal(status, 200);
    }
    await proxy.restore();
    await until(async () => (await program.call('GET', '/credentials')).status === 200, 'the database is back');
  });

  // The last: the first gateway is gone after it.
  test('a gateway whose agents are lost with it is offline for the others, which wait for it only so long', async () => {
    await using owner = new AsyncDisposableStack();
    const { program, agentPort } = a;
    const other = b.program;
    const { token, ca } = await agentAccess(program);
    const { agent } = await signIn(agentPort, ca, token, { visitor: echoing });
    owner.defer(() => void agent.socket.destroy());
    await agent.bind('held.localhost');
    const bound = await agent.call('bind', { Id: '', Proto: 'tcp', ForwardsTo: 'x', Opts: {}, Extra: { Token: '' } });
    const port = Number(new URL(String(bound['URL'])).port);
    await until(
      () =>
        exchange(hostB, port, Buffer.from('x')).then(
          ({ length }) => length > 0,
          () => false,
        ),
      'the way is open',
    );
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      program.signal(signal);
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => askHttps(other.httpsPort, 'held.localhost', { to: hostB })),
      );
      for (const { status, errorCode } of answers) assert.deepEqual([status, errorCode], [503, 3200], signal);
      await assert.rejects(exchange(hostB, port, Buffer.from('x')), { code: 'ECONNRESET' }, signal);
    }
    await until(() => other.logged(linkUnreachableText).length === 1, 'it is logged once');
  });
});

test('a process of the role agents keeps its sessions while the gateway restarts', async () => {
  await using owner = new AsyncDisposableStack();
  const database = await usePostgres(owner);
  const gatewayOf = (): Promise<Program> => Program.start(database, { 'drain-seconds': '0', workers: '2' });
  const first = await gatewayOf();
  const { program: holder, agentPort } = await startForAgents(owner, database, { settings: { role: 'agents' } });
  owner.defer(() => first[Symbol.asyncDispose]());
  await assert.rejects(fetch(`http://127.0.0.1:${holder.apiPort}/healthz`), 'it has no API');
  await assert.rejects(askHttps(holder.httpsPort, 'shop.localhost'), { code: 'ECONNREFUSED' });
  const session = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(first));
  await session
    .httpEndpoint()
    .domain('shop.localhost')
    .listenAndForward(`http://127.0.0.1:${await helloPort(owner)}`);
  assert.equal((await visit(first, hostA, 'shop.localhost')).status, 200);
  const [known] = (await first.must('GET', '/tunnel_sessions')).tunnel_sessions;
  first.signal('SIGTERM');
  assert.equal(await first.exited, 0);
  await using second = await gatewayOf();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => askHttps(second.httpsPort, 'shop.localhost', { from: '127.0.0.3' })),
  );
  for (const { text } of answers) assert.equal(text, '/ for 127.0.0.3');
  const { tunnel_sessions: sessions } = await second.must('GET', '/tunnel_sessions');
  assert.deepEqual(
    sessions.map(({ id }: { id: string }) => id),
    [known.id],
  );
  assert.equal(holder.logged('agent connected').length, 1);
  assert.equal(holder.logged('agent disconnected').length, 0);
});

const linkUnreachableText =
  'The process that holds the sessions of some agents cannot be reached, so that their endpoints are offline here. Check that ' +
  'GATEHOUSE_LINK_LISTEN of that process is an address which this one reaches, or set GATEHOUSE_LINK_ADDRESS there.';

/** Sends back what comes behind the header of a visitor's stream, header included. */
function echoing(stream: Parameters<StreamDuplex['attach']>[0]): StreamDuplex {
  const duplex = new StreamDuplex().attach(stream);
  duplex.on('error', () => {}).pipe(duplex);
  return duplex;
}

/** Resolves at the end, whether or not an error came before it. */
function closed(stream: Duplex): Promise<void> {
  return new Promise((resolve) => {
    stream.once('close', resolve);
  });
}

/** Connects once the port is open: the gateway hears of the endpoint a moment later. */
async function dialled(host: string, port: number): Promise<ReturnType<typeof connectTcp>> {
  let dialling = connectTcp({ host, port, localAddress: '127.0.0.3' });
  await until(async () => {
    if (dialling.destroyed) dialling = connectTcp({ host, port, localAddress: '127.0.0.3' });
    await once(dialling, 'connect');
    return true;
  }, `${port} is open`);
  return dialling.on('error', () => {});
}
