import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { SnapshotEntry } from '../../src/snapshot/contract.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import type { Agents, ForwardingAgent } from './support/agents.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings, TestGateway } from './support/https-gateway.ts';
import { freePort } from '../support/free-port.ts';
import { until } from './support/tcp-engine.ts';
import { limitedTo, policy, restriction, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, silent, startUpstream } from './support/tcp-peers.ts';
import type { Behaviour, Upstream } from './support/tcp-peers.ts';

interface Started {
  readonly port: number;
  readonly upstream: Upstream;
  readonly agents: Agents;
  readonly agent: ForwardingAgent;
  readonly gateway: TestGateway;
}

async function start(
  t: TestContext,
  behaviour?: Behaviour,
  more: readonly SnapshotEntry[] = [],
  settings: GatewaySettings = {},
): Promise<Started> {
  const upstream = await startUpstream(t, behaviour);
  const agents = await startAgents(t);
  const agent = await agents.start(upstream.port);
  const port = await freePort();
  const entries = [tcpEdge('ep_1', [port], toBackend('ep_1')), tunnelBackend('ep_1', [agent]), ...more];
  const gateway = await startGateway(entries, { dialer: agents.dialer, listenHost: '127.0.0.1', ...settings });
  t.after(() => gateway.drain(0));
  return { port, upstream, agents, agent, gateway };
}

test('a connection to the port of an endpoint goes through the agent, which is told who comes', async (t) => {
  const { port, agent, agents, gateway } = await start(t);
  const client = await dialAndEcho(t, port);
  const { localPort } = client.socket;
  assert.deepEqual(
    agent.visitors.map(({ clientAddr, proto, passthroughTls }) => [clientAddr, proto, passthroughTls]),
    [[`127.0.0.1:${localPort}`, 'tcp', false]],
  );
  client.socket.end();
  await client.seesEnd();
  await until(() => gateway.tcpClosed.length === 1, 'the end is reported');
  const [{ bytesIn, bytesOut, reason } = assert.fail()] = gateway.tcpClosed;
  assert.deepEqual([bytesIn, bytesOut, reason], [5, 5, 'client']);
  assert.equal(agents.dialer.load(agent.tunnel), 0);
});

test('each direction ends by itself', async (t) => {
  const { port, upstream } = await start(t, silent);
  const client = dial(t, port);
  client.socket.end('question');
  await until(() => upstream.peers[0]?.ended === true, 'the end of the client arrives');
  assert.equal(upstream.peers[0]?.text, 'question');
  upstream.peers[0]?.socket.end('answer');
  await client.receives('answer');
  await client.seesEnd();

  const other = dial(t, port);
  other.socket.write('a');
  await until(() => upstream.peers[1]?.text === 'a', 'the first byte arrives');
  upstream.peers[1]?.socket.end('early');
  await other.seesEnd();
  assert.equal(other.text, 'early');
  other.socket.end('late');
  await until(() => upstream.peers[1]?.ended === true, 'the end of the client arrives');
  assert.equal(upstream.peers[1]?.text, 'alate');
});

test('20 MB each way at once arrive as they were sent', async (t) => {
  const { port } = await start(t);
  const payload = randomBytes(20 * 1024 * 1024);
  const client = dial(t, port).socket;
  const received = createHash('sha256');
  client.on('data', (chunk: Buffer) => received.update(chunk));
  client.end(payload);
  await once(client, 'end');
  assert.equal(received.digest('hex'), createHash('sha256').update(payload).digest('hex'));
});

test('what a client sends waits unchanged for a program that does not read, and stalls nobody else', async (t) => {
  const { port, upstream } = await start(t, (socket) => {
    socket.once('data', (first: Buffer) => {
      if (first.toString('latin1', 0, 4) === 'slow') socket.pause();
      else socket.write(first);
    });
  });
  const payload = randomBytes(24 * 1024 * 1024);
  const slow = dial(t, port).socket;
  slow.write('slow');
  await until(() => upstream.peers[0]?.text === 'slow', 'the slow one is there');
  slow.end(payload);
  await dialAndEcho(t, port);
  await until(() => slow.writableLength > 0, 'its bytes wait');
  for (let round = 0; round < 10; round++) await dialAndEcho(t, port);
  assert.equal(slow.writableFinished, false);
  const reader = upstream.peers[0] ?? assert.fail();
  reader.socket.resume();
  await until(() => reader.ended, 'all has been read');
  const [sent, read] = [Buffer.concat([Buffer.from('slow'), payload]), Buffer.from(reader.text, 'latin1')];
  assert.ok(sent.equals(read));
});

