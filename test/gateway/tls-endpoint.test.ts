import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import type { ModuleSettings, SnapshotEntry, TlsEndpointEntry } from '../../src/snapshot/contract.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { makeCertificate } from './support/https-certificate.ts';
import { get, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  restriction,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { portOf, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** The certificate of the program behind the agent, which the gateway does not have. */
const own = makeCertificate('DNS:tls.test', 'DNS:*.wild.test');

function endpoint(names: readonly string[], modules: ModuleSettings = {}): TlsEndpointEntry {
  return { kind: 'tls_endpoint', id: 'ep_1', accountId: 'acc_1', names, modules: { ...toBackend('ep_1'), ...modules } };
}

async function start(t: TestContext, entries: readonly SnapshotEntry[], settings: GatewaySettings = {}) {
  const server = createServer({ cert: own.certificate, key: own.key, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).on('data', (chunk: Buffer) => socket.write(chunk));
    socket.on('end', () => socket.end('.'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const upstream = await startUpstream();
  const agents = await startAgents(t);
  const agent = await agents.start(portOf(server));
  const gateway = await startGateway(
    [
      tunnelBackend('ep_1', [agent]),
      backendEntry('b', upstream.port),
      edgeEntry('e', ['app.test', 'exact.wild.test'], [prefixRoute('/', toBackend('b'))]),
      allowPolicy('own', '127.0.0.0/8'),
      ...entries,
    ],
    { dialer: agents.dialer, ...settings },
  );
  t.after(async () => {
    await gateway.drain(0);
    server.close();
    await upstream[Symbol.asyncDispose]();
  });
  return { gateway, agents, agent };
}

/** Visits with a client that trusts the program's certificate alone. */
function visit(t: TestContext, port: number, servername: string): TLSSocket {
  const socket = connectTls({ port, host: '127.0.0.1', servername, ca: own.certificate });
  t.after(() => socket.destroy());
  return socket.on('error', () => {});
}

/** `once` would fail with the error that comes before. */
function closeOf(socket: TLSSocket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => {
      resolve();
    });
  });
}

async function isRefused(t: TestContext, port: number, servername: string): Promise<void> {
  const socket = visit(t, port, servername);
  await closeOf(socket);
  assert.equal(socket.authorized, false);
}

test('a TLS connection is passed on undecrypted by its server name, beside those that end here', async (t) => {
  const { gateway, agent } = await start(t, [endpoint(['tls.test'])]);
  const client = visit(t, gateway.port, 'tls.test');
  client.write('hello');
  // The event `data` of a stream without an encoding has this argument.
  const [echoed] = (await once(client, 'data')) as [Buffer];
  assert.equal(echoed.toString(), 'hello');
  assert.equal(client.authorized, true, 'the certificate is that of the program');
  const [visitor = assert.fail()] = agent.visitors;
  assert.deepEqual(
    [visitor.clientAddr, visitor.proto, visitor.passthroughTls],
    [`127.0.0.1:${client.localPort}`, 'tls', true],
  );
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.equal((await sendRaw(gateway.port, get('/', 'Host: none.test'), { servername: 'none.test' })).status, 404);
});

test('20 MB go through a TLS endpoint and back, with an end of each direction', async (t) => {
  const { gateway } = await start(t, [endpoint(['tls.test'])]);
  const payload = randomBytes(20 * 1024 * 1024);
  const client = visit(t, gateway.port, 'tls.test');
  const received = createHash('sha256');
  client.on('data', (chunk: Buffer) => received.update(chunk));
  client.end(payload);
  await once(client, 'end');
  assert.equal(received.digest('hex'), createHash('sha256').update(payload).update('.').digest('hex'));
});

test('a name of the endpoint goes before a wildcard of an edge, and an exact edge before its wildcard', async (t) => {
  const { gateway, agent } = await start(t, [endpoint(['*.wild.test', 'tls.test'])]);
  const client = visit(t, gateway.port, 'a.wild.test');
  await once(client, 'secureConnect');
  assert.equal(client.authorized, true);
  const { status } = await sendRaw(gateway.port, get('/', 'Host: exact.wild.test'), { servername: 'exact.wild.test' });
  assert.equal(status, 200);
  assert.equal(agent.visitors.length, 1);
});

test('a hello in single bytes is read all the same, and one that never ends is closed in time', async (t) => {
  const { gateway } = await start(t, [endpoint(['tls.test'])], { timeouts: { headersMs: 10_000 } });
  const silent = connect(gateway.port, '127.0.0.1');
  silent.write(Buffer.from([22, 3, 1, 1, 0, 1, 0]));
  const closed = once(silent.resume(), 'close');
  const below = connect({ port: gateway.port, host: '127.0.0.1', noDelay: true });
  await once(below, 'connect');
  const write = below.write.bind(below);
  let isFirst = true;
  // Sends the first message byte by byte.
  below.write = (chunk: Buffer | string, ...rest: never[]) => {
    if (!isFirst || typeof chunk === 'string') return write(chunk, ...rest);
    isFirst = false;
    for (let at = 0; at < chunk.length - 1; at++) write(chunk.subarray(at, at + 1));
    return write(chunk.subarray(-1), ...rest);
  };
  const client = connectTls({ socket: below, servername: 'tls.test', ca: own.certificate });
  await once(client, 'secureConnect');
  client.destroy();
  await closed;
});

test('restrictions and the rules of the endpoint decide, also on open connections', async (t) => {
  const rules = [endpoint(['tls.test'], ipRestriction('own')), allowPolicy('all', '127.0.0.0/8')];
  const { gateway } = await start(t, rules);
  const narrowings = [
    () => gateway.set(allowPolicy('own', '10.0.0.0/8')),
    () => gateway.set(restriction('rst', true, 'none')),
    () => gateway.remove({ kind: 'tls_endpoint', id: 'ep_1' }),
    () => gateway.set(endpoint(['other.test'], ipRestriction('own'))),
  ];
  for (const [index, narrow] of narrowings.entries()) {
    await gateway.set(...rules, allowPolicy('own', '127.0.0.0/8'));
    await gateway.remove({ kind: 'restriction', id: 'rst' });
    const client = visit(t, gateway.port, 'tls.test');
    await once(client, 'secureConnect');
    const closed = closeOf(client);
    await narrow();
    await closed;
    await isRefused(t, gateway.port, 'tls.test');
    assert.equal(gateway.tcpClosed.length, index + 1);
  }
  assert.deepEqual(
    gateway.tcpClosed.map(({ reason }) => reason),
    ['rules changed', 'rules changed', 'edge removed', 'edge changed'],
  );
  assert.deepEqual(
    gateway.verdicts.filter((verdict) => verdict !== 'allowed'),
    ['refused_by_module', 'refused_by_restriction'],
  );
});

test('an endpoint with a module that is not known is closed, and keeps its name', async (t) => {
  const { gateway } = await start(t, [endpoint(['app.test'], { novel: { enabled: true } })]);
  await isRefused(t, gateway.port, 'app.test');
  assert.deepEqual(gateway.verdicts, ['refused_unloadable']);
  assert.match(gateway.setAside.get('tls_endpoint ep_1') ?? '', /unknown module "novel"/);
});

test('two endpoints of one update that claim a name are both closed, and a later one goes without it', async (t) => {
  const { gateway } = await start(t, [endpoint(['tls.test'])]);
  await gateway.set({ ...endpoint(['tls.test', 'more.test'], toBackend('nothing')), id: 'ep_2' });
  assert.match(gateway.setAside.get('tls_endpoint ep_2') ?? '', /another TLS endpoint holds name tls\.test/);
  await once(visit(t, gateway.port, 'tls.test'), 'secureConnect');
  await gateway.set(endpoint(['tls.test']), { ...endpoint(['tls.test']), id: 'ep_2' });
  await until(() => gateway.setAside.size === 2, 'both are set aside');
  await isRefused(t, gateway.port, 'tls.test');
});
