import { createPrivateKey, sign, verify, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';

import { readValidity } from './certificate-validity.ts';
import { PemError, readPemBlocks } from './pem.ts';
import type { PemBlock } from './pem.ts';
import { readCertificateFacts } from './certificate-facts.ts';
import type { CertificateFacts, PrivateKeyType } from './certificate-facts.ts';

/** The reason for refusing a pair, with the values of its message. Never holds key material. */
export type CertificateFault =
  | { readonly fault: 'certificate-missing' | 'key-missing' | 'no-certificate' }
  | { readonly fault: 'key-encrypted' | 'key-mismatch' | 'swapped' }
  | { readonly fault: 'not-pem'; readonly field: PemField }
  | { readonly fault: 'wrong-type'; readonly field: PemField; readonly type: string; readonly expected: string }
  | { readonly fault: 'certificate-unreadable' | 'key-unreadable'; readonly reason: string }
  | { readonly fault: 'chain-order'; readonly position: number }
  | { readonly fault: 'too-large'; readonly field: PemField; readonly bytes: number; readonly limit: number };

export type PemField = 'certificate_pem' | 'private_key_pem';

/** Bytes. OpenSSL clients take chains of 100 kB of DER; the largest RSA key below is 4 kB. */
const limits = { certificate_pem: 65_536, private_key_pem: 16_384 } as const;
/** Beyond it, a few handshakes a second would fill the process and hold up all accounts. */
const maxRsaBits = 4096;
/** Curves that browsers and TLS libraries agree on. */
const servedCurves: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

const keyLabels: ReadonlyMap<string, 'pkcs8' | 'pkcs1' | 'sec1'> = new Map([
  ['PRIVATE KEY', 'pkcs8'],
  ['RSA PRIVATE KEY', 'pkcs1'],
  ['EC PRIVATE KEY', 'sec1'],
]);

class Refused extends Error {
  readonly fault: CertificateFault;

  constructor(fault: CertificateFault) {
    super(fault.fault);
    this.fault = fault;
  }
}

/** Reads a chain, leaf first, and the leaf's key. A pair without a fault can be served over TLS; it may have expired. */
export function readCertificatePair(
  certificatePem: string,
  privateKeyPem: string,
): CertificateFacts | CertificateFault {
  try {
    if (certificatePem.trim() === '') throw new Refused({ fault: 'certificate-missing' });
    if (privateKeyPem.trim() === '') throw new Refused({ fault: 'key-missing' });
    const chain = readChain(certificatePem);
    const key = readKey(privateKeyPem);
    checkOrder(chain);
    const privateKeyType = classifyKey(key);
    const [leaf] = chain;
    checkDates(leaf);
    if (!canSign(leaf, key)) throw new Refused({ fault: 'key-mismatch' });
    checkServable(certificatePem, privateKeyPem);
    return readFacts(leaf, privateKeyType);
  } catch (error) {
    if (error instanceof Refused) return error.fault;
    throw error;
  }
}

function readChain(pem: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = readBlocks('certificate_pem', pem, 'certificate-unreadable');
  if (blocks.some(({ label }) => label.endsWith('PRIVATE KEY'))) throw new Refused({ fault: 'swapped' });
  const other = blocks.find(({ label }) => label !== 'CERTIFICATE');
  if (other !== undefined) throw wrongType('certificate_pem', other, 'CERTIFICATE');
  const [leaf, ...issuers] = blocks.filter(({ bytes }) => bytes.length > 0).map(readCertificate);
  if (leaf === undefined) throw new Refused({ fault: 'no-certificate' });
  return [leaf, ...issuers];
}

function readCertificate({ bytes, hasHeaders }: PemBlock, index: number): X509Certificate {
  const unreadable = new Refused({
    fault: 'certificate-unreadable',
    reason: `PEM block number ${index + 1} is not an X.509 certificate`,
  });
  if (hasHeaders) throw unreadable;
  try {
    const certificate = new X509Certificate(bytes);
    // The constructor passes over bytes that follow, and reads PEM inside of PEM.
    if (certificate.raw.equals(bytes)) return certificate;
  } catch {
    // OpenSSL's own words ("wrong tag") help nobody.
  }
  throw unreadable;
}

function readKey(pem: string): KeyObject {
  // `openssl ecparam -genkey` writes the parameters before the key, which repeats them.
  const blocks = readBlocks('private_key_pem', pem, 'key-unreadable').filter(({ label }) => label !== 'EC PARAMETERS');
  if (
    blocks.some((block) => block.label === 'ENCRYPTED PRIVATE KEY' || (keyLabels.has(block.label) && block.hasHeaders))
  ) {
    throw new Refused({ fault: 'key-encrypted' });
  }
  const other = blocks.find(({ label }) => !keyLabels.has(label));
  if (other !== undefined) throw wrongType('private_key_pem', other, 'PRIVATE KEY');
  const [block] = blocks;
  const type = block === undefined ? undefined : keyLabels.get(block.label);
  if (block === undefined || type === undefined) throw keyUnreadable('it holds parameters, but no key');
  if (blocks.length > 1) throw keyUnreadable(`it holds ${blocks.length} keys, where one belongs to the certificate`);
  try {
    // Serving goes by the label, reading does not: a key under a wrong one must not get past here.
    createSecureContext({ key: pem });
    return createPrivateKey({ key: block.bytes, format: 'der', type });
  } catch {
    throw keyUnreadable(`its PEM block does not hold what ${block.label} says`);
  }
}

function readBlocks(field: PemField, pem: string, fault: 'certificate-unreadable' | 'key-unreadable'): PemBlock[] {
  const bytes = Buffer.byteLength(pem);
  const limit = limits[field];
  if (bytes > limit) throw new Refused({ fault: 'too-large', field, bytes, limit });
  try {
    const blocks = readPemBlocks(pem);
    if (blocks.length === 0) throw new Refused({ fault: 'not-pem', field });
    return blocks;
  } catch (error) {
    throw error instanceof PemError ? new Refused({ fault, reason: error.message }) : error;
  }
}

function checkOrder(chain: readonly X509Certificate[]): void {
  for (const [index, issuer] of chain.entries()) {
    const issued = chain[index - 1];
    if (issued === undefined) continue;
    if (!issued.checkIssued(issuer) || !issued.verify(issuer.publicKey)) {
      throw new Refused({ fault: 'chain-order', position: index + 1 });
    }
  }
}

/** To compare the public halves, as `checkPrivateKey` does, would miss a damaged private one. */
function canSign(leaf: X509Certificate, key: KeyObject): boolean {
  const digest = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const probe = Buffer.from('probe');
  try {
    return verify(digest, probe, leaf.publicKey, sign(digest, probe, key));
  } catch {
    return false;
  }
}

function classifyKey(key: KeyObject): PrivateKeyType {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === 'ed25519') return 'ed25519';
  if (type === 'rsa') {
    const bits = details?.modulusLength ?? 0;
    if (bits > maxRsaBits)
      throw keyUnreadable(`an RSA key of ${bits} bits is too slow to serve; use 2048 to ${maxRsaBits}`);
    return 'rsa';
  }
  if (type !== 'ec') throw keyUnreadable(`keys of type ${type ?? 'unknown'} are not served; use RSA, ECDSA or Ed25519`);
  const curve = details?.namedCurve ?? 'unnamed';
  if (!servedCurves.has(curve)) throw keyUnreadable(`curve ${curve} is not served; use P-256, P-384 or P-521`);
  return 'ecdsa';
}

/** OpenSSL refuses more than can be told from the outside, such as weak keys and weak signatures in the chain. */
function checkServable(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    const words = error instanceof Error && 'reason' in error ? String(error.reason) : 'refused by the TLS library';
    throw new Refused({ fault: 'certificate-unreadable', reason: `it cannot be served over TLS (${words})` });
  }
}

function checkDates(leaf: X509Certificate): void {
  try {
    readValidity(leaf);
  } catch {
    const reason = 'its dates are not dates as X.509 writes them; have it issued again';
    throw new Refused({ fault: 'certificate-unreadable', reason });
  }
}

function readFacts(leaf: X509Certificate, privateKeyType: PrivateKeyType): CertificateFacts {
  try {
    return readCertificateFacts(leaf, privateKeyType);
  } catch {
    const reason = 'its names or extensions are malformed';
    throw new Refused({ fault: 'certificate-unreadable', reason });
  }
}

function wrongType(field: PemField, { label }: PemBlock, expected: string): Refused {
  return new Refused({ fault: 'wrong-type', field, type: label, expected });
}

function keyUnreadable(reason: string): Refused {
  return new Refused({ fault: 'key-unreadable', reason });
}