test('a client is reset when its agent is gone, and when there is none', async (t) => {
  const { port, agent, gateway } = await start(t);
  const client = await dialAndEcho(t, port);
  agent.agent.socket.destroy();
  await client.isReset();
  await dial(t, port).isReset();
  await gateway.set(tunnelBackend('ep_1', []));
  await dial(t, port).isReset();
  await until(() => gateway.tcpClosed.length === 3, 'each end is reported');
  assert.deepEqual(
    gateway.tcpClosed.map(({ reason }) => reason),
    ['upstream', 'connect failed', 'connect failed'],
  );
});

test('a break of the client reaches the program behind the agent as a break', async (t) => {
  const { port, upstream, agents, agent } = await start(t, silent);
  const client = dial(t, port);
  client.socket.write('x');
  await until(() => upstream.peers.length === 1, 'it has arrived');
  client.socket.resetAndDestroy();
  await upstream.peers[0]?.isReset();
  assert.equal(agents.dialer.load(agent.tunnel), 0);
});

test('connections that wait for an agent are closed by rules that change, and by a drain', async (t) => {
  const never = { dial: () => new Promise<never>(() => {}), load: () => 0 };
  const allowed = policy('ipp_1', '127.0.0.0/8');
  const { port, gateway } = await start(t, silent, [allowed], { dialer: never });
  await gateway.set(tcpEdge('ep_1', [port], { ...limitedTo('ipp_1'), ...toBackend('ep_1') }));
  const client = dial(t, port);
  await until(() => gateway.verdicts.length === 1, 'it was let in');
  await gateway.set(policy('ipp_1', '10.0.0.0/8'));
  await client.isReset();
  await gateway.set(allowed);
  const other = dial(t, port);
  await until(() => gateway.verdicts.length === 2, 'it was let in');
  await gateway.drain(0);
  await other.isReset();
  assert.deepEqual(
    gateway.tcpClosed.map(({ reason }) => reason),
    ['rules changed', 'drained'],
  );
});

test('rules that change close the connections through an agent that they refuse, and no others', async (t) => {
  const guard = [policy('ipp_1', '127.0.0.0/8'), policy('ipp_2', '127.0.0.0/8')];
  const { port, gateway, agents, agent } = await start(t, undefined, guard);
  await gateway.set(tcpEdge('ep_1', [port], { ...limitedTo('ipp_1'), ...toBackend('ep_1') }));
  const [one, two] = [await dialAndEcho(t, port), await dialAndEcho(t, port, { from: '127.0.0.2' })];
  await gateway.set(policy('ipp_1', '127.0.0.2/32'));
  await one.isReset();
  await dial(t, port).isReset();
  two.socket.write('!');
  await two.receives('hello!');
  await gateway.set(restriction('rst_1', ['ipp_2']));
  two.socket.write('!');
  await two.receives('hello!!');
  await gateway.set(policy('ipp_2', '10.0.0.0/8'));
  await two.isReset();
  await until(() => agents.dialer.load(agent.tunnel) === 0, 'their streams are closed');
});

test('with the PROXY protocol the connection starts with its client', async (t) => {
  const { port, upstream, gateway, agent } = await start(t, silent);
  await gateway.set(tunnelBackend('ep_1', [agent], { proxyProtocol: 1 }));
  const client = dial(t, port, { from: '127.0.0.9' });
  client.socket.end('hello');
  await until(() => upstream.peers[0]?.ended === true, 'it has arrived');
  const line = `PROXY TCP4 127.0.0.9 127.0.0.1 ${client.socket.localPort} ${port}\r\n`;
  assert.equal(upstream.peers[0]?.text, `${line}hello`);
});

test('connections through agents are counted in the bounds of their backend', async (t) => {
  const { port, gateway } = await start(t, undefined, [], { bounds: { backendConnections: 1 } });
  const first = await dialAndEcho(t, port);
  await dial(t, port).isReset();
  first.socket.end();
  await until(() => gateway.tcpClosed.some(({ reason }) => reason === 'client'), 'the first has ended');
  await dialAndEcho(t, port);
});

test('an endpoint refuses by CIDRs of its own', async (t) => {
  const { port, gateway } = await start(t);
  const own = { cidr_restriction: { enabled: true, allow: ['127.0.0.2/32'], deny: [] } };
  await gateway.set(tcpEdge('ep_1', [port], { ...toBackend('ep_1'), ...own }));
  await dialAndEcho(t, port, { from: '127.0.0.2' });
  await dial(t, port).isReset();
  assert.deepEqual(gateway.verdicts, ['allowed', 'refused_by_module']);
});

test('an endpoint of TCP that is said to be none of TLS keeps its connections', async (t) => {
  const { port, gateway } = await start(t);
  const client = await dialAndEcho(t, port);
  await gateway.remove({ kind: 'tls_endpoint', id: 'ep_1' });
  client.socket.write('more');
  await until(() => client.text.endsWith('more') || client.broken !== undefined, 'an echo');
  assert.equal(client.broken, undefined);
  await gateway.remove({ kind: 'tcp_edge', id: 'ep_1' });
  await client.isReset();
});
