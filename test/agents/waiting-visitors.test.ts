import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { TcpProxy } from '../e2e/many-processes/support/tcp-proxy.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { httpProgram, rawProgram, visit, visitTcp } from './support/endpoint-visitors.ts';
import { newToken, onServed } from './support/served-agents.ts';
import type { ServedAgents } from './support/served-agents.ts';

/** The network between the library and the server, which can be cut. */
async function connectThrough(t: TestContext, { gatehouse, library, port }: ServedAgents) {
  const { proxy, url } = await TcpProxy.before(`tcp://localhost:${port}`);
  t.after(() => proxy[Symbol.asyncDispose]());
  const session = await library(await newToken(gatehouse), (builder) => builder.serverAddr(new URL(url).host));
  const online = async () => (await gatehouse.get('/tunnels')).body.tunnels.length;
  return {
    session,
    cut: async () => {
      await proxy.cut();
      await until(async () => (await online()) === 0, 'the agent is gone');
    },
    restore: () => proxy.restore(),
  };
}

/** Visitors who come while the unmodified library of the hosted service is on its way back. */
onServed(
  'visitors of agents that are on their way back',
  (served) => {
    test('requests and connections wait, and are carried out once', async (t) => {
      const body = randomBytes(300_000).toString('hex');
      const seen: string[] = [];
      const program = await httpProgram(t, (request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          seen.push(Buffer.concat(chunks).toString('latin1'));
          response.end('done');
        });
      });
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const { session, cut, restore } = await connectThrough(t, served());
      const http = await session.httpEndpoint().domain('back.localhost').listenAndForward(program);
      const tcp = await session.tcpEndpoint().listenAndForward(`tcp://127.0.0.1:${port}`);
      await cut();
      const posted = visit(served(), http.url(), { method: 'POST', body });
      const connected = visitTcp(tcp.url(), 'hello');
      await restore();
      assert.deepEqual([(await posted).status, (await posted).body], [200, 'done']);
      assert.equal(await connected, 'hello');
      assert.deepEqual(
        seen.map((each) => each === body),
        [true],
      );
    });

    test('edges of a tunnel group wait for a tunnel with its labels', async (t) => {
      const { gatehouse } = served();
      const program = await httpProgram(t, (_request, response) => response.end('done'));
      const { id } = await gatehouse.create('/backends/tunnel_group', { labels: { app: 'shop' } });
      const edge = await gatehouse.create('/edges/https', { hostports: ['group.localhost:443'] });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: id } };
      await gatehouse.create(`/edges/https/${edge.id}/routes`, route);
      const url = 'https://group.localhost';
      const none = await visit(served(), url);
      assert.deepEqual([none.status, none.code], [503, 'ERR_NGROK_3200'], 'nobody is expected yet');
      const { session, cut, restore } = await connectThrough(t, served());
      await session.labeledListener().label('app', 'shop').listenAndForward(program);
      assert.equal((await visit(served(), url)).body, 'done');
      await cut();
      const waited = visit(served(), url);
      await restore();
      assert.equal((await waited).body, 'done');
      await gatehouse.delete(`/edges/https/${edge.id}`);
    });
  },
  // Longer than the library takes for its third attempt, also on a busy machine.
  { tcpPorts: '17300-17399', agentWait: '60' },
);

onServed(
  'visitors of agents that do not come back',
  (served) => {
    test('an agent that closes its endpoint is not waited for', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('done'));
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      const listener = await session.httpEndpoint().domain('left.localhost').listenAndForward(program);
      assert.equal((await visit(served(), listener.url())).status, 200);
      await listener.close();
      const isRefused = () =>
        visit(served(), listener.url()).then(
          () => false,
          () => true,
        );
      // No certificate is shown for a name of nobody.
      await until(isRefused, 'the name is not served any more');
    });

    test('who has waited long enough is told to try again', async () => {
      const { gatehouse, agent } = served();
      const one = await agent(await newToken(gatehouse));
      await one.agent.bind('away.localhost');
      one.agent.socket.destroy();
      await until(async () => (await gatehouse.get('/tunnels')).body.tunnels.length === 0, 'disconnected');
      const answer = await visit(served(), 'https://away.localhost');
      assert.deepEqual([answer.status, answer.code, answer.headers['retry-after']], [503, 'ERR_NGROK_3200', '1']);
    });
  },
  { tcpPorts: '17400-17499', agentWait: '1' },
);
