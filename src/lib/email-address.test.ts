import assert from 'node:assert/strict';
import { test } from 'node:test';

import { comparableEmail } from './email-address.ts';

test('addresses are the same without regard to A to Z, and in nothing else', () => {
  assert.equal(comparableEmail('Mike.O@Example.COM'), 'mike.o@example.com');
  // Long s has a small form only: the rules of Unicode make it an "S", and that an "s".
  const others = [
    'mi\u212Ae@example.com',
    'm\u0130ke@example.com',
    'ÉVA@example.com',
    'mike@\uFF25xample.com',
    '\u017Fue@example.com',
  ];
  for (const other of others) assert.equal(comparableEmail(other.replace('VA', 'va')), other.replace('VA', 'va'));
  assert.equal(comparableEmail('Éva@Example.com'), comparableEmail('Éva@example.COM'));
});
