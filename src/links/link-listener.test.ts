import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect, createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

import { openLocalCa } from '../gateway/certificates/local-ca.ts';
import type { IssuedLeaf, LocalCa } from '../gateway/certificates/local-ca.ts';
import type { CertificatePair } from '../snapshot/local-ca.ts';
import { LinkListener } from './link-listener.ts';
import type { LinkListenerOptions } from './link-listener.ts';
import { LinkPool } from './link-pool.ts';
import type { LinkPoolOptions } from './link-pool.ts';
import { connectLink, linkName, linkProtocol } from './link-tls.ts';
import { openDuplex } from './link.ts';
import { StreamRefused } from './stream-request.ts';
import { linkCredentials } from '../start/agents/link-credentials.ts';
import { until } from '../../test/e2e/gateway/support/until.ts';
import { request } from '../../test/support/linked.ts';

const holder = 'proc_holder';
const heartbeat = { intervalMs: 10_000, silenceMs: 25_000 };
const log = { info: () => {}, warn: () => {}, error: () => {} };

/** Refuses every stream as full: whoever gets that answer has spoken to the listener. */
async function startListener(
  t: TestContext,
  more: Partial<LinkListenerOptions> & { readonly ca?: LocalCa } = {},
): Promise<{ readonly listener: LinkListener; readonly ca: LocalCa; readonly refusals: () => number }> {
  const { ca = await newCa(), ...options } = more;
  let refusals = 0;
  const listener = await LinkListener.open({
    listen: { host: '127.0.0.1', port: 0 },
    credentials: linkCredentials(ca, holder),
    open: () => Promise.reject(new StreamRefused('full', 'no room')),
    handshakeMs: 20_000,
    maxPending: 100,
    maxUnreadBytes: 2 ** 20,
    heartbeat,
    overrun: () => {},
    refused: () => refusals++,
    log,
    ...options,
  });
  t.after(() => {
    listener.close();
  });
  return { listener, ca, refusals: () => refusals };
}

async function newCa(save = async (pair: CertificatePair) => pair): Promise<LocalCa> {
  return openLocalCa({ load: async () => undefined, save });
}

function startPool(t: TestContext, ca: LocalCa, port: number, more: Partial<LinkPoolOptions> = {}): LinkPool {
  const credentials = linkCredentials(ca, 'proc_visitor');
  const pool = new LinkPool({
    directory: { addressesOf: () => [{ host: '127.0.0.1', port }] },
    connect: (address, processId, signal) => connectLink(address, processId, credentials, signal),
    dialMs: 10_000,
    idleMs: 60_000,
    maxUnreadBytes: 2 ** 20,
    heartbeat,
    overrun: () => {},
    log,
    ...more,
  });
  t.after(() => {
    pool[Symbol.dispose]();
  });
  return pool;
}

/** Dials through the pool, and returns why that failed. */
async function refusal(pool: LinkPool, to = holder): Promise<string> {
  const dialled = openDuplex((asked, user) => pool.open(asked, user), { ...request, holder: to }, {});
  return dialled.then(
    () => 'none',
    (error: unknown) => (error instanceof StreamRefused ? `${error.reason}: ${error.message}` : String(error)),
  );
}

/** Offers a link as a foreign program would. Returns what it can read of the listener after a request for a stream. */
async function speak(port: number, options: ConnectionOptions): Promise<string> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    servername: 'link.gatehouse.invalid',
    rejectUnauthorized: false,
    ALPNProtocols: [linkProtocol],
    ...options,
  });
  let heard = 0;
  socket.on('data', ({ length }) => (heard += length));
  const fault = once(socket, 'error').then(([error]) => String(error.code));
  socket.on('secureConnect', () => socket.write(Buffer.alloc(64)));
  const ended = once(socket, 'close').then(() => 'closed');
  const end = await Promise.race([fault, ended]);
  return heard === 0 ? end : `heard ${heard} bytes`;
}

