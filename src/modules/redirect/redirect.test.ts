import assert from 'node:assert/strict';
import { test } from 'node:test';

import { requestVisit, runOnly } from '../../../test/support/step-visit.ts';
import { redirect } from './index.ts';

function leadTo(to: string, target: string, keep_path = true): string | undefined {
  const outcome = runOnly(redirect.build(redirect.accept({ to, keep_path })), requestVisit({ target }));
  assert.ok(outcome !== undefined && 'kind' in outcome && outcome.kind === 'answer');
  const { status, headers, body } = outcome.answer;
  assert.deepEqual([status, headers[0], body], [302, 'Location', '']);
  return headers[1];
}

test('it leads to where it says, or there with the path and query of the request', () => {
  assert.equal(leadTo('/login', '/admin?a=1', false), '/login');
  for (const to of ['https://new.example.com', 'https://new.example.com/'])
    assert.equal(leadTo(to, '/a%20b?c=d'), 'https://new.example.com/a%20b?c=d');
  assert.equal(leadTo('/new', '/old/x'), '/new/old/x');
  assert.equal(leadTo('https://a.example/${host}', '/', false), 'https://a.example/${host}', 'nothing is filled in');
});

test('no path of a request leads to another host', () => {
  for (const target of ['/a//evil.test', '/@evil.test', '/.evil.test', '/:80@evil.test'])
    assert.equal(new URL(leadTo('https://own.test', target) ?? '').hostname, 'own.test', target);
  assert.equal(new URL(leadTo('/new', '/a//evil.test') ?? '', 'https://own.test').hostname, 'own.test');
});

test('what would lead to another host, split a header or lead to itself is refused', () => {
  for (const to of [
    '',
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'evil.test',
    'javascript:alert(1)',
    'https:',
    'https://',
  ])
    assert.throws(() => redirect.accept({ to }), /not acceptable/, to);
  for (const to of ['/a\r\nSet-Cookie: x', '/a b', 'https://ü.test', 'https://user@a.test', 'https://a:b@a.test'])
    assert.throws(() => redirect.accept({ to }), /not acceptable/, to);
  for (const to of ['/', '/a?b', 'https://a.test/#x']) {
    assert.throws(() => redirect.accept({ to, keep_path: true }), /not acceptable/, to);
    assert.equal(redirect.accept({ to }).to, to);
  }
});
