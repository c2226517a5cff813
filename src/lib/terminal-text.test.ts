import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';
import { parse, stringify } from 'yaml';

import { controlSequence, oneLine, toTerminal, withPrintableTexts } from './terminal-text.ts';

const control = /[^\P{Cc}\n\t]/u;
const text = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
    fc.constant('\\u009b'),
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
});

test('JSON and YAML say the same after it, names of fields included', () => {
  fc.assert(
    fc.property(fc.dictionary(text, text), (given) => {
      const value = { ...given };
      assert.deepEqual(JSON.parse(toTerminal(JSON.stringify(value, undefined, 2))), value);
      assert.deepEqual(parse(toTerminal(stringify(value, { lineWidth: 0 }))), value);
    }),
  );
});

test('texts of a line of the log hold no control character once it is read', () => {
  fc.assert(
    fc.property(text, (given) => {
      const { message } = JSON.parse(withPrintableTexts(JSON.stringify({ message: given })));
      assert.doesNotMatch(message, control);
      const withoutControls = given.replaceAll(/[^\P{Cc}\n\t]/gu, '');
      assert.equal(JSON.parse(withPrintableTexts(JSON.stringify(withoutControls))), withoutControls);
    }),
  );
});
