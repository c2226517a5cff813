import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { UserError } from '../../errors/user-error.ts';
import { userAgentFilter } from './index.ts';
import { compilePattern } from './pattern.ts';

function refuses(settings: { readonly allow?: string[]; readonly deny?: string[] }, ...headers: readonly string[]) {
  const { refuses: check } = userAgentFilter.build(userAgentFilter.accept(settings));
  return check?.(headers)?.code;
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
    fc.property(pattern, text, (source, sample) => compilePattern(source)(sample) === new RegExp(source).test(sample)),
    { numRuns: 5000 },
  );
});

test('case is ignored where the pattern says so', () => {
  assert.equal(compilePattern('(?i)BOT[a-c]')('a botB'), true);
  assert.equal(compilePattern('BOT')('bot'), false);
});

test('a pattern that takes others exponential time takes no longer than its length by that of the text', () => {
  const matches = compilePattern('^(((a+)+)+)+(a|aa)+(.*)*$b');
  assert.equal(matches('a'.repeat(1024)), false);
});
