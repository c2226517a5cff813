import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { encodeBase62 } from './base62.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('bytes are written as one big-endian number in base 62, padded with zeros', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 32 }), (bytes) => {
      const value = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
      const text = encodeBase62(bytes, 43);
      assert.equal(text.length, 43);
      assert.equal(
        Array.from(text).reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n),
        value,
      );
    }),
  );
});
