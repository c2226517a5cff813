import type { X509Certificate } from 'node:crypto';

/** Tags of the ASN.1 types that certificates are made of. */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export interface DerNode {
  readonly tag: number;
  readonly content: Buffer;
}

/** Reads the elements of `bytes`, one after another. Throws on anything but definite lengths and low tags. */
export function readDer(bytes: Buffer): DerNode[] {
  const nodes: DerNode[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    const { length, start } = readLength(bytes, at + 1);
    if ((tag & 0x1f) === 0x1f || start + length > bytes.length) throw new RangeError('not DER');
    nodes.push({ tag, content: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return nodes;
}

function readLength(bytes: Buffer, at: number): { length: number; start: number } {
  const first = bytes[at];
  if (first === undefined) throw new RangeError('not DER');
  if (first < 0x80) return { length: first, start: at + 1 };
  const size = first & 0x7f;
  if (size === 0 || size > 4 || at + 1 + size > bytes.length) throw new RangeError('not DER');
  return { length: bytes.readUIntBE(at + 1, size), start: at + 1 + size };
}

export function writeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag), writeLength(content.length), content]);
}

function writeLength(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  if (length < 0x100) return Uint8Array.of(0x81, length);
  if (length < 0x10000) return Uint8Array.of(0x82, length >>> 8, length & 0xff);
  throw new RangeError('no certificate is this long');
}

export function writeOid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return writeDer(derTag.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** Writes a positive integer from its big-endian bytes. */
export function writePositiveInteger(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? Uint8Array.of(0) : bytes.subarray(start);
  const sign = (digits[0] ?? 0) >= 0x80 ? Uint8Array.of(0) : new Uint8Array();
  return writeDer(derTag.integer, sign, digits);
}

export function writeBitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return writeDer(derTag.bitString, Uint8Array.of(unusedBits), bytes);
}

/** X.509 requires two-digit years before 2050 and four-digit ones after. */
export function writeTime(time: Date): Buffer {
  const digits = time.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return time.getUTCFullYear() < 2050
    ? writeDer(derTag.utcTime, Buffer.from(`${digits.slice(2)}Z`))
    : writeDer(derTag.generalizedTime, Buffer.from(`${digits}Z`));
}

/** Context tag [3] of a certificate's signed part. */
const extensionsTag = 0xa3;

/**
 * The value of an extension, as DER. The path is: certificate → to be signed → [3] → extensions, each an OID, a flag that
 * may be missing and an OCTET STRING.
 */
export function findExtension(certificate: X509Certificate, oidText: string): Buffer | undefined {
  const oid = writeOid(oidText);
  const [toBeSigned] = readDer(onlyElement(readDer(certificate.raw)).content);
  const holder = readDer(toBeSigned?.content ?? Buffer.alloc(0)).find(({ tag }) => tag === extensionsTag);
  if (holder === undefined) return undefined;
  const wanted = readDer(onlyElement(readDer(holder.content)).content).find(({ content }) =>
    content.subarray(0, oid.length).equals(oid),
  );
  return wanted === undefined
    ? undefined
    : readDer(wanted.content).find(({ tag }) => tag === derTag.octetString)?.content;
}

/** The single element of a list that must have one. */
export function onlyElement(nodes: readonly DerNode[]): DerNode {
  const [node] = nodes;
  if (node === undefined || nodes.length > 1) throw new RangeError('not one element');
  return node;
}
