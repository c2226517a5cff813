import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { SecureVersion, TLSSocket } from 'node:tls';

import { mutualTls } from '../../src/modules/mutual-tls/index.ts';
import { checkShownCertificate } from '../../src/modules/shown-certificate.ts';
import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import type { ClientPair } from '../support/client-certificates.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { get, parseAnswer, readAll, requestHttp2 } from './support/https-client.ts';
import type { RawAnswer } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { portOf, startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const own = new ClientAuthority('own');
const foreign = new ClientAuthority('foreign');
const ada = own.sign('ada');
const stranger = foreign.sign('stranger');
const late = own.sign('late', { days: -1 });
const server = own.sign('server', { usage: 'serverAuth' });

function edge(name: string, modules: ModuleSettings = {}, id = name) {
  return edgeEntry(id, [name], [prefixRoute('/', { ...toBackend('b'), ...modules })]);
}

function asking(...authorities: readonly ClientAuthority[]): ModuleSettings {
  return { mutual_tls: mutualTls.accept({ ca_pem: authorities.map(({ pem }) => pem).join('') }) };
}

interface Visit {
  readonly servername?: string;
  readonly version?: SecureVersion;
  readonly pair?: ClientPair;
  readonly session?: Buffer;
}

function open(port: number, { servername = 'app.test', version = 'TLSv1.3', pair, session }: Visit): TLSSocket {
  return connectTls({
    port,
    host: '127.0.0.1',
    servername,
    ca: edgeCertificate.certificate,
    minVersion: version,
    maxVersion: version,
    ALPNProtocols: ['http/1.1'],
    ...pair,
    ...(session && { session }),
  }).on('error', () => {});
}

async function visit(port: number, options: Visit = {}, path = '/'): Promise<RawAnswer> {
  const socket = open(port, options);
  socket.write(get(path, `Host: ${options.servername ?? 'app.test'}`));
  return parseAnswer(await readAll(socket));
}

function outcome({ status, headers }: RawAnswer) {
  return [status, headers['gatehouse-error-code']];
}

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`by ${version}, a host that asks for a certificate serves those who show one of its authority`, async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
    const by = (pair?: ClientPair) => visit(gateway.port, { version, ...(pair && { pair }) });
    assert.deepEqual(outcome(await by(ada)), [200, undefined]);
    assert.deepEqual(outcome(await by()), [403, 'ERR_GATEHOUSE_20181']);
    assert.deepEqual(outcome(await by(stranger)), [403, 'ERR_GATEHOUSE_20182']);
    const expired = await by(late);
    assert.deepEqual(outcome(expired), [403, 'ERR_GATEHOUSE_20182']);
    assert.match(expired.body, /certificate .*late.* is not accepted here: CERT_HAS_EXPIRED/);
    assert.deepEqual(outcome(await by(server)), [403, 'ERR_GATEHOUSE_20182']);
    assert.equal(upstream.seen.length, 1, 'nobody else reaches the upstream');
  });
}

test('HTTP/2 asks for it too', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
  for (const [pair, status] of [
    [ada, 200],
    [stranger, 403],
    [undefined, 403],
  ] as const) {
    const options = { servername: 'app.test', ca: edgeCertificate.certificate, ...pair };
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, options);
    assert.equal((await requestHttp2(session, { ':path': '/' })).status, status);
    session.destroy();
  }
});

test('only hosts that want a certificate ask for one', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edge('app.test', asking(own)),
    edge('other.test'),
  ]);
  assert.equal(await isAsked(gateway.port, 'app.test'), true);
  assert.equal(await isAsked(gateway.port, 'other.test'), false);
  assert.equal((await visit(gateway.port, { servername: 'other.test' })).status, 200);
});

/** Whether a client of TLS 1.2 is asked for a certificate, which it is in the clear. */
async function isAsked(port: number, servername: string): Promise<boolean> {
  let received = Buffer.alloc(0);
  const relay = createServer((near) => {
    const far = connect(port, '127.0.0.1').on('error', () => {});
    near.on('error', () => {}).pipe(far);
    far.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      near.write(chunk);
    });
    near.on('close', () => far.destroy());
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const socket = open(portOf(relay), { servername, version: 'TLSv1.2' });
  await once(socket, 'secureConnect');
  socket.destroy();
  relay.close();
  return handshakeTypes(received).includes(certificateRequest);
}

const certificateRequest = 13;

/** Types of the handshake messages before encryption starts. */
function handshakeTypes(bytes: Buffer): readonly number[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length && bytes[at] === 22; at += 5 + bytes.readUInt16BE(at + 3))
    parts.push(bytes.subarray(at + 5, at + 5 + bytes.readUInt16BE(at + 3)));
  const messages = Buffer.concat(parts);
  const types: number[] = [];
  for (let at = 0; at < messages.length; at += 4 + messages.readUIntBE(at + 1, 3)) types.push(messages[at] ?? 0);
  return types;
}

test('a session of one host is not resumed at another, nor at the same', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edge('app.test', asking(own)),
    edge('other.test', asking(foreign)),
    edge('open.wild.test'),
    edge('same.wild.test', asking(own)),
  ]);
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const from of ['app.test', 'open.wild.test']) {
      const socket = open(gateway.port, { servername: from, version, pair: ada });
      const sessions: Buffer[] = [];
      socket.on('session', (session) => sessions.push(session));
      socket.write(get('/', `Host: ${from}`));
      assert.equal(parseAnswer(await readAll(socket)).status, 200);
      for (const session of [...sessions, socket.getSession()]) {
        if (session === undefined) continue;
        for (const servername of ['other.test', 'app.test', 'same.wild.test']) {
          const again = open(gateway.port, { servername, version, session });
          again.write(get('/', `Host: ${servername}`));
          let isReused: boolean | undefined;
          again.on('secureConnect', () => (isReused = again.isSessionReused()));
          const { status } = parseAnswer(await readAll(again));
          assert.equal(isReused, false);
          assert.equal(status, 403, `${version}, from ${from} to ${servername}`);
        }
      }
    }
  }
});

