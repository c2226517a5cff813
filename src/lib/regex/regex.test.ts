import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { PatternFault, Regex } from './regex.ts';

const free = (): void => {};

function groupsOf(pattern: string, text: string): readonly (string | undefined)[] | undefined {
  return new Regex(pattern).find(text, 0, free)?.groups;
}

const cases: readonly (readonly [string, string, readonly (string | undefined)[] | undefined])[] = [
  ['a(b|c)?d', 'xacd', ['acd', 'c']],
  ['a(b)?d', 'ad', ['ad', undefined]],
  ['(a+?)(a*)', 'aaa', ['aaa', 'a', 'aa']],
  [
    '^(?P<scheme>https?)://([^:/]+)(:[0-9]+)?\\/(.*)$',
    'https://h/x?y',
    ['https://h/x?y', 'https', 'h', undefined, 'x?y'],
  ],
  ['(?i)ABC|x', 'zabc', ['abc']],
  ['(?s).+', 'a\nb', ['a\nb']],
  ['.+', 'a\nb', ['a']],
  ['(?m)^b$', 'a\nb', ['b']],
  ['\\bfoo\\b', 'a foo b', ['foo']],
  ['[[:alpha:]]+', '12ab3', ['ab']],
  ['\\p{Greek}+', 'abcλμ', ['λμ']],
  ['\\Qa.b\\E', 'xa.bb', ['a.b']],
  ['x{2,3}', 'xxxx', ['xxx']],
  ['x{,3}', 'x{,3}', ['x{,3}']],
  ['😀.', '😀é', ['😀é']],
  ['[^a-c]', 'abcd', ['d']],
  ['z', 'abc', undefined],
];

for (const [pattern, text, groups] of cases) {
  test(`${pattern} in ${JSON.stringify(text)}`, () => {
    assert.deepEqual(groupsOf(pattern, text), groups);
  });
}

for (const pattern of [
  '(?=a)',
  '(?!a)',
  '(?<=a)b',
  '(a)\\1',
  '(',
  'a**',
  'a{2}{3}',
  'a*{2}',
  '[z-a]',
  'a{1001}',
  '\\k',
  '(?P<a>x)(?P<a>y)',
  '((x{900}){900})',
  '*',
]) {
  test(`${pattern} is not offered`, () => {
    assert.throws(() => new Regex(pattern), PatternFault);
  });
}

test('all matches are found, one behind the other', () => {
  const all = (pattern: string, text: string) =>
    new Regex(pattern).findAll(text, free).map(({ start, end }) => [start, end]);
  assert.deepEqual(all('a*', 'baac'), [
    [0, 0],
    [1, 3],
    [4, 4],
  ]);
  assert.deepEqual(all('b', 'abab'), [
    [1, 2],
    [3, 4],
  ]);
});

test('random patterns match as those of JavaScript do', () => {
  const { tree } = fc.letrec<{ tree: string }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '^', '$', '\\b', 'é'),
      fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => a + b),
      fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie('tree'), fc.constantFrom('*', '+', '?', '{1,2}', '*?', '+?')).map(([a, r]) => `(?:${a})${r}`),
    ),
  }));
  const property = fc.property(
    tree,
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '\n', ' '), maxLength: 12 }),
    (pattern, text) => {
      const own = new Regex(pattern).find(text, 0, free);
      const other = new RegExp(pattern, 'u').exec(text);
      // JavaScript goes on where a round of a repetition would be empty, RE2 does not.
      const mayBeEmpty = /[$?*^]|\\b/.test(pattern);
      assert.deepEqual(
        [own?.start, mayBeEmpty ? undefined : own?.end],
        [other?.index, mayBeEmpty || other === null ? undefined : other.index + other[0].length],
        `${pattern} in ${JSON.stringify(text)}`,
      );
    },
  );
  fc.assert(property, { numRuns: 2_000 });
});

test('a search that rests finds what one without a rest finds', () => {
  const pattern = fc.constantFrom('a', 'ab', '(a|b)*c', 'b+?', '(?:a?){9}b', 'c$', '^a', '(a)(b)?', '[^b]{2}');
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '😀'), maxLength: 400 });
  fc.assert(
    fc.property(pattern, text, fc.nat(300), (source, given, units) => {
      const regex = new Regex(source);
      const search = regex.search(given, 0, free, units + 1);
      let found = search.next();
      for (let rests = 0; found.done !== true; found = search.next()) assert.ok(rests++ < 10_000);
      assert.deepEqual(found.value, regex.find(given, 0, free));
    }),
  );
});

test('the work is linear, and told', () => {
  for (const pattern of ['(a*)*b', '(a|a)*b', '(a|aa)+$', 'a.{200}b', '(((a?){20}a{20})*)*c']) {
    const regex = new Regex(pattern);
    const workOf = (length: number): number => {
      let work = 0;
      regex.test('a'.repeat(length), (units) => (work += units));
      return work;
    };
    const ratio = workOf(4_000) / workOf(1_000);
    assert.ok(ratio < 5, `${pattern}: ${ratio}`);
  }
});

test('a search for a long text rests as others do, though the text nearly fits everywhere', () => {
  const text = 'a'.repeat(20_000);
  let units = 0;
  const search = new Regex(`${'a'.repeat(200)}b`).search(text, 0, (spent) => (units += spent), 1000);
  let rests = 0;
  while (search.next().done !== true) rests += 1;
  assert.ok(rests > 1000, `${rests} rests`);
  assert.ok(units > text.length * 200, `${units} units`);
});
