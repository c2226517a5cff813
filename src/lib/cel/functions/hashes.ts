import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const mask = 0xff_ff_ff_ff_ff_ff_ff_ffn;

/** The polynomial of ISO 3309, reversed. */
const isoPolynomial = 0xd8_00_00_00_00_00_00_00n;
const isoTable = BigUint64Array.from({ length: 256 }, (_, byte) => {
  let sum = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) sum = (sum & 1n) === 1n ? (sum >> 1n) ^ isoPolynomial : sum >> 1n;
  return sum;
});

function crc64(bytes: Uint8Array): bigint {
  let sum = mask;
  for (const byte of bytes) sum = (isoTable[Number((sum ^ BigInt(byte)) & 0xffn)] ?? 0n) ^ (sum >> 8n);
  return sum ^ mask;
}

const [prime1, prime2, prime3, prime4, prime5] = [
  0x9e_37_79_b1_85_eb_ca_87n,
  0xc2_b2_ae_3d_27_d4_eb_4fn,
  0x16_56_67_b1_9e_37_79_f9n,
  0x85_eb_ca_77_c2_b2_ae_63n,
  0x27_d4_eb_2f_16_56_67_c5n,
] as const;

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & mask;
}

function round(sum: bigint, input: bigint): bigint {
  return (rotate((sum + input * prime2) & mask, 31n) * prime1) & mask;
}

function merge(sum: bigint, lane: bigint): bigint {
  return ((sum ^ round(0n, lane)) * prime1 + prime4) & mask;
}

function xxhash64(given: Uint8Array): bigint {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.length);
  let at = 0;
  let sum: bigint = prime5;
  if (bytes.length >= 32) {
    const lanes = [(prime1 + prime2) & mask, prime2, 0n, -prime1 & mask];
    for (; at <= bytes.length - 32; at += 32) {
      lanes.forEach((lane, index) => (lanes[index] = round(lane, bytes.readBigUInt64LE(at + index * 8))));
    }
    const turns = [1n, 7n, 12n, 18n];
    sum = lanes.reduce((all, lane, index) => (all + rotate(lane, turns[index] ?? 0n)) & mask, 0n);
    for (const lane of lanes) sum = merge(sum, lane);
  }
  sum = (sum + BigInt(bytes.length)) & mask;
  for (; at <= bytes.length - 8; at += 8)
    sum = (rotate(sum ^ round(0n, bytes.readBigUInt64LE(at)), 27n) * prime1 + prime4) & mask;
  if (at <= bytes.length - 4) {
    sum = (rotate(sum ^ ((BigInt(bytes.readUInt32LE(at)) * prime1) & mask), 23n) * prime2 + prime3) & mask;
    at += 4;
  }
  for (; at < bytes.length; at++) sum = (rotate(sum ^ ((BigInt(bytes[at] ?? 0) * prime5) & mask), 11n) * prime1) & mask;
  sum = ((sum ^ (sum >> 33n)) * prime2) & mask;
  sum = ((sum ^ (sum >> 29n)) * prime3) & mask;
  return sum ^ (sum >> 32n);
}

function bytesOf(value: bigint, length: number): Buffer {
  return Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex');
}

/** Digests by name. `units` is the work of one byte. */
export const digests: Readonly<Record<string, { readonly units: number; readonly of: (bytes: Uint8Array) => Buffer }>> =
  {
    ...Object.fromEntries(
      ['md5', 'sha1', 'sha256', 'sha512'].map((name) => [
        name,
        { units: 1 / 8, of: (bytes: Uint8Array) => createHash(name).update(bytes).digest() },
      ]),
    ),
    crc32: { units: 1 / 64, of: (bytes) => bytesOf(BigInt(crc32(bytes)), 4) },
    crc64: { units: 10, of: (bytes) => bytesOf(crc64(bytes), 8) },
    xxhash64: { units: 5, of: (bytes) => bytesOf(xxhash64(bytes), 8) },
  };