function asOptions({ certificatePem, privateKeyPem }: IssuedLeaf): ConnectionOptions {
  return { secureContext: createSecureContext({ cert: certificatePem, key: privateKeyPem }) };
}

test('two processes of one installation speak, over one link that is kept', async (t) => {
  const { listener, ca, refusals } = await startListener(t);
  const pool = startPool(t, ca, listener.port);
  const answers = await Promise.all(Array.from({ length: 20 }, () => refusal(pool)));
  for (const answer of answers) assert.match(answer, /^full/);
  assert.equal(listener.size, 1);
  assert.equal(pool.size, 1);
  assert.equal(refusals(), 0);
});

test('nobody else does: no certificate, one of an edge, of an agent, of another CA, or for another purpose', async (t) => {
  const { listener, ca, refusals } = await startListener(t);
  const now = new Date();
  const foreign = await newCa();
  const clients: Readonly<Record<string, ConnectionOptions>> = {
    'no certificate': {},
    'one for a name': asOptions(await ca.issue('link.gatehouse.invalid', now)),
    'one for an address': asOptions(await ca.issue('127.0.0.1', now)),
    'one for another purpose': asOptions(await ca.issueForPeer('urn:gatehouse:other:proc_visitor', now)),
    'one of another installation': asOptions(await foreign.issueForPeer(linkName('proc_visitor'), now)),
    'no server name': { servername: '', ...asOptions(await ca.issueForPeer(linkName('proc_visitor'), now)) },
  };
  let refused = 0;
  for (const [what, options] of Object.entries(clients)) {
    const end = await speak(listener.port, options);
    assert.doesNotMatch(end, /^heard/, what);
    refused++;
    await until(() => refusals() === refused, `${what} is counted`);
  }
  assert.equal(listener.size, 0);
  // The same client with the right certificate is heard, so that the others were refused for theirs.
  const right = asOptions(await ca.issueForPeer(linkName('proc_visitor'), now));
  assert.match(await speak(listener.port, right), /^heard/);
});

test('a certificate with a further name is not one for links', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-links-'));
  t.after(() => {
    rmSync(folder, { recursive: true });
  });
  const inFolder = (name: string) => join(folder, name);
  const ca = await newCa(async (pair) => {
    writeFileSync(inFolder('ca.pem'), pair.certificatePem);
    writeFileSync(inFolder('ca.key'), pair.privateKeyPem);
    return pair;
  });
  const { listener } = await startListener(t, { ca });
  const speakAs = (names: string) => {
    const args = `req -x509 -days 1 -subj /CN=x -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -CA ca.pem -CAkey ca.key -keyout leaf.key -out leaf.pem -addext extendedKeyUsage=clientAuth -addext subjectAltName=${names}`;
    execFileSync('openssl', args.split(' '), { cwd: folder, stdio: 'pipe' });
    const [cert, key] = [readFileSync(inFolder('leaf.pem')), readFileSync(inFolder('leaf.key'))];
    return speak(listener.port, { secureContext: createSecureContext({ cert, key }) });
  };
  const uri = `URI:${linkName('proc_visitor')}`;
  assert.match(await speakAs(uri), /^heard/);
  for (const names of [`${uri},DNS:x.test`, `DNS:x.test,${uri}`, `${uri},${uri}2`])
    assert.doesNotMatch(await speakAs(names), /^heard/, names);
});

test('a process that another installation, another process or a foreign server answers for is unreachable', async (t) => {
  const { listener, ca } = await startListener(t);
  const pool = startPool(t, ca, listener.port);
  assert.match(await refusal(pool, 'proc_other'), /^unreachable: .*it is not the process proc_other/);
  const foreign = startPool(t, await newCa(), listener.port);
  assert.match(await refusal(foreign), /^unreachable/);
  assert.match(await refusal(pool), /^full/);
});

