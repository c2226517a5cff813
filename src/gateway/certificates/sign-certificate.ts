import { createHash, randomBytes, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

import { derTag, readDer, writeBitString, writeDer, writeOid, writePositiveInteger, writeTime } from '../../lib/der.ts';
import { parseIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { writePem } from '../../lib/pem.ts';

/** The content of a certificate, before it is signed with ECDSA and SHA-256. */
export interface CertificateContent {
  /** A Name in DER, so that it is equal to the issuer's subject to the byte. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Uint8Array[];
}

const signAsync = promisify(sign);
const ecdsaWithSha256 = writeDer(derTag.sequence, writeOid('1.2.840.10045.4.3.2'));
const version3 = writeDer(0xa0, writePositiveInteger(Uint8Array.of(2)));
const serialBytes = 16;

/** Returns the certificate as PEM. */
export async function signCertificate(content: CertificateContent, issuerKey: KeyObject): Promise<string> {
  const toBeSigned = writeDer(
    derTag.sequence,
    version3,
    randomSerial(),
    ecdsaWithSha256,
    content.issuer,
    writeDer(derTag.sequence, writeTime(content.notBefore), writeTime(content.notAfter)),
    content.subject,
    publicKeyDer(content.publicKey),
    writeDer(0xa3, writeDer(derTag.sequence, ...content.extensions)),
  );
  const signature = await signAsync('sha256', toBeSigned, issuerKey);
  return writePem('CERTIFICATE', writeDer(derTag.sequence, toBeSigned, ecdsaWithSha256, writeBitString(signature)));
}

/** A Name with a common name only, or an empty one. */
export function writeName(commonName: string | undefined): Buffer {
  if (commonName === undefined) return writeDer(derTag.sequence);
  const text = writeDer(derTag.utf8String, Buffer.from(commonName));
  return writeDer(derTag.sequence, writeDer(derTag.set, writeDer(derTag.sequence, writeOid('2.5.4.3'), text)));
}

export function basicConstraints(authority: boolean): Buffer {
  // A path length of 0: this authority signs leaves and no further authority.
  const yes = [writeDer(derTag.boolean, Uint8Array.of(0xff)), writePositiveInteger(Uint8Array.of(0))];
  return extension('2.5.29.19', writeDer(derTag.sequence, ...(authority ? yes : [])), true);
}

/** The bits from the highest down, see RFC 5280, 4.2.1.3. */
export const keyUsageBits = { digitalSignature: 0x80, certSign: 0x04, crlSign: 0x02 } as const;

export function keyUsage(bits: number): Buffer {
  const unusedBits = 31 - Math.clz32(bits & -bits);
  return extension('2.5.29.15', writeBitString(Uint8Array.of(bits), unusedBits), true);
}

export function serverAuthUsage(): Buffer {
  return extension('2.5.29.37', writeDer(derTag.sequence, writeOid(serverAuthOid)));
}

/** For either end of a connection between processes. */
export function peerAuthUsage(): Buffer {
  return extension('2.5.29.37', writeDer(derTag.sequence, writeOid(serverAuthOid), writeOid('1.3.6.1.5.5.7.3.2')));
}

const serverAuthOid = '1.3.6.1.5.5.7.3.1';

/** For a name or an IP address. Must be critical where the subject is empty and only this extension has the name. */
export function alternativeName(name: string, critical: boolean): Buffer {
  const ip = parseIp(name);
  const value = ip === undefined ? writeDer(0x82, Buffer.from(name, 'ascii')) : writeDer(0x87, ipBytes(ip));
  return extension('2.5.29.17', writeDer(derTag.sequence, value), critical);
}

/** For a URI, as the only name of a certificate whose subject is empty. */
export function alternativeUri(uri: string): Buffer {
  return extension('2.5.29.17', writeDer(derTag.sequence, writeDer(0x86, Buffer.from(uri, 'ascii'))), true);
}

function ipBytes({ family, word0, word1, word2, word3 }: IpAddress): Buffer {
  const bytes = Buffer.alloc(16);
  [word0, word1, word2, word3].forEach((word, at) => bytes.writeInt32BE(word, at * 4));
  return family === 4 ? bytes.subarray(0, 4) : bytes;
}

export function subjectKeyIdentifier(publicKey: KeyObject): Buffer {
  return extension(subjectKeyIdentifierOid, writeDer(derTag.octetString, keyIdentifier(publicKey)));
}

export const subjectKeyIdentifierOid = '2.5.29.14';

export function authorityKeyIdentifier(identifier: Uint8Array): Buffer {
  return extension('2.5.29.35', writeDer(derTag.sequence, writeDer(0x80, identifier)));
}

/** RFC 7093, method 1: 160 bits of the SHA-256 of the key's bit string. */
export function keyIdentifier(publicKey: KeyObject): Buffer {
  const [info] = readDer(publicKeyDer(publicKey));
  const bits = readDer(info?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === derTag.bitString);
  const key = bits?.content.subarray(1) ?? Buffer.alloc(0);
  return createHash('sha256').update(key).digest().subarray(0, 20);
}

function extension(oid: string, value: Buffer, critical = false): Buffer {
  const flag = critical ? [writeDer(derTag.boolean, Uint8Array.of(0xff))] : [];
  return writeDer(derTag.sequence, writeOid(oid), ...flag, writeDer(derTag.octetString, value));
}

function publicKeyDer(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: 'spki', format: 'der' });
}

/** A serial number must be positive and not zero: the top bits are 01. */
function randomSerial(): Buffer {
  const serial = randomBytes(serialBytes);
  serial.writeUInt8((serial.readUInt8(0) & 0x3f) | 0x40, 0);
  return writePositiveInteger(serial);
}
