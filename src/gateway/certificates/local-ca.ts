import { createPrivateKey, generateKeyPair, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

import { readValidity } from '../../lib/certificate-validity.ts';
import { findExtension, readDer, writeDer } from '../../lib/der.ts';
import type { CertificatePair, LocalCaStorage } from '../../snapshot/local-ca.ts';
import {
  alternativeName,
  alternativeUri,
  authorityKeyIdentifier,
  basicConstraints,
  keyIdentifier,
  keyUsage,
  keyUsageBits,
  peerAuthUsage,
  serverAuthUsage,
  signCertificate,
  subjectKeyIdentifier,
  subjectKeyIdentifierOid,
  writeName,
} from './sign-certificate.ts';

export interface IssuedLeaf extends CertificatePair {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** The installation's own authority, for names without an uploaded certificate. */
export interface LocalCa {
  /** The certificate that clients must trust; it holds no secret. */
  readonly caCertificatePem: string;
  readonly notAfter: Date;
  /** Issues a leaf for an IP address or a name, which may start with `*.`. */
  issue(name: string, now: Date): Promise<IssuedLeaf>;
  /** Issues a leaf for a URI, by which processes of the installation know each other; it is valid for both ends. */
  issueForPeer(uri: string, now: Date): Promise<IssuedLeaf>;
}

const generateKeys = promisify(generateKeyPair);
const dayMs = 86_400_000;
const caDays = 3653;
/** The longest validity that browsers accept. */
const leafDays = 397;
/** Certificates are valid from an hour ago, for clients whose clocks are behind. */
const backdatingMs = 3_600_000;
/** Longest common name of X.520. */
const maxCommonName = 64;

/** Loads the CA, or creates it if there is none. */
export async function openLocalCa(storage: LocalCaStorage): Promise<LocalCa> {
  const pair = (await storage.load()) ?? (await storage.save(await createCa(new Date())));
  const { certificate, privateKey } = readCa(pair);
  const authority: Authority = {
    name: readSubject(certificate),
    keyIdentifier: readKeyIdentifier(certificate),
    privateKey,
    notAfter: readValidity(certificate).notAfter,
  };
  return {
    caCertificatePem: pair.certificatePem,
    notAfter: authority.notAfter,
    issue: (name, now) => {
      const commonName = name.length > maxCommonName ? undefined : name;
      const use = [serverAuthUsage(), alternativeName(name, commonName === undefined)];
      return issueLeaf(authority, commonName, use, now);
    },
    issueForPeer: (uri, now) => issueLeaf(authority, undefined, [peerAuthUsage(), alternativeUri(uri)], now),
  };
}

interface Authority {
  readonly name: Buffer;
  readonly keyIdentifier: Buffer;
  readonly privateKey: KeyObject;
  readonly notAfter: Date;
}

async function createCa(now: Date): Promise<CertificatePair> {
  const { publicKey, privateKey } = await generateKeys('ec', { namedCurve: 'P-256' });
  const identifier = keyIdentifier(publicKey);
  // The fingerprint tells the authorities of two installations apart in a trust store.
  const name = writeName(`Gatehouse local CA ${identifier.toString('hex', 0, 4)}`);
  const notBefore = new Date(now.getTime() - backdatingMs);
  const extensions = [
    basicConstraints(true),
    keyUsage(keyUsageBits.certSign | keyUsageBits.crlSign),
    subjectKeyIdentifier(publicKey),
    authorityKeyIdentifier(identifier),
  ];
  const notAfter = new Date(notBefore.getTime() + caDays * dayMs);
  const content = { issuer: name, subject: name, publicKey, notBefore, notAfter, extensions };
  return { certificatePem: await signCertificate(content, privateKey), privateKeyPem: exportKey(privateKey) };
}

/** `use` are the extensions that say what the leaf is for. */
async function issueLeaf(
  authority: Authority,
  commonName: string | undefined,
  use: readonly Buffer[],
  now: Date,
): Promise<IssuedLeaf> {
  const notBefore = new Date(now.getTime() - backdatingMs);
  const notAfter = new Date(Math.min(notBefore.getTime() + leafDays * dayMs, authority.notAfter.getTime()));
  if (notAfter <= now) throw new Error(`The local CA expired on ${authority.notAfter.toISOString()}.`);
  const { publicKey, privateKey } = await generateKeys('ec', { namedCurve: 'P-256' });
  const extensions = [
    basicConstraints(false),
    keyUsage(keyUsageBits.digitalSignature),
    ...use,
    subjectKeyIdentifier(publicKey),
    authorityKeyIdentifier(authority.keyIdentifier),
  ];
  const content = {
    issuer: authority.name,
    subject: writeName(commonName),
    publicKey,
    notBefore,
    notAfter,
    extensions,
  };
  const certificatePem = await signCertificate(content, authority.privateKey);
  return { certificatePem, privateKeyPem: exportKey(privateKey), notBefore, notAfter };
}

function readCa(pair: CertificatePair): { certificate: X509Certificate; privateKey: KeyObject } {
  const certificate = new X509Certificate(pair.certificatePem);
  const privateKey = createPrivateKey(pair.privateKeyPem);
  if (!certificate.ca || !certificate.checkPrivateKey(privateKey)) {
    throw new Error('The stored local CA is not a CA certificate with its own key. Restore it from a backup.');
  }
  return { certificate, privateKey };
}

/** The path is: certificate → to be signed → version, serial, algorithm, issuer, validity, subject. */
function readSubject(certificate: X509Certificate): Buffer {
  const toBeSigned = readDer(readDer(certificate.raw)[0]?.content ?? Buffer.alloc(0))[0];
  const subject = readDer(toBeSigned?.content ?? Buffer.alloc(0))[5];
  return writeDer(subject?.tag ?? 0, subject?.content ?? Buffer.alloc(0));
}

function readKeyIdentifier(certificate: X509Certificate): Buffer {
  const stated = findExtension(certificate, subjectKeyIdentifierOid);
  return stated === undefined ? keyIdentifier(certificate.publicKey) : (readDer(stated)[0]?.content ?? stated);
}

function exportKey(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
