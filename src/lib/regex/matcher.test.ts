import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { rounds } from '../../../test/support/long-form.ts';
import { Matcher } from './matcher.ts';
import { Regex } from './regex.ts';

const matcherOf = (...patterns: readonly string[]) => new Matcher(patterns, 0, (_, error) => error);

/** Whether one of the patterns matches, and how many steps that took of so many. */
function match(patterns: readonly string[], text: string, most: number) {
  const budget = { left: most };
  const isFound = matcherOf(...patterns).matches(text, budget);
  return { isFound, steps: most - budget.left, left: budget.left };
}

const matches = (pattern: string, text: string) => match([pattern], text, 1e9).isFound;

test('patterns match as regular expressions do', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '\\W',
    '(a|b)',
    '(?:ab|)',
    '^',
    '$',
    '[a-c-]',
    '\\b',
    '(?i:A)',
  );
  const times = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '*?');
  const part = fc.tuple(atom, times).map(([what, many]) => (['^', '$', '\\b'].includes(what) ? what : what + many));
  const pattern = fc
    .array(
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((ways) => ways.join('|'));
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', ' ', '-'), { maxLength: 8 }).map((each) => each.join(''));
  fc.assert(
    fc.property(pattern, text, (source, sample) => {
      const found = matches(source, sample);
      assert.equal(found, new RegExp(source, 'u').test(sample));
      assert.equal(
        found,
        new Regex(source).test(sample, () => {}),
      );
    }),
    { numRuns: rounds(1500, 50_000) },
  );
});

test('what may be missing at either end of a pattern takes no steps', () => {
  const sizeOf = (pattern: string) => matcherOf(pattern).size;
  assert.equal(sizeOf('.*bot.*'), sizeOf('bot'));
  assert.equal(sizeOf('a?b{0,9}x(c|d)*|.*'), sizeOf('x|'));
  assert.notEqual(sizeOf('^.*bot'), sizeOf('^bot'));
});

test('case is ignored where the pattern says so', () => {
  assert.equal(matches('(?i)BOT[a-c]', 'a botB'), true);
  assert.equal(matches('BOT', 'bot'), false);
});

const longest = 'ab'.repeat(512);
/** Each keeps nearly all of its steps busy at each character. */
const expensive = ['(?:[ab]?){19}[cd]', '[ab]*a[ab]{36}[cd]', '^(((a|b)+)+)+(ab|a|b)+$c', '(?:\\b|[ab])+[cd]'];

test('a character takes no more steps than the patterns have', () => {
  for (const pattern of expensive) {
    const matcher = matcherOf(pattern);
    const { isFound, steps } = match([pattern], longest, 1e9);
    assert.equal(isFound, false);
    assert.ok(steps <= matcher.size * (longest.length + 1), `${pattern}: ${steps}`);
  }
});

test('128 usual patterns take a small part of the steps', () => {
  const bots = Array.from({ length: 128 }, (_, at) => `(?i)${['crawler', '.*curl/.*', 'spider.*'][at % 3]}${at}.*`);
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
  const { steps } = match(bots, agent.padEnd(300, ' Edg/130.0'), 1e9);
  assert.ok(steps < 10_000, `${steps}`);
});

test('one of several patterns is enough, whatever the others need before it', () => {
  for (const others of [['x'], ['x', '\\by'], ['^z', '(?m)^c$']]) {
    for (const [text, isFound] of [
      ['a b', true],
      ['b', true],
      ['a', false],
      ['', false],
    ] as const)
      assert.equal(match([...others, 'b'], text, 1e9).isFound, isFound, `${others.join(' or ')} in ${text}`);
  }
  assert.equal(matches('\\bbot\\b', 'a bot here'), true);
  assert.equal(matches('\\bbot\\b', 'robots'), false);
});
