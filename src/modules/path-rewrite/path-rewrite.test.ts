import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit, runOnly } from '../../../test/support/step-visit.ts';
import { pathRewrite } from './index.ts';

function rewrite(settings: { strip_prefix?: string; add_prefix?: string }, target: string): string {
  const visit = requestVisit({ target });
  assert.equal(runOnly(pathRewrite.build(pathRewrite.accept(settings)), visit), undefined);
  return visit.upstreamTarget;
}

test('a prefix is taken off in whole segments, and another put in its place', () => {
  for (const strip_prefix of ['/api', '/api/'])
    for (const [target, wanted] of [
      ['/api/x', '/x'],
      ['/api', '/'],
      ['/api/', '/'],
      ['/api?a=/api', '/?a=/api'],
      ['/apix', '/apix'],
      ['/other/api', '/other/api'],
    ] as const)
      assert.equal(rewrite({ strip_prefix }, target), wanted, target);
  const both = { strip_prefix: '/api/v1', add_prefix: '/v2' };
  assert.equal(rewrite(both, '/api/v1/x?y'), '/v2/x?y');
  assert.equal(rewrite(both, '/api/v1'), '/v2');
  assert.equal(rewrite(both, '/api'), '/api');
  assert.equal(rewrite({ add_prefix: '/app/' }, '/x'), '/app/x');
  assert.equal(rewrite({ add_prefix: '/app' }, '/'), '/app/');
});

test('escapes stay as they were sent, and are compared as routes are', () => {
  assert.equal(rewrite({ strip_prefix: '/api' }, '/%61pi/a%20b%2Fc?d=%2F'), '/a%20b%2Fc?d=%2F');
  assert.equal(rewrite({ strip_prefix: '/a%62' }, '/ab/c'), '/c');
});

test('no rewritten path begins with two slashes', () => {
  for (const target of ['/api//evil.test', '/api///evil.test/x'])
    assert.match(rewrite({ strip_prefix: '/api' }, target) ?? '', /^\/evil\.test/, target);
});

test('prefixes that no path has, or that servers read in different ways, are refused', () => {
  for (const prefix of [
    'api',
    '//api',
    '/a/../b',
    '/a//b',
    '/a;b',
    '/a?b',
    '/a#b',
    '/a b',
    '/a\r\nX: y',
    '/a\\b',
    '/a%2fb',
  ])
    for (const field of ['strip_prefix', 'add_prefix'])
      assert.throws(() => pathRewrite.accept({ [field]: prefix }), /not acceptable/, prefix);
  assert.throws(() => pathRewrite.accept({}), /needs "strip_prefix"/);
  assert.throws(() => pathRewrite.accept({ strip_prefix: '/', add_prefix: '' }), /needs "strip_prefix"/);
});
