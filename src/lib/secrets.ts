import { hash, randomBytes } from 'node:crypto';

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

const secretForm = new RegExp(`^[0-9A-Za-z]{${secretLength}}$`);

/** True for text that has the form of a secret. */
export function isSecret(text: string): boolean {
  return secretForm.test(text);
}

/** The hash under which a secret is stored: SHA-256 in hexadecimal. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

/** Dummy hash, so that unknown keys take the same time. */
const noHash = randomBytes(32).toString('hex');

export function secretMatchesAny(secret: string, first: string | undefined, second: string | undefined): boolean {
  return hashMatchesAny(hashSecret(secret), first, second);
}

/**
 * Whether the hash of a secret is one of the two stored ones. Compares with both in constant time, also where there is
 * none, in which case the answer is false.
 */
export function hashMatchesAny(hashed: string, first: string | undefined, second: string | undefined): boolean {
  const isFirst = equalHashes(hashed, first ?? noHash);
  const isSecond = equalHashes(hashed, second ?? noHash);
  return (isFirst && first !== undefined) || (isSecond && second !== undefined);
}

/**
 * Looks at every character of both, whatever they are. `timingSafeEqual` wants buffers, whose making costs more than the
 * rest of the comparison.
 */
function equalHashes(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
