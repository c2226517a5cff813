import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { StreamDuplex } from '../../../src/agents/mux/stream-duplex.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { childrenOf } from '../gateway/support/child-processes.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { agentAccess, connectLibrary, echoPort, exchange, hashOf, listen, startForAgents } from './support/agents.ts';
import type { AgentProgram } from './support/agents.ts';

/** Sessions of agents are held by the parent of the workers, visitors come to the workers. */
async function startWorkers(owner: AsyncDisposableStack, settings = {}): Promise<AgentProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  owner.defer(() => rm(folder, { recursive: true, force: true }));
  return startForAgents(owner, `sqlite:${join(folder, 'gatehouse.db')}`, { settings: { workers: '2', ...settings } });
}

/** Each connection goes to one of the workers: which one, the system decides. */
const visits = 60;

test('every visitor is served, whichever worker takes it', async () => {
  await using owner = new AsyncDisposableStack();
  const { program, agentPort } = await startWorkers(owner);
  const upstream = await listen(
    owner,
    createServer((request, response) =>
      response.end(`${request.url} for ${String(request.headers['x-forwarded-for'])}`),
    ),
  );
  const session = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(program));
  await session.httpEndpoint().domain('shop.localhost').listenAndForward(`http://127.0.0.1:${upstream}`);
  const workers = await childrenOf(program.pid);
  assert.equal(workers.length, 2);
  const answers = await Promise.all(
    Array.from({ length: visits }, (_, at) =>
      askHttps(program.httpsPort, 'shop.localhost', { path: `/${at}`, from: '127.0.0.3' }),
    ),
  );
  assert.deepEqual(
    answers.map(({ text }) => text),
    Array.from({ length: visits }, (_, at) => `/${at} for 127.0.0.3`),
  );
  // Half of the visitors come to a worker that is new, and all are served as before.
  process.kill(workers[0] ?? 0, 'SIGKILL');
  await until(async () => {
    const now = await childrenOf(program.pid);
    return now.length === 2 && !now.includes(workers[0] ?? 0);
  }, 'another worker');
  await until(
    () =>
      askHttps(program.httpsPort, 'shop.localhost').then(
        () => true,
        () => false,
      ),
    'the new worker listens',
  );
  const later = await Promise.all(
    Array.from({ length: visits }, () => askHttps(program.httpsPort, 'shop.localhost').catch(String)),
  );
  const statuses = later.map((answer) => (typeof answer === 'string' ? answer : answer.status));
  assert.deepEqual(statuses, Array<number>(visits).fill(200));
});

test('5 MB go each way through a TCP endpoint, over several connections at once', async () => {
  await using owner = new AsyncDisposableStack();
  const { program, agentPort } = await startWorkers(owner);
  const session = await connectLibrary(owner, `localhost:${agentPort}`, await agentAccess(program));
  const listener = await session.tcpEndpoint().listenAndForward(`tcp://127.0.0.1:${await echoPort(owner)}`);
  const port = Number(new URL(listener.url() ?? '').port);
  const sent = Array.from({ length: 6 }, () => randomBytes(5 * 1024 * 1024));
  const received = await Promise.all(sent.map((bytes) => exchange('127.0.0.1', port, bytes)));
  assert.deepEqual(received.map(hashOf), sent.map(hashOf));
});

test('an agent that is gone is answered for as offline by every worker', async () => {
  await using owner = new AsyncDisposableStack();
  const { program, agentPort } = await startWorkers(owner);
  const { token, ca } = await agentAccess(program);
  const { agent } = await signIn(agentPort, ca, token);
  await agent.bind('gone.localhost');
  assert.equal((await program.call('GET', '/tunnels')).body.tunnels.length, 1);
  agent.socket.destroy();
  await until(async () => (await program.call('GET', '/tunnels')).body.tunnels.length === 0, 'the agent is gone');
  const answers = await Promise.all(
    Array.from({ length: visits }, () => askHttps(program.httpsPort, 'gone.localhost')),
  );
  for (const { status, errorCode } of answers) assert.deepEqual([status, errorCode], [503, 3200]);
});

test('visitors that leave too much unread cost the slowest of them, which the log and the metrics tell', async () => {
  await using owner = new AsyncDisposableStack();
  const { program, agentPort } = await startWorkers(owner, { 'link-unread-mib': '1' });
  const { token, ca } = await agentAccess(program);
  const much = randomBytes(16 * 1024 * 1024);
  const { agent } = await signIn(agentPort, ca, token, {
    visitor: (stream) => {
      const duplex = new StreamDuplex().attach(stream);
      duplex.on('error', () => {}).end(much);
      return duplex;
    },
  });
  owner.defer(() => void agent.socket.destroy());
  const bound = await agent.call('bind', { Id: '', Proto: 'tcp', ForwardsTo: 'x', Opts: {}, Extra: { Token: '' } });
  const port = Number(new URL(String(bound['URL'])).port);
  for (let visitor = 0; visitor < 16; visitor++) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.pause();
    owner.defer(() => void socket.destroy());
  }
  const refusals = /^gatehouse_bound_refusals_total\{bound="link_unread_mib"\} [1-9]/m;
  await until(async () => refusals.test(await program.metrics()), 'it is counted');
  await until(() => /"code":20136/.test(program.output), 'it is logged');
});
