import type { X509Certificate } from 'node:crypto';

import { readValidity } from './certificate-validity.ts';
import { findExtension, onlyElement, readDer } from './der.ts';
import { toTimestamp } from './ids.ts';
import { formatIp } from './ip/address.ts';

/** The fields of a leaf certificate. Texts are `''` where the certificate has none. */
export interface CertificateFacts {
  readonly subjectCommonName: string;
  readonly subjectAlternativeNames: { readonly dnsNames: readonly string[]; readonly ips: readonly string[] };
  /** UTC, whole seconds: `2026-11-14T10:11:14Z`. */
  readonly notBefore: string;
  readonly notAfter: string;
  readonly keyUsages: readonly string[];
  readonly extendedKeyUsages: readonly string[];
  readonly privateKeyType: PrivateKeyType;
  readonly issuerCommonName: string;
  /** Lower-case hex, two digits a byte. */
  readonly serialNumber: string;
  readonly subjectOrganization: string;
  readonly subjectOrganizationalUnit: string;
  readonly subjectLocality: string;
  readonly subjectProvince: string;
  readonly subjectCountry: string;
  /** Names a TLS server may answer with, lower case; one may start with `*.`. */
  readonly names: readonly string[];
}

export type PrivateKeyType = 'rsa' | 'ecdsa' | 'ed25519';

/** By bit number. */
const keyUsageNames = [
  'digital_signature',
  'content_commitment',
  'key_encipherment',
  'data_encipherment',
  'key_agreement',
  'cert_sign',
  'crl_sign',
  'encipher_only',
  'decipher_only',
] as const;

const extendedKeyUsageNames: ReadonlyMap<string, string> = new Map([
  ['1.3.6.1.5.5.7.3.1', 'server_auth'],
  ['1.3.6.1.5.5.7.3.2', 'client_auth'],
  ['1.3.6.1.5.5.7.3.3', 'code_signing'],
  ['1.3.6.1.5.5.7.3.4', 'email_protection'],
  ['1.3.6.1.5.5.7.3.8', 'time_stamping'],
  ['1.3.6.1.5.5.7.3.9', 'ocsp_signing'],
  ['2.5.29.37.0', 'any'],
]);

const oidKeyUsage = '2.5.29.15';
const oidSubjectAlternativeName = '2.5.29.17';
const tagDnsName = 0x82;
const tagIpAddress = 0x87;
const hostName = /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Throws if a field cannot be shown, such as a name with a NUL in it. */
export function readCertificateFacts(certificate: X509Certificate, privateKeyType: PrivateKeyType): CertificateFacts {
  const { subject, issuer } = certificate.toLegacyObject();
  const alternativeNames = readAlternativeNames(certificate);
  const subjectCommonName = pick(subject.CN, -1);
  const { notBefore, notAfter } = readValidity(certificate);
  return {
    subjectCommonName,
    subjectAlternativeNames: alternativeNames,
    notBefore: toTimestamp(notBefore.getTime()),
    notAfter: toTimestamp(notAfter.getTime()),
    keyUsages: readKeyUsages(certificate),
    // Node calls the extended key usages by the name of the plain ones.
    extendedKeyUsages: (certificate.keyUsage ?? []).map((oid) => extendedKeyUsageNames.get(oid) ?? oid),
    privateKeyType,
    issuerCommonName: pick(issuer.CN, -1),
    serialNumber: padToBytes(certificate.serialNumber.toLowerCase()),
    subjectOrganization: pick(subject.O, 0),
    subjectOrganizationalUnit: pick(subject.OU, 0),
    subjectLocality: pick(subject.L, 0),
    subjectProvince: pick(subject.ST, 0),
    subjectCountry: pick(subject.C, 0),
    names: servableNames(alternativeNames, subjectCommonName),
  };
}

/** Clients look at the common name only if there is no alternative name. */
function servableNames(names: CertificateFacts['subjectAlternativeNames'], commonName: string): string[] {
  const candidates = names.dnsNames.length + names.ips.length > 0 ? names.dnsNames : [commonName];
  const lowered = candidates.map((name) => name.toLowerCase());
  return [...new Set(lowered)].filter((name) => name.length <= 253 && hostName.test(name));
}

function readAlternativeNames(certificate: X509Certificate): { dnsNames: string[]; ips: string[] } {
  const value = findExtension(certificate, oidSubjectAlternativeName);
  const names = value === undefined ? [] : readDer(onlyElement(readDer(value)).content);
  return {
    dnsNames: names.filter(({ tag }) => tag === tagDnsName).map(({ content }) => shown(content.toString('latin1'))),
    ips: names.filter(({ tag }) => tag === tagIpAddress).map(({ content }) => readIp(content)),
  };
}

function readIp(bytes: Buffer): string {
  if (bytes.length !== 4 && bytes.length !== 16) throw new RangeError('an IP address of another length');
  const word = (index: number) => (index * 4 < bytes.length ? bytes.readInt32BE(index * 4) : 0);
  return formatIp({
    family: bytes.length === 4 ? 4 : 6,
    word0: word(0),
    word1: word(1),
    word2: word(2),
    word3: word(3),
  });
}

function readKeyUsages(certificate: X509Certificate): string[] {
  const value = findExtension(certificate, oidKeyUsage);
  if (value === undefined) return [];
  const bits = onlyElement(readDer(value)).content.subarray(1);
  return keyUsageNames.filter((_, bit) => ((bits[bit >>> 3] ?? 0) & (0x80 >>> (bit & 7))) !== 0);
}

/** An attribute that stands several times is a list. */
function pick(value: string | readonly string[] | undefined, index: number): string {
  return shown(typeof value === 'object' ? (value.at(index) ?? '') : (value ?? ''));
}

function shown(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new RangeError('a control character in a name');
  return text.toWellFormed();
}

function padToBytes(hex: string): string {
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}
