import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { controlSequence, oneLine, toTerminal, withPrintableTexts } from './terminal-text.ts';

const control =
  /[^\P{Cc}\n\t]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/u;
const text = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0x2000, max: 0x2070 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\u061c', '\ufeff', '\ufff9', '\\u009b', '\\u202e'),
  ),
});

test('no control character of any text is printed, but line ends and tabs; sequences of our own are', () => {
  fc.assert(
    fc.property(text, (given) => {
      assert.doesNotMatch(toTerminal(given).replaceAll('\r\n', ''), control);
      assert.doesNotMatch(oneLine(given), /\p{Cc}/u);
      const red = controlSequence('31m') + given + controlSequence('0m');
      assert.equal(toTerminal(red), `\u001b[31m${toTerminal(given)}\u001b[0m`);
    }),
  );
  assert.equal(toTerminal('a\u001b[2J\u009b1m\r\nb\rc\t\u0001'), 'a\\u001b[2J\\u009b1m\r\nb\\u000dc\t\\u0001');
  assert.equal(oneLine('a\nb\u2028c'), 'a\\u000ab\\u2028c');
  for (const code of [0x202e, 0x2028, 0x2066, 0x200f, 0x061c, 0xfeff]) {
    const escaped = String.raw`a\u${code.toString(16).padStart(4, '0')}b`;
    const given = `a${String.fromCharCode(code)}b`;
    assert.deepEqual([toTerminal(given), oneLine(given)], [escaped, escaped]);
  }
  assert.equal(toTerminal('é שלום 👩‍👩‍👧'), 'é שלום 👩‍👩‍👧', 'words and joined characters stay');
});

test('JSON says the same after it, names of fields included', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (given) => {
      const value = { ...given };
      assert.deepEqual(JSON.parse(toTerminal(JSON.stringify(value, undefined, 2))), value);
    }),
  );
});

test('texts of a line of the log hold no control character once it is read', () => {
  fc.assert(
    fc.property(text, (given) => {
      const { message } = JSON.parse(withPrintableTexts(JSON.stringify({ message: given })));
      assert.doesNotMatch(message, control);
      const withoutControls = given.replaceAll(new RegExp(control, 'gu'), '');
      assert.equal(JSON.parse(withPrintableTexts(JSON.stringify(withoutControls))), withoutControls);
    }),
  );
});
