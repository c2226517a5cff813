import assert from 'node:assert/strict';
import { test } from 'node:test';

import { whyNotPublic } from './public-name.ts';

test('a name of the public DNS may have a certificate, with a wildcard or without', () => {
  for (const name of [
    'a.gatehouse-app.net',
    '*.gatehouse-app.net',
    'xn--bcher-kva.ch',
    'A.Gatehouse-App.NET',
    'a-b.co.uk',
  ]) {
    assert.equal(whyNotPublic(name), undefined, name);
  }
});

test('no other name may', () => {
  const hidden = [
    'localhost',
    'shop',
    '*.localhost',
    'a.local',
    'a.test',
    'a.b.example',
    'a.example.com',
    'example.org',
    'a.home.arpa',
    'a.internal',
    'a.lan',
    'a.onion',
    '127.0.0.1',
    '::1',
    '1.2.3',
    'a_b.gatehouse-app.net',
    '-a.gatehouse-app.net',
    'a..net',
    '*',
    '',
    `${'a'.repeat(64)}.net`,
    `${'a.'.repeat(127)}net`,
  ];
  for (const name of hidden) assert.notEqual(whyNotPublic(name), undefined, name);
});
