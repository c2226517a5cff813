import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { before as beforeAll, test } from 'node:test';
import { connect, createServer } from 'node:tls';
import type { SecureContext } from 'node:tls';

import type { CertificateEntry, HttpsEdgeEntry, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { createCertificateSource } from './create-certificate-source.ts';
import { openLocalCa } from './local-ca.ts';
import type { LocalCa } from './local-ca.ts';

const dayMs = 86_400_000;
const silent = { info() {}, warn() {}, error() {} };
const memory = { load: async () => undefined, save: async <Pair>(pair: Pair) => pair };
let ca: LocalCa;
/** Signs what teams upload: another authority than the gateway's own. */
let publicCa: LocalCa;
beforeAll(async () => {
  ca = await openLocalCa(memory);
  publicCa = await openLocalCa(memory);
});

function open(localCa: LocalCa = ca, now?: () => number): CertificateSource {
  return createCertificateSource({ localCa, log: silent, ...(now && { now }) });
}

/** Returns the ids of the entries that were set aside. */
async function apply(source: CertificateSource, change: Partial<SnapshotUpdate>): Promise<readonly string[]> {
  const setAside: string[] = [];
  const update = { version: 1, full: false, set: [], removed: [], ...change };
  const swap = await source.prepare(update, ({ id }) => setAside.push(id));
  swap();
  return setAside;
}

/** A certificate that was issued `ageDays` ago for 397 days. */
async function upload(id: string, accountId: string, name: string, ageDays = 0): Promise<CertificateEntry> {
  const issued = await publicCa.issue(name, new Date(Date.now() - ageDays * dayMs));
  return { kind: 'certificate', id, accountId, names: [name], ...issued };
}

function edge(id: string, accountId: string, ...hostports: readonly string[]): HttpsEdgeEntry {
  return { kind: 'https_edge', id, accountId, hostports, routes: [] };
}

/** The certificate that a client is shown, by a real handshake. */
async function shown(
  source: CertificateSource,
  accountId: string | undefined,
  servername: string,
): Promise<X509Certificate> {
  const answer = async (name: string, done: (error: Error | null, context?: SecureContext) => void): Promise<void> => {
    try {
      done(null, await source.secureContextFor(accountId, name));
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const server = createServer({
    SNICallback: (name, done) => {
      void answer(name, done);
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const socket = connect({ port: address.port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    assert.ok(certificate !== undefined);
    return certificate;
  } finally {
    socket.destroy();
    server.close();
  }
}

function isShown(entry: CertificateEntry, certificate: X509Certificate): boolean {
  return new X509Certificate(entry.certificatePem).fingerprint256 === certificate.fingerprint256;
}

function isLocal(certificate: X509Certificate): boolean {
  return certificate.verify(new X509Certificate(ca.caCertificatePem).publicKey);
}

/** The real CA, with a count of what it was asked for. */
function countIssues(): { localCa: LocalCa; names: string[]; mostAtOnce: () => number } {
  const names: string[] = [];
  let atOnce = 0;
  let most = 0;
  const issue: LocalCa['issue'] = async (name, now) => {
    names.push(name);
    most = Math.max(most, ++atOnce);
    try {
      return await ca.issue(name, now);
    } finally {
      atOnce--;
    }
  };
  return { localCa: { ...ca, issue }, names, mostAtOnce: () => most };
}

test('an uploaded certificate is shown for its name, a leaf of the local CA for any other', async () => {
  const source = open();
  const mine = await upload('cert_1', 'ac_1', 'a.test');
  await apply(source, { set: [mine] });
  assert.ok(isShown(mine, await shown(source, 'ac_1', 'a.test')));
  const other = await shown(source, 'ac_1', 'b.test');
  assert.ok(isLocal(other) && other.checkHost('b.test') !== undefined);
});

test('a certificate of another account is never shown', async () => {
  const source = open();
  await apply(source, { set: [await upload('cert_1', 'ac_1', 'a.test'), await upload('cert_2', 'ac_1', '*.test')] });
  assert.ok(isLocal(await shown(source, 'ac_2', 'a.test')));
});

test('an exact name beats a wildcard, which covers one label', async () => {
  const source = open();
  const wildcard = await upload('cert_1', 'ac_1', '*.a.test');
  const exact = await upload('cert_2', 'ac_1', 'x.a.test', 100);
  await apply(source, { set: [wildcard, exact] });
  assert.ok(isShown(exact, await shown(source, 'ac_1', 'x.a.test')));
  assert.ok(isShown(wildcard, await shown(source, 'ac_1', 'y.a.test')));
  for (const name of ['a.test', 'x.y.a.test']) assert.ok(isLocal(await shown(source, 'ac_1', name)));
});

test('of several certificates the one that is valid now and ends last is shown', async () => {
  const source = open();
  const [sooner, later, future] = [
    await upload('cert_1', 'ac_1', 'a.test', 200),
    await upload('cert_2', 'ac_1', 'a.test', 100),
    await upload('cert_3', 'ac_1', 'a.test', -30),
  ];
  await apply(source, { set: [sooner, later, future] });
  assert.ok(isShown(later, await shown(source, 'ac_1', 'a.test')));
});

test('the choice follows the clock without any change', async () => {
  let now = Date.now();
  const source = open(ca, () => now);
  const old = await upload('cert_1', 'ac_1', 'a.test', 390);
  const next = await upload('cert_2', 'ac_1', 'a.test', -5);
  await apply(source, { set: [old, next] });
  assert.ok(isShown(old, await shown(source, 'ac_1', 'a.test')));
  now += 6 * dayMs;
  assert.ok(isShown(next, await shown(source, 'ac_1', 'a.test')));
});

test('an expired certificate gives way to a valid wildcard, and is shown if there is none', async () => {
  const source = open();
  const expired = await upload('cert_1', 'ac_1', 'x.a.test', 500);
  const wildcard = await upload('cert_2', 'ac_1', '*.a.test');
  await apply(source, { set: [expired, wildcard] });
  assert.ok(isShown(wildcard, await shown(source, 'ac_1', 'x.a.test')));
  await apply(source, { removed: [{ kind: 'certificate', id: 'cert_2' }] });
  assert.ok(isShown(expired, await shown(source, 'ac_1', 'x.a.test')));
});

test('certificates come, change and go without a restart', async () => {
  const source = open();
  assert.ok(isLocal(await shown(source, 'ac_1', 'a.test')));
  const first = await upload('cert_1', 'ac_1', 'a.test');
  const second = await upload('cert_1', 'ac_1', 'a.test', 50);
  await apply(source, { set: [first] });
  assert.ok(isShown(first, await shown(source, 'ac_1', 'a.test')));
  await apply(source, { set: [second] });
  assert.ok(isShown(second, await shown(source, 'ac_1', 'a.test')));
  await apply(source, { removed: [{ kind: 'certificate', id: 'cert_1' }] });
  assert.ok(isLocal(await shown(source, 'ac_1', 'a.test')));
});

test('a full update drops what it does not name and keeps the contexts of what it does', async () => {
  const source = open();
  const [kept, dropped] = [await upload('cert_1', 'ac_1', 'a.test'), await upload('cert_2', 'ac_1', 'b.test')];
  await apply(source, { set: [kept, dropped] });
  const before = await source.secureContextFor('ac_1', 'a.test');
  await apply(source, { full: true, set: [structuredClone(kept)] });
  assert.equal(await source.secureContextFor('ac_1', 'a.test'), before);
  assert.ok(isLocal(await shown(source, 'ac_1', 'b.test')));
});

test('a change of one certificate leaves the contexts of the others', async () => {
  const source = open();
  await apply(source, { set: [await upload('cert_1', 'ac_1', 'a.test'), await upload('cert_2', 'ac_1', 'b.test')] });
  const names = ['a.test', 'local.test'];
  const demand = (): Promise<SecureContext[]> =>
    Promise.all(names.map((name) => source.secureContextFor('ac_1', name)));
  const before = await demand();
  await apply(source, { set: [await upload('cert_2', 'ac_1', 'b.test')] });
  await apply(source, { removed: [{ kind: 'certificate', id: 'cert_2' }] });
  const later = await demand();
  for (const [index, context] of before.entries()) assert.equal(later[index], context);
});

test('nothing is in force before the swap', async () => {
  const source = open();
  const good = await upload('cert_1', 'ac_1', 'a.test');
  await source.prepare({ version: 1, full: false, set: [good], removed: [] }, assert.fail);
  assert.ok(isLocal(await shown(source, 'ac_1', 'a.test')));
});

test('a pair that cannot be loaded is set aside, the others are shown, and its name gets what else fits', async () => {
  const source = open();
  const [a, b, wild] = [
    await upload('cert_1', 'ac_1', 'a.test'),
    await upload('cert_2', 'ac_1', 'b.test'),
    await upload('cert_3', 'ac_1', '*.wild.test'),
  ];
  const wrongKey = { ...a, privateKeyPem: b.privateKeyPem };
  const faulty = { ...(await upload('cert_4', 'ac_1', 'x.wild.test')), fault: 'its private key does not open' };
  assert.deepEqual(await apply(source, { set: [a] }), []);
  assert.deepEqual(await apply(source, { set: [wrongKey, b, faulty, wild] }), ['cert_1', 'cert_4']);
  // The pair that was in force under its id is gone: it may have been replaced because its key is known to others.
  assert.ok(isLocal(await shown(source, 'ac_1', 'a.test')));
  assert.ok(isShown(b, await shown(source, 'ac_1', 'b.test')));
  assert.ok(isShown(wild, await shown(source, 'ac_1', 'x.wild.test')));
  assert.deepEqual(await apply(source, { set: [a] }), []);
  assert.ok(isShown(a, await shown(source, 'ac_1', 'a.test')));
});

test('a certificate whose dates are none is set aside', async () => {
  const source = open();
  const good = await upload('cert_1', 'ac_1', 'a.test');
  const { raw } = new X509Certificate(good.certificatePem);
  const bytes = Buffer.from(raw);
  bytes.write('13', bytes.indexOf(Buffer.from([0x17, 0x0d])) + 4, 'latin1');
  const certificatePem = `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`;
  assert.deepEqual(await apply(source, { set: [{ ...good, certificatePem }] }), ['cert_1']);
});

test('more certificates than contexts are kept are all shown', async () => {
  const source = open();
  const [first, last] = [
    await upload('cert_first', 'ac_1', 'first.test'),
    await upload('cert_last', 'ac_1', 'last.test'),
  ];
  const many = Array.from({ length: 1000 }, (_, n) => ({ ...last, id: `cert_${n}`, names: [`n${n}.test`] }));
  await apply(source, { set: [first, ...many, last] });
  assert.ok(isShown(first, await shown(source, 'ac_1', 'first.test')));
  assert.ok(isShown(last, await shown(source, 'ac_1', 'last.test')));
});

test('a name that no edge serves gets a certificate that was uploaded for it, or none, and costs no signature', async () => {
  const { localCa, names } = countIssues();
  const source = open(localCa);
  const wildcard = await upload('cert_1', 'ac_1', '*.a.test');
  await apply(source, { set: [wildcard] });
  assert.ok(isShown(wildcard, await shown(source, undefined, 'x.a.test')));
  await assert.rejects(source.secureContextFor(undefined, 'a.test'), /No edge serves this name/);
  await apply(source, { removed: [{ kind: 'certificate', id: 'cert_1' }] });
  await assert.rejects(source.secureContextFor(undefined, 'x.a.test'), /No edge serves this name/);
  assert.deepEqual(names, []);
});

test('what is no DNS name is refused', async () => {
  for (const name of [
    '',
    'a b',
    'A.test',
    'a\u0000.test',
    '*.a.test',
    'a..test',
    `${'a'.repeat(64)}.test`,
    'a.'.repeat(127),
  ]) {
    await assert.rejects(open().secureContextFor('ac_1', name), /not a name/);
  }
});

test('clients that ask for one name at once share one leaf', async () => {
  const { localCa, names } = countIssues();
  const source = open(localCa);
  const contexts = await Promise.all(Array.from({ length: 20 }, () => source.secureContextFor('ac_1', 'a.test')));
  assert.equal(new Set(contexts).size, 1);
  assert.equal(await source.secureContextFor('ac_1', 'a.test'), contexts[0]);
  assert.deepEqual(names, ['a.test']);
});

test('few leaves are issued at once, and beyond a limit demands are refused', async () => {
  const { localCa, names, mostAtOnce } = countIssues();
  const source = open(localCa);
  const demand = (count: number): Promise<PromiseSettledResult<SecureContext>[]> =>
    Promise.allSettled(Array.from({ length: count }, (_, n) => source.secureContextFor('ac_1', `n${n}.test`)));
  const outcomes = await demand(300);
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 258);
  assert.equal(names.length, 258);
  assert.equal(mostAtOnce(), 2);
  const again = await demand(300);
  assert.ok(again.every(({ status }) => status === 'fulfilled'));
});

test('all names under a wildcard edge share one leaf, while its account has the edge', async () => {
  const { localCa, names } = countIssues();
  const source = open(localCa);
  await apply(source, { set: [edge('edghts_1', 'ac_1', 'plain.test:443', '*.a.test:443')] });
  const leaf = await shown(source, 'ac_1', 'x.a.test');
  assert.ok(leaf.checkHost('x.a.test') !== undefined && leaf.checkHost('y.a.test') !== undefined);
  await source.secureContextFor('ac_1', 'y.a.test');
  await source.secureContextFor('ac_2', 'z.a.test');
  assert.deepEqual(names, ['*.a.test', 'z.a.test']);
  await apply(source, { set: [edge('edghts_1', 'ac_1', 'plain.test:443'), edge('edghts_2', 'ac_1', '*.b.test:443')] });
  await source.secureContextFor('ac_1', 'x.a.test');
  await source.secureContextFor('ac_1', 'x.b.test');
  await apply(source, { removed: [{ kind: 'https_edge', id: 'edghts_2' }] });
  await source.secureContextFor('ac_1', 'y.b.test');
  assert.deepEqual(names.slice(2), ['x.a.test', '*.b.test', 'y.b.test']);
});

test('a leaf is renewed when less than a third of its time is left', async () => {
  const { localCa, names } = countIssues();
  let now = Date.now();
  const source = open(localCa, () => now);
  const first = await source.secureContextFor('ac_1', 'a.test');
  now += 264 * dayMs;
  assert.equal(await source.secureContextFor('ac_1', 'a.test'), first);
  now += dayMs;
  assert.notEqual(await source.secureContextFor('ac_1', 'a.test'), first);
  assert.equal(names.length, 2);
});

test('a leaf that cannot be renewed is shown until it ends', async () => {
  let now = Date.now();
  let broken = false;
  const issue: LocalCa['issue'] = async (name, at) => {
    if (broken) throw new Error('no entropy');
    return ca.issue(name, at);
  };
  const source = open({ ...ca, issue }, () => now);
  const first = await source.secureContextFor('ac_1', 'a.test');
  broken = true;
  now += 300 * dayMs;
  assert.equal(await source.secureContextFor('ac_1', 'a.test'), first);
  now += 100 * dayMs;
  await assert.rejects(source.secureContextFor('ac_1', 'a.test'), /no entropy/);
  broken = false;
  assert.notEqual(await source.secureContextFor('ac_1', 'a.test'), first);
});

test('a CA in its last year is told of at the start', () => {
  const warnings: object[] = [];
  const log = { ...silent, warn: (fields: object) => warnings.push(fields) };
  createCertificateSource({ localCa: ca, log });
  assert.deepEqual(warnings, []);
  createCertificateSource({ localCa: ca, log, now: () => ca.notAfter.getTime() - 364 * dayMs });
  assert.deepEqual(warnings, [{ not_after: ca.notAfter.toISOString() }]);
});
