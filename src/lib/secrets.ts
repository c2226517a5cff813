import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { encodeBase62 } from './base62.ts';
import { fillRandom } from './random-pool.ts';

const secretBytes = 32;
/** Characters of base 62 that 256 bits need. */
const secretLength = 43;

/** Makes 256 random bits, in base 62. */
export function newSecret(): string {
  const bytes = new Uint8Array(secretBytes);
  fillRandom(bytes);
  return encodeBase62(bytes, secretLength);
}

/** The hash in hexadecimal, as it is stored. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Dummy hash, so that unknown keys take the same time. */
const noHash = randomBytes(64);

/** Compares in constant time, also when there is no stored hash, and the answer is false. */
export function secretMatches(secret: string, storedHash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(Buffer.from(hashSecret(secret), 'latin1'), storedHash ?? noHash);
  return equal && storedHash !== undefined;
}
