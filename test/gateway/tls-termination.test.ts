import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { mock, test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

import { mutualTls } from '../../src/modules/mutual-tls/index.ts';
import type { SnapshotEntry, TlsEndpointEntry } from '../../src/snapshot/contract.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { edgeCertificate, makeCertificate } from './support/https-certificate.ts';
import { allowPolicy, ipRestriction, restriction, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { portOf } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** The certificate that the agent has sent. */
const sent = makeCertificate('DNS:tls.test');
const pair = { certificatePem: sent.certificate, privateKeyPem: sent.key };
const own = new ClientAuthority('own');
const foreign = new ClientAuthority('foreign');

function endpoint(over: Partial<TlsEndpointEntry> = {}): TlsEndpointEntry {
  const { modules = {}, ...rest } = over;
  const common = { id: 'ep_1', accountId: 'acc_1', modules: { ...toBackend('ep_1'), ...modules } };
  return { kind: 'tls_endpoint', names: ['tls.test'], termination: { pair }, ...rest, ...common };
}

function asking(authority: ClientAuthority): Partial<TlsEndpointEntry> {
  return { modules: { mutual_tls: mutualTls.accept({ ca_pem: authority.pem }) } };
}

/** A gateway with an agent, whose program sends back what it gets in the clear. */
async function start(t: TestContext, entries: readonly SnapshotEntry[], settings: GatewaySettings = {}) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {}).on('data', (chunk) => socket.write(chunk));
    socket.on('end', () => socket.end('.'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agents = await startAgents(t);
  const startAgent = () => agents.start(portOf(server));
  const agent = await startAgent();
  const known = [tunnelBackend('ep_1', [agent]), allowPolicy('others', '192.0.2.0/24')];
  const gateway = await startGateway([...known, ...entries], { dialer: agents.dialer, ...settings });
  t.after(async () => {
    await gateway.drain(0);
    server.close();
  });
  return { gateway, agent, startAgent };
}

function visit(t: TestContext, port: number, options: ConnectionOptions = {}): TLSSocket {
  const raw = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const socket = connectTls({ socket: raw, servername: 'tls.test', ca: sent.certificate, ...options });
  t.after(() => socket.destroy());
  return socket.on('error', () => {});
}

/** All that comes back until the end. */
async function say(socket: TLSSocket, text: string): Promise<string> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  socket.end(text);
  if (!socket.closed) await new Promise((resolve) => socket.on('close', resolve));
  return received;
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`by ${version}, a visitor who comes again resumes the session`, async (t) => {
    const { gateway } = await start(t, [endpoint()]);
    const versions = { minVersion: version, maxVersion: version };
    const first = visit(t, gateway.port, versions);
    let session: Buffer | undefined;
    first.on('session', (each) => (session = each));
    assert.equal(await say(first, 'one'), 'one.');
    assert.ok(session);
    const again = visit(t, gateway.port, { ...versions, session });
    let isResumed = false;
    again.on('secureConnect', () => (isResumed = again.isSessionReused()));
    assert.equal(await say(again, 'two'), 'two.');
    assert.equal(isResumed, true);
  });
}

test('TLS ends at the gateway with the certificate that was sent, and the agent gets the bytes in the clear', async (t) => {
  const { gateway, agent } = await start(t, [endpoint()]);
  const client = visit(t, gateway.port);
  assert.equal(await say(client, 'hello'), 'hello.');
  assert.equal(client.authorized, true, 'it is the certificate that was sent');
  const [visitor = assert.fail()] = agent.visitors;
  assert.deepEqual([visitor.proto, visitor.passthroughTls], ['tls', false]);
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
  assert.deepEqual(gateway.verdicts, ['allowed']);
});

test('without a pair TLS ends with a certificate of the gateway', async (t) => {
  const { gateway } = await start(t, [endpoint({ names: ['app.test'], termination: {} })]);
  const client = visit(t, gateway.port, { servername: 'app.test', ca: edgeCertificate.certificate });
  assert.equal(await say(client, 'hello'), 'hello.');
  assert.deepEqual(gateway.asked, [{ accountId: 'acc_1', servername: 'app.test' }]);
});

test('20 MB go through and back, with an end of each direction', async (t) => {
  const { gateway } = await start(t, [endpoint()]);
  const payload = randomBytes(20 * 1024 * 1024);
  const client = visit(t, gateway.port);
  const received = createHash('sha256');
  client.on('data', (chunk: Buffer) => received.update(chunk));
  client.end(payload);
  await once(client, 'end');
  assert.equal(received.digest('hex'), createHash('sha256').update(payload).update('.').digest('hex'));
});

test('an address that is refused gets no handshake', async (t) => {
  const { gateway, agent } = await start(t, [endpoint({ modules: ipRestriction('others') })]);
  const client = visit(t, gateway.port);
  await new Promise((resolve) => client.on('close', resolve));
  assert.deepEqual(client.getPeerCertificate() ?? {}, {});
  assert.deepEqual(gateway.verdicts, ['refused_by_module']);
  assert.equal(agent.visitors.length, 0);
});

test('a client that does not go on with its handshake is closed in time', async (t) => {
  const { gateway, agent } = await start(t, [endpoint()], { timeouts: { headersMs: 200 } });
  const raw = connect(gateway.port, '127.0.0.1');
  const closed = new Promise((resolve) => raw.on('close', resolve));
  const hello = connectTls({ socket: raw, servername: 'tls.test' }).on('error', () => {});
  // The certificate of the gateway is refused: the handshake stays half done on its side.
  hello.on('secureConnect', () => assert.fail('the certificate is not trusted'));
  await closed;
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
  assert.equal(gateway.tcpClosed[0]?.reason, 'handshake failed');
  assert.equal(agent.visitors.length, 0);
});

