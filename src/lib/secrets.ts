import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

import { encodeBase62 } from './base62.ts';

const secretBytes = 32;
/** 256 bits need 43 characters of base 62. */
const secretLength = 43;

/** 256 random bits in base62. */
export function newSecret(): string {
  return encodeBase62(randomBytes(secretBytes), secretLength);
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compared with when there is nothing to compare with, so that both cases take the same path. */
const noHash = randomBytes(32);

/** Constant time; false, after the same work, when there is no stored hash. */
export function secretMatches(secret: string, storedHash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(hashSecret(secret), storedHash ?? noHash);
  return equal && storedHash !== undefined;
}
