import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, createServer } from 'node:tls';

import type { CertificatePair, LocalCaStorage } from '../../snapshot/local-ca.ts';
import { openLocalCa } from './local-ca.ts';
import type { LocalCa } from './local-ca.ts';

const folder = mkdtempSync(join(tmpdir(), 'local-ca-'));
after(() => {
  rmSync(folder, { recursive: true });
});

/** Keeps the first pair, as a database would. */
function memoryStorage(stored?: CertificatePair): LocalCaStorage & { stored: CertificatePair | undefined } {
  return {
    stored,
    async load() {
      return this.stored;
    },
    async save(pair) {
      return (this.stored ??= pair);
    },
  };
}

function openssl(...args: readonly string[]): string {
  return execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' }).toString();
}

function describe(pem: string): string {
  writeFileSync(join(folder, 'shown.pem'), pem);
  return openssl('x509', '-in', 'shown.pem', '-noout', '-text').replaceAll(/\s+/g, ' ');
}

function verify(caPem: string, leafPem: string, name: string): string {
  writeFileSync(join(folder, 'ca.pem'), caPem);
  writeFileSync(join(folder, 'leaf.pem'), leafPem);
  const checks = ['-x509_strict', '-check_ss_sig', '-purpose', 'sslserver', '-verify_hostname', name];
  return openssl('verify', '-CAfile', 'ca.pem', ...checks, 'leaf.pem');
}

const dayMs = 86_400_000;
const storage = memoryStorage();
let ca: LocalCa;
before(async () => {
  ca = await openLocalCa(storage);
});

test('the CA signs leaves and nothing else, for ten years', () => {
  const text = describe(ca.caCertificatePem);
  assert.match(text, /Subject: CN = Gatehouse local CA [0-9a-f]{8} /);
  assert.match(text, /X509v3 Basic Constraints: critical CA:TRUE, pathlen:0 /);
  assert.match(text, /X509v3 Key Usage: critical Certificate Sign, CRL Sign /);
  assert.match(text, /ASN1 OID: prime256v1/);
  // DER has no unused zero bits at the end of named bits, which OpenSSL reads all the same.
  assert.ok(new X509Certificate(ca.caCertificatePem).raw.includes(Buffer.from('0603551d0f0101ff040403020106', 'hex')));
  const { validFromDate, validToDate } = new X509Certificate(ca.caCertificatePem);
  assert.equal(validToDate.getTime() - validFromDate.getTime(), 3653 * dayMs);
  assert.deepEqual(ca.notAfter, validToDate);
  assert.ok(validFromDate.getTime() < Date.now());
});

test('a leaf is what strict verifiers and browsers ask for', async () => {
  const now = new Date();
  const leaf = await ca.issue('shop.example.com', now);
  assert.match(verify(ca.caCertificatePem, leaf.certificatePem, 'shop.example.com'), /leaf\.pem: OK/);
  assert.throws(() => verify(ca.caCertificatePem, leaf.certificatePem, 'other.example.com'));
  const text = describe(leaf.certificatePem);
  assert.match(text, /Basic Constraints: critical CA:FALSE /);
  assert.match(text, /Key Usage: critical Digital Signature X509v3 Extended Key Usage: TLS Web Server Authentication /);
  assert.match(text, /Subject Alternative Name: DNS:shop\.example\.com /);
  const issuerId = /Subject Key Identifier: ([0-9A-F:]+)/.exec(describe(ca.caCertificatePem))?.[1];
  assert.ok(issuerId !== undefined && text.includes(`Authority Key Identifier: ${issuerId} `));
  const { validFromDate, validToDate } = new X509Certificate(leaf.certificatePem);
  assert.equal(validToDate.getTime() - validFromDate.getTime(), 397 * dayMs);
  assert.equal(Math.floor(now.getTime() / 1000) - validFromDate.getTime() / 1000, 3600);
});

test('a TLS client that trusts the CA accepts its leaf for that name only', async () => {
  const leaf = await ca.issue('shop.example.com', new Date());
  const server = createServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem }, (socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port } = address;
  const dial = async (servername: string, trusted: string): Promise<boolean> => {
    const socket = connect({ port, host: '127.0.0.1', servername, ca: trusted });
    try {
      await once(socket, 'secureConnect');
      return socket.authorized;
    } finally {
      socket.destroy();
    }
  };
  try {
    assert.equal(await dial('shop.example.com', ca.caCertificatePem), true);
    await assert.rejects(dial('other.example.com', ca.caCertificatePem), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    const stranger = await openLocalCa(memoryStorage());
    await assert.rejects(dial('shop.example.com', stranger.caCertificatePem), /unable to verify|unable to get/);
  } finally {
    server.close();
  }
});

test('a wildcard leaf covers one label', async () => {
  const leaf = await ca.issue('*.example.com', new Date());
  assert.match(verify(ca.caCertificatePem, leaf.certificatePem, 'any.example.com'), /OK/);
  assert.throws(() => verify(ca.caCertificatePem, leaf.certificatePem, 'a.b.example.com'));
});

test('a name too long for a common name stands in the alternative name only', async () => {
  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`;
  const leaf = await ca.issue(name, new Date());
  assert.match(verify(ca.caCertificatePem, leaf.certificatePem, name), /OK/);
  assert.match(describe(leaf.certificatePem), /Subject: Subject Public Key.*Alternative Name: critical DNS:a/);
});

test('no two leaves share a key or a serial number', async () => {
  const leaves = await Promise.all([1, 2, 3].map(() => ca.issue('a.test', new Date())));
  assert.equal(new Set(leaves.map(({ privateKeyPem }) => privateKeyPem)).size, 3);
  assert.equal(new Set(leaves.map(({ certificatePem }) => new X509Certificate(certificatePem).serialNumber)).size, 3);
});

test('a restart finds the same CA, and processes that start at once agree on one', async () => {
  assert.equal((await openLocalCa(storage)).caCertificatePem, ca.caCertificatePem);
  const shared = memoryStorage();
  const [one, other] = await Promise.all([openLocalCa(shared), openLocalCa(shared)]);
  assert.equal(one.caCertificatePem, other.caCertificatePem);
  const leaf = await other.issue('a.test', new Date());
  assert.match(verify(one.caCertificatePem, leaf.certificatePem, 'a.test'), /OK/);
});

test('a stored pair that is no CA with its own key is refused', async () => {
  const leaf = await ca.issue('a.test', new Date());
  await assert.rejects(openLocalCa(memoryStorage(leaf)), /not a CA certificate/);
  const mixed = { certificatePem: ca.caCertificatePem, privateKeyPem: leaf.privateKeyPem };
  await assert.rejects(openLocalCa(memoryStorage(mixed)), /not a CA certificate with its own key/);
});

test('no leaf outlives the CA, and an expired CA issues none', async () => {
  const late = new Date(ca.notAfter.getTime() - 10 * dayMs);
  const leaf = await ca.issue('a.test', late);
  assert.deepEqual(leaf.notAfter, ca.notAfter);
  assert.deepEqual(new X509Certificate(leaf.certificatePem).validToDate, ca.notAfter);
  await assert.rejects(ca.issue('a.test', new Date(ca.notAfter.getTime() + 1)), /local CA expired/);
});
