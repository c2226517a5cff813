import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { refusalOf } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { mostSteps, userAgentFilter } from './index.ts';
import { Matcher } from './matcher.ts';

function refuses(settings: { readonly allow?: string[]; readonly deny?: string[] }, ...headers: readonly string[]) {
  return refusalOf(userAgentFilter.build(userAgentFilter.accept(settings)), { headers })?.code;
}

/** Whether one of the patterns matches, and how many steps that took of so many. */
function match(patterns: readonly string[], text: string, most: number) {
  const budget = { left: most };
  const isFound = new Matcher(patterns).matches(text, budget);
  return { isFound, steps: most - budget.left, left: budget.left };
}

const matches = (pattern: string, text: string) => match([pattern], text, 1e9).isFound;

test('a denied agent is refused, and where some are allowed, all others are', () => {
  assert.equal(refuses({ deny: ['curl/\\d'] }, 'User-Agent', 'curl/8.1'), 20152);
  assert.equal(refuses({ deny: ['curl/\\d'] }, 'User-Agent', 'Mozilla/5.0'), undefined);
  assert.equal(refuses({ deny: ['curl'] }), undefined);
  assert.equal(refuses({ allow: ['^Mozilla/'] }, 'user-agent', 'Mozilla/5.0'), undefined);
  assert.equal(refuses({ allow: ['^Mozilla/'] }, 'user-agent', 'curl/8.1'), 20152);
  assert.equal(refuses({ allow: ['^Mozilla/'] }), 20152, 'a request that names none');
  assert.equal(refuses({ allow: ['bot'], deny: ['evil'] }, 'User-Agent', 'evil bot'), 20152);
});

test('a denied agent does not get in behind an allowed one, or behind a long text', () => {
  assert.equal(refuses({ deny: ['evil'] }, 'User-Agent', 'good', 'User-Agent', 'evil'), 20152);
  assert.equal(refuses({ deny: ['evil'] }, 'User-Agent', 'x'.repeat(1025)), 20152);
  assert.equal(refuses({ deny: ['evil'] }, 'User-Agent', 'x'.repeat(1024)), undefined);
});

test('patterns that are not offered are refused with the reason', () => {
  for (const pattern of [
    '(a)\\1',
    '(?=a)',
    '(?<n>a)',
    '\\bword',
    'a**',
    'a{2}{3}',
    '(',
    'a)',
    '[a',
    '[b-a]',
    '*a',
    '^*',
    'a{3,2}',
    '(a{500}){500}',
    '(((((){999}){999}){999}){999})',
    '('.repeat(100),
    'a\\',
  ]) {
    assert.throws(
      () => userAgentFilter.accept({ allow: [pattern] }),
      (error) => error instanceof UserError && error.code === 20155,
      pattern,
    );
  }
});

test('patterns match as regular expressions do', () => {
  const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\W', '(a|b)', '(?:ab|)', '^', '$', '[a-c-]');
  const times = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}', '{0,}', '*?');
  const part = fc.tuple(atom, times).map(([what, many]) => (what === '^' || what === '$' ? what : what + many));
  const pattern = fc
    .array(
      fc.array(part, { maxLength: 5 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((ways) => ways.join('|'));
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', ' ', '-'), { maxLength: 8 }).map((each) => each.join(''));
  fc.assert(
    fc.property(pattern, text, (source, sample) => matches(source, sample) === new RegExp(source).test(sample)),
    { numRuns: 5000 },
  );
});

test('what may be missing at either end of a pattern takes no steps', () => {
  const sizeOf = (pattern: string) => new Matcher([pattern]).size;
  assert.equal(sizeOf('.*bot.*'), sizeOf('bot'));
  assert.equal(sizeOf('a?b{0,9}x(c|d)*|.*'), sizeOf('x|'));
  assert.notEqual(sizeOf('^.*bot'), sizeOf('^bot'));
});

test('case is ignored where the pattern says so', () => {
  assert.equal(matches('(?i)BOT[a-c]', 'a botB'), true);
  assert.equal(matches('BOT', 'bot'), false);
});

test('a repeated header is refused, whatever it says', () => {
  assert.equal(refuses({ deny: ['evil'] }, 'User-Agent', 'good', 'user-agent', 'good'), 20152);
});

test('an upgraded connection that is checked again when rules change costs nothing', () => {
  const part = userAgentFilter.build(userAgentFilter.accept({ deny: ['evil'] }));
  let reads = 0;
  const headers = new Proxy(['User-Agent', 'good'], {
    get: (list, key) => (reads++, Reflect.get(list, key) as unknown),
  });
  assert.equal(refusalOf(part, { headers }), undefined);
  assert.ok(reads > 0);
  reads = 0;
  assert.equal(refusalOf(part, { headers }), undefined);
  assert.equal(reads, 0);
});

const longest = 'ab'.repeat(512);
/** Each keeps nearly all of its steps busy at each character. */
const expensive = ['(?:[ab]?){19}[cd]', '[ab]*a[ab]{36}[cd]', '^(((a|b)+)+)+(ab|a|b)+$c'];

test('a character takes no more steps than the patterns have', () => {
  for (const pattern of expensive) {
    const matcher = new Matcher([pattern]);
    const { isFound, steps } = match([pattern], longest, 1e9);
    assert.equal(isFound, false);
    assert.ok(steps <= matcher.size * (longest.length + 1), `${pattern}: ${steps}`);
  }
});

test('all patterns share the steps of a request, which is refused when they are spent', () => {
  for (const pattern of expensive) {
    const many = Array.from({ length: Math.min(64, 3900 / new Matcher([pattern]).size) }, () => pattern);
    assert.ok(match(many, longest, 1e9).steps > mostSteps, pattern);
    assert.deepEqual(match(many, longest, mostSteps), { isFound: false, steps: mostSteps, left: 0 });
    const half = many.length / 2;
    const [allow, deny] = [many.slice(0, half), many.slice(half)];
    assert.equal(refuses({ deny: many }, 'User-Agent', longest), 20152);
    assert.equal(refuses({ allow: [...allow, 'ab'], deny }, 'User-Agent', longest), 20152, 'one of them matches');
  }
});

test('128 usual patterns take a small part of the steps', () => {
  const bots = Array.from({ length: 128 }, (_, at) => `(?i)${['crawler', '.*curl/.*', 'spider.*'][at % 3]}${at}.*`);
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36';
  const { steps } = match(bots, agent.padEnd(300, ' Edg/130.0'), 1e9);
  assert.ok(steps < mostSteps / 5, `${steps}`);
});

test('patterns that have too many steps together are refused by the one that is too many', () => {
  const pattern = (at: number) => `${String(at).padStart(2, '0')}${'x'.repeat(60)}`;
  const [allow, deny] = [
    Array.from({ length: 32 }, (_, at) => pattern(at)),
    Array.from({ length: 31 }, (_, at) => pattern(at)),
  ];
  assert.ok(userAgentFilter.accept({ allow, deny }));
  assert.throws(
    () => userAgentFilter.accept({ allow, deny: [...deny, pattern(99)] }),
    (error) => error instanceof UserError && error.code === 20155 && /"99xx.*more than 4000 steps/.test(error.message),
  );
});