test('a process that nobody answers for, or that hangs, is unreachable within the limit', async (t) => {
  const { listener, ca } = await startListener(t);
  const silent = await silentPort(t);
  const pool = startPool(t, ca, silent, { dialMs: 100 });
  assert.match(await refusal(pool), /^unreachable: no link to 127\.0\.0\.1 port \d+: it did not answer in time/);
  const closed = startPool(t, ca, listener.port);
  listener.close();
  assert.match(await refusal(closed), /^unreachable: .*ECONNREFUSED/);
});

test('one address of several is enough, and those that lead elsewhere do no harm', async (t) => {
  const { listener, ca } = await startListener(t);
  const other = await startListener(t, { credentials: linkCredentials(ca, 'proc_other') });
  const ports = [await silentPort(t), other.listener.port, listener.port];
  const addressesOf = (): { host: string; port: number }[] => ports.map((port) => ({ host: '127.0.0.1', port }));
  const pool = startPool(t, ca, 0, { directory: { addressesOf } });
  assert.match(await refusal(pool), /^full/);
  assert.equal(listener.size, 1);
});

test('a process without an address is unreachable with a remedy, and one that is not known is gone', async (t) => {
  const ca = await newCa();
  const unreachable = startPool(t, ca, 0, { directory: { addressesOf: () => [] } });
  assert.match(await refusal(unreachable), /^unreachable: .*GATEHOUSE_LINK_LISTEN/);
  const gone = startPool(t, ca, 0, { directory: { addressesOf: () => undefined } });
  assert.match(await refusal(gone), /^gone/);
});

test('a link closes when it is idle, and when its process is gone; the next visitor opens another', async (t) => {
  const { listener, ca } = await startListener(t);
  const pool = startPool(t, ca, listener.port, { idleMs: 100 });
  await refusal(pool);
  await until(() => pool.size === 0 && listener.size === 0, 'idle');
  const kept = startPool(t, ca, listener.port);
  await refusal(kept);
  assert.equal(kept.size, 1);
  kept.forget(holder);
  await until(() => kept.size === 0 && listener.size === 0, 'forgotten');
  assert.match(await refusal(kept), /^full/);
});

test('connections that do not complete their handshake are bounded in number and time', async (t) => {
  const { listener, ca } = await startListener(t, { maxPending: 2, handshakeMs: 3000 });
  const silent = [connectTcp(listener.port, '127.0.0.1'), connectTcp(listener.port, '127.0.0.1')];
  const ends = silent.map((socket) => once(socket, 'close'));
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const third = connectTcp(listener.port, '127.0.0.1').on('error', () => {});
  await once(third, 'close');
  assert.deepEqual(
    silent.map(({ destroyed }) => destroyed),
    [false, false],
  );
  await Promise.all(ends);
  const pool = startPool(t, ca, listener.port);
  assert.match(await refusal(pool), /^full/);
});

test('a handshake with more certificates than anybody needs is ended, on both sides', async (t) => {
  const { listener, ca, refusals } = await startListener(t);
  const { certificatePem, privateKeyPem } = await ca.issueForPeer(linkName(holder), new Date());
  const contextOf = (further: number) =>
    createSecureContext({
      cert: certificatePem + ca.caCertificatePem.repeat(further),
      key: privateKeyPem,
      ca: ca.caCertificatePem,
    });
  assert.match(await speak(listener.port, { secureContext: contextOf(2) }), /^heard/);
  assert.doesNotMatch(await speak(listener.port, { secureContext: contextOf(60) }), /^heard/);
  await until(() => refusals() === 1, 'the long one is counted');
  for (const [further, answer] of [
    [2, /^full/],
    [60, /^unreachable: .*the handshake takes more than 16384 bytes/],
  ] as const) {
    const shown = await startListener(t, { ca, credentials: async () => contextOf(further) });
    assert.match(await refusal(startPool(t, ca, shown.listener.port)), answer);
  }
});

/** A port that accepts and never answers. */
async function silentPort(t: TestContext): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}
