import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refusalOf } from '../../../test/support/step-visit.ts';
import { UserError } from '../../errors/user-error.ts';
import { Matcher } from '../../lib/regex/matcher.ts';
import { mostSteps, userAgentFilter } from './index.ts';

function refuses(settings: { readonly allow?: string[]; readonly deny?: string[] }, ...headers: readonly string[]) {
  return refusalOf(userAgentFilter.build(userAgentFilter.accept(settings)), { headers })?.code;
}

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
    '(?!a)',
    'a**',
    'a{2}{3}',
    '(',
    'a)',
    '[a',
    '[b-a]',
    '*a',
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

/** How many steps of so many the patterns take, and whether one matches. */
function match(patterns: readonly string[], text: string, most: number) {
  const budget = { left: most };
  const isFound = new Matcher(patterns, 0, (_, error) => error).matches(text, budget);
  return { isFound, steps: most - budget.left, left: budget.left };
}

const longest = 'ab'.repeat(512);
/** Each keeps nearly all of its steps busy at each character. */
const expensive = ['(?:[ab]?){19}[cd]', '[ab]*a[ab]{36}[cd]', '^(((a|b)+)+)+(ab|a|b)+$c'];

test('all patterns share the steps of a request, which is refused when they are spent', () => {
  for (const pattern of expensive) {
    const many = Array.from(
      { length: Math.min(64, 3900 / new Matcher([pattern], 0, (_, error) => error).size) },
      () => pattern,
    );
    assert.ok(match(many, longest, 1e9).steps > mostSteps, pattern);
    assert.deepEqual(match(many, longest, mostSteps), { isFound: false, steps: mostSteps, left: 0 });
    const half = many.length / 2;
    const [allow, deny] = [many.slice(0, half), many.slice(half)];
    assert.equal(refuses({ deny: many }, 'User-Agent', longest), 20152);
    assert.equal(refuses({ allow: [...allow, 'ab'], deny }, 'User-Agent', longest), 20152, 'one of them matches');
  }
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
