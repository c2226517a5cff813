import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hashSecret, newSecret, secretMatchesAny } from './secrets.ts';

const secretMatches = (secret: string, stored: string | undefined) =>
  secretMatchesAny(secret, stored, undefined) || secretMatchesAny(secret, undefined, stored);

test('a secret has 256 random bits in base62', () => {
  const secrets = Array.from({ length: 100 }, newSecret);
  for (const secret of secrets) assert.match(secret, /^[0-9A-Za-z]{43}$/);
  assert.equal(new Set(secrets).size, 100);
});

test('a secret matches its own hash and no other', () => {
  const secret = newSecret();
  const stored = hashSecret(secret);
  assert.match(stored, /^[0-9a-f]{64}$/);
  assert.ok(secretMatches(secret, stored));
  assert.ok(!secretMatches(newSecret(), stored));
  assert.ok(!secretMatches(`${secret}x`, stored));
  assert.ok(!secretMatches('', stored));
  for (const [at, digit] of Array.from(stored).entries()) {
    const other = digit === '0' ? '1' : '0';
    assert.ok(!secretMatches(secret, stored.slice(0, at) + other + stored.slice(at + 1)), `differs at ${at}`);
  }
  assert.ok(!secretMatches(secret, stored.slice(0, 63)));
  assert.ok(!secretMatches(secret, `${stored}0`));
});

test('nothing matches where no hash is stored', () => {
  assert.ok(!secretMatches(newSecret(), undefined));
});

test('of two hashes either one is enough', () => {
  const [current, previous] = [newSecret(), newSecret()];
  const hashes = [hashSecret(current), hashSecret(previous)] as const;
  assert.ok(secretMatchesAny(current, ...hashes));
  assert.ok(secretMatchesAny(previous, ...hashes));
  assert.ok(!secretMatchesAny(newSecret(), ...hashes));
  assert.ok(!secretMatchesAny(current, undefined, undefined));
});
