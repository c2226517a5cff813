import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { encodeBase62 } from './base62.ts';
import { fillRandom } from './random-pool.ts';

const secretBytes = 32;
/** 256 bits need 43 characters of base 62. */
const secretLength = 43;

/** 256 random bits in base62. */
export function newSecret(): string {
  const bytes = new Uint8Array(secretBytes);
  fillRandom(bytes);
  return encodeBase62(bytes, secretLength);
}

/** As stored: in hexadecimal. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Compared with when there is nothing to compare with, so that both cases take the same path. */
const noHash = randomBytes(64);

/** Compares in constant time; false, after the same work, when there is no stored hash: the bytes of its text. */
export function secretMatches(secret: string, storedHash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(hashSecret(secret), 'latin1'), storedHash ?? noHash);
  return equal && storedHash !== undefined;
}