test('a certificate of one host does not open another by the Host header', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edge('app.test', asking(own)),
    edge('other.test'),
  ]);
  const socket = open(gateway.port, { servername: 'other.test' });
  socket.write(get('/', 'Host: app.test'));
  assert.equal(parseAnswer(await readAll(socket)).status, 421);
  assert.equal(upstream.seen.length, 0);
});

test('a connection that is open is checked anew by what its host asks for now', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test')]);
  const request = 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n';
  const kept = open(gateway.port, { pair: ada });
  let text = '';
  kept.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  kept.write(request);
  await until(() => text.includes('HTTP/1.1 200'), 'an answer');
  await gateway.set(edge('app.test', asking(own)));
  kept.write(request);
  await until(() => kept.closed, 'the gateway closes it');
  assert.match(text, /HTTP\/1\.1 421 [^]*ERR_GATEHOUSE_20184[^]*\r\nConnection: close\r\n/);
  assert.equal((await visit(gateway.port, { pair: ada })).status, 200);
  const second = open(gateway.port, { pair: ada });
  await once(second, 'secureConnect');
  await gateway.set(edge('app.test', asking(foreign)));
  second.write(request);
  assert.equal(parseAnswer(await readAll(second)).status, 421);
  assert.equal((await visit(gateway.port, { pair: ada })).status, 403);
  assert.equal((await visit(gateway.port, { pair: stranger })).status, 200);
  await gateway.set(edge('app.test'));
  assert.equal((await visit(gateway.port)).status, 200);
});

test('an upgraded connection is closed when its certificate is not asked for any more', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
  const client = open(gateway.port, { pair: ada });
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  client.write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  await until(() => text.endsWith('up'), 'the upgrade');
  await gateway.set(edge('app.test', { ...asking(own), compression: { enabled: true } }));
  assert.equal(client.destroyed, false);
  await gateway.set(edge('app.test', asking(own, foreign)));
  await until(() => client.destroyed, 'it is closed');
});

for (const [what, more] of [
  ['an upgraded connection', 'Connection: Upgrade\r\nUpgrade: echo\r\n'],
  ['a stream of events', ''],
] as const) {
  test(`${what} is closed when the certificate of its client has expired, and not before`, async (t) => {
    await using upstream = await startRawUpstream((socket, text) => {
      const head = text.includes('Upgrade')
        ? '101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo'
        : '200 OK\r\nContent-Type: text/event-stream';
      socket.write(`HTTP/1.1 ${head}\r\n\r\nup`);
    });
    await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
    const endsAt = Date.parse(new X509Certificate(ada.cert).validTo);
    const clock = Date.now;
    const later = endsAt - clock() - 1_500;
    t.mock.method(Date, 'now', () => clock() + later);
    const client = open(gateway.port, { pair: ada });
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    client.write(`GET / HTTP/1.1\r\nHost: app.test\r\n${more}\r\n`);
    await until(() => text.includes('up'), 'it is open');
    assert.equal(client.destroyed, false);
    if (!client.closed) await once(client, 'close');
    assert.ok(Date.now() >= endsAt, 'its time was over');
  });
}

test('the access log says why a visitor was refused', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
  await visit(gateway.port, { pair: stranger });
  await visit(gateway.port);
  await until(() => gateway.answered.length === 2, 'both are logged');
  assert.deepEqual(
    gateway.answered.map(({ status, errorCode }) => [status, errorCode]),
    [
      [403, 20182],
      [403, 20181],
    ],
  );
  assert.match(gateway.reasons[0] ?? '', /"stranger" is not accepted here: [A-Z_]+\./);
});

test('a certificate that expires while its connection is open is refused from then on', () => {
  const shown = { ca: 'x', subject: 'ada', fault: undefined, facts: [], validUntilMs: 1000 };
  assert.equal(checkShownCertificate('x', shown, 999), undefined);
  assert.match(checkShownCertificate('x', shown, 1000)?.message ?? '', /CERT_HAS_EXPIRED/);
});

test(
  'a certificate whose dates are none is refused, and the next visitor is served',
  { timeout: 240_000 },
  async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(own))]);
    const der = Buffer.from(new X509Certificate(ada.cert).raw);
    // The last character of the later date is a Z.
    der[der.indexOf(Buffer.from([0x17, 0x0d])) + 29] = 0x21;
    const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    assert.equal((await visit(gateway.port, { pair: { cert, key: ada.key } })).status, 403);
    assert.equal((await visit(gateway.port, { pair: ada })).status, 200);
  },
);

test('an authority that is itself signed by another is enough', async () => {
  await using upstream = await startUpstream();
  const below = own.authority('below');
  await using gateway = await startGateway([backendEntry('b', upstream.port), edge('app.test', asking(below))]);
  assert.equal((await visit(gateway.port, { pair: below.sign('bob') })).status, 200);
  assert.equal((await visit(gateway.port, { pair: ada })).status, 403);
});

test('what is no certificate of an authority is refused', () => {
  const behind = [ada.cert, ada.key, '-----BEGIN X'].map((other) => `${own.pem}${other}`);
  for (const pem of ['', 'text', ada.cert, ada.key, ...behind, own.pem.repeat(17)]) {
    assert.throws(() => mutualTls.accept({ ca_pem: pem }), { code: 20183 });
  }
});
