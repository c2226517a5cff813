import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import type { CertificateFacts } from './certificate-facts.ts';
import { readCertificatePair } from './certificate-pair.ts';

const folder = mkdtempSync(join(tmpdir(), 'certificate-pair-'));
after(() => {
  rmSync(folder, { recursive: true });
});

interface Pair {
  readonly cert: string;
  readonly key: string;
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

/** Certificates come from OpenSSL's own tool, so that reader and writer share no mistake. */
function make(name: string, key: string, ...args: readonly string[]): Pair {
  writeFileSync(join(folder, `${name}.key`), key);
  openssl('req', '-x509', '-key', `${name}.key`, '-out', `${name}.pem`, ...args);
  return { cert: readFileSync(join(folder, `${name}.pem`), 'utf8'), key };
}

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const spki = { type: 'spki', format: 'pem' } as const;

function ecKey(namedCurve = 'P-256'): string {
  return generateKeyPairSync('ec', { namedCurve, publicKeyEncoding: spki, privateKeyEncoding: pkcs8 }).privateKey;
}

function rsaKey(modulusLength: number, type: 'pkcs1' | 'pkcs8'): string {
  const privateKeyEncoding = { type, format: 'pem' } as const;
  return generateKeyPairSync('rsa', { modulusLength, publicKeyEncoding: spki, privateKeyEncoding }).privateKey;
}

const root = make('root', ecKey(), '-subj', '/CN=Test Root', '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
const leaf = make('leaf', ecKey(), '-subj', '/CN=leaf.test', '-CA', 'root.pem', '-CAkey', 'root.key');
const stranger = make('stranger', ecKey(), '-subj', '/CN=stranger.test');

function read({ cert, key }: Pair): ReturnType<typeof readCertificatePair> {
  return readCertificatePair(cert, key);
}

function readFacts(pair: Pair): CertificateFacts {
  const result = read(pair);
  assert.ok(!('fault' in result), JSON.stringify(result));
  return result;
}

function readFault(pair: Pair): string | undefined {
  const result = read(pair);
  return 'fault' in result ? result.fault : undefined;
}

test('all facts of a certificate are told', () => {
  const subject = '/C=DE/ST=Berlin/L=Kreuzberg/O=Erste/O=Zweite/OU=Technik/CN=first.test/CN=shop.test';
  const names = 'subjectAltName=DNS:Shop.Test,DNS:*.shop.test,IP:192.0.2.7,IP:2001:db8:0:0::1,email:a@shop.test';
  const usages = ['-addext', 'keyUsage=digitalSignature,keyEncipherment,decipherOnly', '-addext'];
  const extended = 'extendedKeyUsage=serverAuth,clientAuth,OCSPSigning,anyExtendedKeyUsage,1.2.3.4';
  const serial = ['-set_serial', '0x0abc01', '-days', '36500'];
  const pair = make('full', rsaKey(2048, 'pkcs8'), '-subj', subject, '-addext', names, ...usages, extended, ...serial);
  const { notBefore, notAfter, ...rest } = readFacts(pair);
  assert.deepEqual(rest, {
    subjectCommonName: 'shop.test',
    subjectAlternativeNames: { dnsNames: ['Shop.Test', '*.shop.test'], ips: ['192.0.2.7', '2001:db8::1'] },
    keyUsages: ['digital_signature', 'key_encipherment', 'decipher_only'],
    extendedKeyUsages: ['server_auth', 'client_auth', 'ocsp_signing', 'any', '1.2.3.4'],
    privateKeyType: 'rsa',
    issuerCommonName: 'shop.test',
    serialNumber: '0abc01',
    subjectOrganization: 'Erste',
    subjectOrganizationalUnit: 'Technik',
    subjectLocality: 'Kreuzberg',
    subjectProvince: 'Berlin',
    subjectCountry: 'DE',
    names: ['shop.test', '*.shop.test'],
  });
  assert.match(notBefore, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.equal(Date.parse(notAfter) - Date.parse(notBefore), 36_500 * 86_400_000);
});

test('what a certificate does not say is empty, and its common name serves for want of other names', () => {
  const facts = readFacts(stranger);
  assert.deepEqual(facts.subjectAlternativeNames, { dnsNames: [], ips: [] });
  assert.deepEqual([facts.keyUsages, facts.extendedKeyUsages, facts.subjectCountry], [[], [], '']);
  assert.deepEqual(facts.names, ['stranger.test']);
});

test('a serial number of zero takes a whole byte', () => {
  assert.equal(readFacts(make('zero', ecKey(), '-subj', '/CN=zero.test', '-set_serial', '0')).serialNumber, '00');
});

test('a common name is no server name beside an IP address, or if it is no host name', () => {
  const ip = make('ip', ecKey(), '-subj', '/CN=ip.test', '-addext', 'subjectAltName=IP:192.0.2.1');
  const person = make('person', ecKey(), '-subj', '/CN=Ada Lovelace');
  for (const pair of [ip, person]) assert.deepEqual(readFacts(pair).names, []);
});

test('every kind of key that TLS clients know is read', () => {
  const ed25519 = generateKeyPairSync('ed25519', { publicKeyEncoding: spki, privateKeyEncoding: pkcs8 }).privateKey;
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-out', 'parameters.key');
  const withParameters = readFileSync(join(folder, 'parameters.key'), 'utf8');
  assert.match(withParameters, /^-----BEGIN EC PARAMETERS-----/);
  const kinds = [
    ['rsa', rsaKey(2048, 'pkcs1')],
    ['ecdsa', withParameters],
    ['ecdsa', ecKey('P-521')],
    ['ed25519', ed25519],
  ] as const;
  for (const [type, key] of kinds) {
    assert.equal(readFacts(make('kind', key, '-subj', '/CN=kind.test')).privateKeyType, type);
  }
});

test('an expired certificate is read', () => {
  openssl('req', '-new', '-key', 'leaf.key', '-subj', '/CN=old.test', '-out', 'old.csr');
  const issuer = ['-CA', 'root.pem', '-CAkey', 'root.key', '-set_serial', '1'];
  openssl('x509', '-req', '-in', 'old.csr', ...issuer, '-days', '-1', '-out', 'old.pem');
  const cert = readFileSync(join(folder, 'old.pem'), 'utf8');
  assert.ok(Date.parse(readFacts({ cert, key: leaf.key }).notAfter) < Date.now());
});

test('a chain is read leaf first, with notes between and any line ends', () => {
  const notes = `# leaf\n${leaf.cert}\nsubject=CN = Tést Root\n${root.cert}`;
  for (const cert of [leaf.cert + root.cert, notes, notes.replaceAll('\n', '\r\n')]) {
    const facts = readFacts({ cert, key: leaf.key });
    assert.deepEqual([facts.subjectCommonName, facts.issuerCommonName], ['leaf.test', 'Test Root']);
  }
});

test('a chain out of order is refused with the place', () => {
  assert.deepEqual(read({ cert: root.cert + leaf.cert, key: leaf.key }), { fault: 'chain-order', position: 2 });
  const cert = leaf.cert + root.cert + stranger.cert;
  assert.deepEqual(read({ cert, key: leaf.key }), { fault: 'chain-order', position: 3 });
});

test('an issuer of the same name that did not sign is out of order', () => {
  const impostor = make('impostor', ecKey(), '-subj', '/CN=Test Root', '-addext', 'subjectKeyIdentifier=none');
  const bare = ['-addext', 'authorityKeyIdentifier=none', '-CA', 'root.pem', '-CAkey', 'root.key'];
  const pair = make('bare', ecKey(), '-subj', '/CN=bare.test', ...bare);
  assert.deepEqual(read({ cert: pair.cert + impostor.cert, key: pair.key }), { fault: 'chain-order', position: 2 });
});

test('an issuer of the same key under another name is out of order', () => {
  const renamed = make('renamed', root.key, '-subj', '/CN=Renamed Root');
  assert.deepEqual(read({ cert: leaf.cert + renamed.cert, key: leaf.key }), { fault: 'chain-order', position: 2 });
});

test('what is missing or is not PEM is named', () => {
  assert.deepEqual(read({ cert: ' \n', key: leaf.key }), { fault: 'certificate-missing' });
  assert.deepEqual(read({ cert: leaf.cert, key: '' }), { fault: 'key-missing' });
  assert.deepEqual(read({ cert: 'MIIB', key: leaf.key }), { fault: 'not-pem', field: 'certificate_pem' });
  assert.deepEqual(read({ cert: leaf.cert, key: 'secret' }), { fault: 'not-pem', field: 'private_key_pem' });
  const empty = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n';
  assert.deepEqual(read({ cert: empty, key: leaf.key }), { fault: 'no-certificate' });
});

test('a private key in the place of the certificate is never taken, however it stands there', () => {
  assert.deepEqual(read({ cert: leaf.key, key: leaf.cert }), { fault: 'swapped' });
  assert.deepEqual(read({ cert: leaf.cert + leaf.key, key: leaf.key }), { fault: 'swapped' });
  const damaged = [leaf.key.replace(/-----END.*/, ''), ` ${leaf.key}`, leaf.key.replace('-----BEGIN', '----BEGIN')];
  for (const text of damaged) {
    assert.equal(readFault({ cert: leaf.cert + text, key: leaf.key }), 'certificate-unreadable');
  }
});

test('blocks of another type are named', () => {
  const request = leaf.cert.replaceAll(' CERTIFICATE-', ' CERTIFICATE REQUEST-');
  const wrongCertificate = { field: 'certificate_pem', type: 'CERTIFICATE REQUEST', expected: 'CERTIFICATE' };
  assert.deepEqual(read({ cert: request, key: leaf.key }), { fault: 'wrong-type', ...wrongCertificate });
  const ssh = leaf.key.replaceAll(' PRIVATE', ' OPENSSH PRIVATE');
  const wrongKey = { field: 'private_key_pem', type: 'OPENSSH PRIVATE KEY', expected: 'PRIVATE KEY' };
  assert.deepEqual(read({ cert: leaf.cert, key: ssh }), { fault: 'wrong-type', ...wrongKey });
});

test('an encrypted key is refused in both of its forms', () => {
  openssl('pkcs8', '-topk8', '-in', 'leaf.key', '-out', 'sealed.key', '-passout', 'pass:word');
  openssl('ec', '-in', 'leaf.key', '-aes128', '-out', 'old-form.key', '-passout', 'pass:word');
  for (const name of ['sealed.key', 'old-form.key']) {
    const key = readFileSync(join(folder, name), 'utf8');
    assert.deepEqual(read({ cert: leaf.cert, key }), { fault: 'key-encrypted' });
  }
});

test('a key of another certificate is refused', () => {
  assert.deepEqual(read({ cert: leaf.cert, key: stranger.key }), { fault: 'key-mismatch' });
  assert.deepEqual(read({ cert: leaf.cert, key: rsaKey(2048, 'pkcs8') }), { fault: 'key-mismatch' });
});

test('a key whose private half was damaged is refused, although its public half fits', () => {
  const der = Buffer.from(leaf.key.replaceAll(/-----.*-----|\n/g, ''), 'base64');
  const scalar = der.indexOf(Buffer.from([0x02, 0x01, 0x01, 0x04, 0x20])) + 5;
  der.writeUInt8(der.readUInt8(scalar + 20) ^ 1, scalar + 20);
  const key = `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`;
  assert.equal(readFault({ cert: leaf.cert, key }), 'key-mismatch');
});

test('damaged blocks are refused without showing what they hold', () => {
  const secret = leaf.key.split('\n')[1] ?? '';
  const damages = [
    leaf.key.replace(secret, secret.slice(1)),
    leaf.key.replace(secret, `${secret.slice(0, 20)}\u0000${secret.slice(21)}`),
    leaf.key.replace(secret, `${secret.slice(0, 20)}!${secret.slice(21)}`),
    leaf.key.replace(/-----END.*/, ''),
    leaf.key.replaceAll(' PRIVATE', ' RSA PRIVATE'),
    leaf.key + stranger.key,
  ];
  for (const key of damages) {
    assert.equal(readFault({ cert: leaf.cert, key }), 'key-unreadable');
    assert.ok(!JSON.stringify(read({ cert: leaf.cert, key })).includes(secret.slice(1, 12)));
  }
});

test('bytes that are no certificate, or more than one, are refused', () => {
  const reason = 'PEM block number 1 is not an X.509 certificate';
  const bytes = Buffer.from(leaf.cert.replaceAll(/-----.*-----|\n/g, ''), 'base64');
  const inside = [Buffer.from('hello'), Buffer.concat([bytes, bytes]), bytes.subarray(0, -3), Buffer.from(leaf.cert)];
  for (const body of inside) {
    const cert = `-----BEGIN CERTIFICATE-----\n${body.toString('base64')}\n-----END CERTIFICATE-----\n`;
    assert.deepEqual(read({ cert, key: leaf.key }), { fault: 'certificate-unreadable', reason });
  }
});

test('a pair that could not be served is refused with the reason', () => {
  const weak = make('weak', rsaKey(1024, 'pkcs8'), '-subj', '/CN=weak.test');
  const reason = 'it cannot be served over TLS (ee key too small)';
  assert.deepEqual(read(weak), { fault: 'certificate-unreadable', reason });
  // Four short primes are found in a hundredth of the time that two long ones take.
  const primes = ['-pkeyopt', 'rsa_keygen_bits:4104', '-pkeyopt', 'rsa_keygen_primes:4'];
  openssl('genpkey', '-algorithm', 'RSA', ...primes, '-out', 'slow.key');
  const slow = make('slow', readFileSync(join(folder, 'slow.key'), 'utf8'), '-subj', '/CN=slow.test');
  const bits = 'an RSA key of 4104 bits is too slow to serve; use 2048 to 4096';
  assert.deepEqual(read(slow), { fault: 'key-unreadable', reason: bits });
  const odd = make('odd', ecKey('secp256k1'), '-subj', '/CN=odd.test');
  const curve = 'curve secp256k1 is not served; use P-256, P-384 or P-521';
  assert.deepEqual(read(odd), { fault: 'key-unreadable', reason: curve });
});

test('a name with a NUL or an IP address of odd length is refused', () => {
  const reason = 'its names or extensions are malformed';
  for (const names of ['30:05:82:03:61:00:62', '30:05:87:03:01:02:03']) {
    const pair = make('nul', ecKey(), '-subj', '/CN=x.test', '-addext', `subjectAltName=DER:${names}`);
    assert.deepEqual(read(pair), { fault: 'certificate-unreadable', reason });
  }
});

test('more text than a chain or key can be is refused by size', () => {
  const cert = leaf.cert + '#'.repeat(65_536);
  const bytes = Buffer.byteLength(cert);
  assert.deepEqual(read({ cert, key: leaf.key }), {
    fault: 'too-large',
    field: 'certificate_pem',
    bytes,
    limit: 65_536,
  });
  const key = leaf.key + '#'.repeat(16_384);
  const size = Buffer.byteLength(key);
  const fault = { fault: 'too-large', field: 'private_key_pem', bytes: size, limit: 16_384 };
  assert.deepEqual(read({ cert: leaf.cert, key }), fault);
});