test('a visitor is served by the agents of the end of the handshake, not by those of its beginning', async (t) => {
  const { gateway, agent, startAgent } = await start(t, [endpoint()]);
  const later = await startAgent();
  const raw = connect(gateway.port, '127.0.0.1').on('error', () => {});
  t.after(() => raw.destroy());
  const answers = new PassThrough();
  const wire = Duplex.from({ readable: answers, writable: raw });
  const client = connectTls({ socket: wire, servername: 'tls.test', ca: sent.certificate }).on('error', () => {});
  // The gateway has chosen the endpoint, and cannot end the handshake without the visitor.
  await once(raw, 'readable');
  await gateway.set(tunnelBackend('ep_1', [later]));
  raw.pipe(answers);
  client.write('hello');
  await once(client, 'data');
  assert.deepEqual([agent.visitors.length, later.visitors.length], [0, 1]);
});

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`by ${version}, visitors must show a certificate where one is asked for`, async (t) => {
    const { gateway, agent } = await start(t, [endpoint(asking(own))]);
    const by = (options: ConnectionOptions) =>
      say(visit(t, gateway.port, { minVersion: version, maxVersion: version, ...options }), 'hello');
    assert.equal(await by(own.sign('ada')), 'hello.');
    assert.equal(await by({}), '');
    assert.equal(await by(foreign.sign('eve')), '');
    assert.equal(await by(own.sign('late', { days: -1 })), '');
    assert.equal(agent.visitors.length, 1, 'no other reaches the agent');
    await until(() => gateway.verdicts.length === 4, 'all are told');
    await until(() => gateway.tcpClosed.length === 1, 'one has passed');
    const refused = 'refused_by_certificate';
    assert.deepEqual(gateway.verdicts, ['allowed', refused, refused, refused]);
    const [, none, foreigner = '', late] = gateway.tcpReasons;
    assert.deepEqual(
      [none, late],
      ['the client showed no certificate', 'the client certificate "late" is refused: CERT_HAS_EXPIRED'],
    );
    assert.match(foreigner, /^the client certificate "eve" is refused: UNABLE_TO_\w+$/);
  });
}

test('an open connection is closed when certificates of another authority are asked for', async (t) => {
  const { gateway } = await start(t, [endpoint(asking(own))]);
  const client = visit(t, gateway.port, own.sign('ada'));
  client.write('hello');
  await once(client, 'data');
  await gateway.set(endpoint(asking(own)));
  client.write('again');
  await once(client, 'data');
  await gateway.set(endpoint(asking(foreign)));
  await until(() => client.readableEnded || client.closed, 'it is closed');
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
  assert.equal(gateway.tcpClosed[0]?.reason, 'rules changed');
});

const networks = [
  ['the endpoint', [endpoint({ modules: ipRestriction('office') })]],
  ['a restriction of the account', [endpoint(), restriction('ipx_1', true, 'office')]],
] as const;
for (const [what, entries] of networks) {
  test(`an open connection is closed when a rule of ${what} no longer lets its network in`, async (t) => {
    const { gateway } = await start(t, [allowPolicy('office', '127.0.0.0/8'), ...entries]);
    const client = visit(t, gateway.port);
    client.write('hello');
    await once(client, 'data');
    await gateway.set(allowPolicy('office', '127.0.0.1/32'));
    client.write('again');
    await once(client, 'data');
    await gateway.set(allowPolicy('office', '192.0.2.0/24'));
    await until(() => client.readableEnded || client.closed, 'it is closed');
    await until(() => gateway.tcpClosed.length === 1, 'it is logged');
    assert.equal(gateway.tcpClosed[0]?.reason, 'rules changed');
  });
}

test('an open connection is closed when the certificate of its client has expired', async (t) => {
  const { gateway } = await start(t, [endpoint(asking(own))]);
  const client = visit(t, gateway.port, own.sign('ada', { days: 1 }));
  client.write('hello');
  await once(client, 'data');
  const now = Date.now();
  mock.method(Date, 'now', () => now + 86_400_000);
  t.after(() => mock.restoreAll());
  await until(() => client.readableEnded || client.closed, 'it is closed');
  await until(() => gateway.tcpClosed.length === 1, 'it is logged');
  assert.equal(gateway.tcpClosed[0]?.reason, 'rules changed');
});

test('an endpoint whose pair cannot be used is closed', async (t) => {
  const broken = endpoint({ termination: { pair: { ...pair, privateKeyPem: 'not a key' } } });
  const { gateway, agent } = await start(t, [broken]);
  assert.equal(await say(visit(t, gateway.port), 'hello'), '');
  assert.equal(gateway.setAside.has('tls_endpoint ep_1'), true);
  await gateway.set(endpoint({ fault: 'its private key cannot be used' }));
  assert.equal(await say(visit(t, gateway.port), 'hello'), '');
  const { termination: _, ...passed } = endpoint(asking(own));
  await gateway.set(passed);
  assert.equal(await say(visit(t, gateway.port), 'hello'), '', 'a certificate that cannot be asked for');
  assert.equal(agent.visitors.length, 0);
});
