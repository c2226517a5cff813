import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';
import { parse } from 'yaml';

import { toPrintableYaml } from './printable-yaml.ts';

const hidden =
  /[^\P{Cc}\n]|[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/u;
const text = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
    fc.integer({ min: 0x2000, max: 0x2070 }).map((code) => String.fromCharCode(code)),
    fc.constantFrom('\u061c', '\ufeff', '\ufff9', '\\u009b', '\\u202e'),
  ),
});

test('YAML that is printed says the same after it, in texts, names and lists', () => {
  fc.assert(
    fc.property(
      fc.dictionary(
        text,
        text.filter((each) => !each.includes('${')),
      ),
      (given) => {
        const value = { ...given, list: Object.values(given) };
        const printed = toPrintableYaml(value);
        assert.deepEqual(parse(printed), value);
        assert.doesNotMatch(printed.replaceAll('\t', ''), hidden);
      },
    ),
  );
});
