import assert from 'node:assert/strict';
import { test } from 'node:test';

import { qrCode, qrLines } from './qr-code.ts';

test('an address is the code that cameras read', () => {
  // As zbar has read it.
  const lines = [
    '                                 ',
    '  █▀▀▀▀▀█  ▀▄▄█▄▄█▀ ▄█▀ █▀▀▀▀▀█  ',
    '  █ ███ █ ▀██▄▀ ▀▄▄   █ █ ███ █  ',
    '  █ ▀▀▀ █  ▄▀    █▀▀███ █ ▀▀▀ █  ',
    '  ▀▀▀▀▀▀▀ █▄█ █▄█▄▀▄▀▄▀ ▀▀▀▀▀▀▀  ',
    '  ██▀▄▀▀▀▀▀ ██  ▀▀ ▀   ██▄ ▄▀ ▄  ',
    '    ▀▀▄▄▀█ ▀ ▄ ▀  ▀▄ ▄ ▀  ▀ ▀█▀  ',
    '     █▀▄▀▀▄  ▄█▄ ▀ ▀   ▀█  █ ▀█  ',
    '  ▄███▄█▀▄█▄▄▀█▄█▄██▄▄▄ █ ▄█ █▀  ',
    '  ▀ ▀ █ ▀▄█▀▀█  █ ▄█ ▀▀▀█  █▄▀█  ',
    '  ▀▄ ██▀▀▀▀▀▄▄ ▀   ██▄▄█▀██▄ █▀  ',
    '  ▀  ▀ ▀▀▀█▀█▄█▄  ▄█ ▄█▀▀▀█ ▄▄▄  ',
    '  █▀▀▀▀▀█ █▄ ▀█▄█ ▄▄█▀█ ▀ ██ ██  ',
    '  █ ███ █ ▀▀██  █▀█▀ ▄█▀▀██ ▄██  ',
    '  █ ▀▀▀ █ ██ ▄ ▀ ▄▀▄ █▄ ▄▀█▀ ▄▀  ',
    '  ▀▀▀▀▀▀▀ ▀   ▀  ▀▀▀ ▀▀▀     ▀▀  ',
    '                                 ',
  ];
  assert.deepEqual(qrLines('https://kind-stone-1187.localhost:8443'), lines);
});

test('a code is as small as the text allows, and a text beyond the fifth version has none', () => {
  const sizes = { 17: 21, 18: 25, 32: 25, 33: 29, 53: 29, 54: 33, 78: 33, 79: 37, 106: 37 };
  for (const [bytes, size] of Object.entries(sizes)) {
    const rows = qrCode('x'.repeat(Number(bytes)));
    assert.deepEqual([rows?.length, rows?.[0]?.length], [size, size], bytes);
  }
  assert.equal(qrCode('x'.repeat(107)), undefined);
  assert.equal(qrCode('é'.repeat(54)), undefined);
});
