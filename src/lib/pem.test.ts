import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readPemBlocks, writePem } from './pem.ts';

const bytes = Buffer.from('a text that is longer than one line of PEM, which is 48 bytes');

test('what is written is read back, in lines of 64 characters', () => {
  const text = writePem('SOME THING', bytes) + writePem('OTHER', bytes.subarray(0, 48));
  assert.deepEqual(
    text.split('\n').map((line) => line.length),
    [26, 64, 20, 24, 21, 64, 19, 0],
  );
  assert.deepEqual(readPemBlocks(text), [
    { label: 'SOME THING', bytes, hasHeaders: false },
    { label: 'OTHER', bytes: bytes.subarray(0, 48), hasHeaders: false },
  ]);
});

test('header lines are told from the body', () => {
  const headers = 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,\n 00FF\n\n';
  const [block] = readPemBlocks(writePem('KEY', bytes).replace('\n', `\n${headers}`));
  assert.deepEqual(block, { label: 'KEY', bytes, hasHeaders: true });
});

test('a text without a BEGIN line has no blocks', () => {
  assert.deepEqual(readPemBlocks('hello'), []);
});

test('damage is refused with the line it is on', () => {
  const whole = writePem('KEY', bytes);
  const damages: readonly (readonly [string, RegExp])[] = [
    [whole.replace('-----END KEY-----', ''), /begins on line 1 has no END line/],
    [whole.replace('-----END KEY-----', '-----END CERTIFICATE-----'), /no END line/],
    [`\n ${whole}`, /line 2 is not a BEGIN line/],
    [whole.replaceAll('\n', ''), /line 1 holds a whole block: its line breaks are missing/],
    [whole.replace('YSB0', 'YSB!'), /not Base64/],
    [whole.replace('YSB0', 'YSB'), /cut short/],
    [whole.replace('\n', '\nYQ==\n'), /not Base64/],
    [whole.replace('YSB0', 'YSB\u0000'), /control characters/],
    [`note \ud800\n${whole}`, /control characters/],
  ];
  for (const [text, message] of damages) assert.throws(() => readPemBlocks(text), { name: 'PemError', message });
});
