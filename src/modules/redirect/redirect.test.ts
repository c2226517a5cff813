import assert from 'node:assert/strict';
import { test } from 'node:test';

import { redirect } from './index.ts';

const leadTo = (to: string, target: string, keep_path = true): string | undefined =>
  redirect.build(redirect.accept({ to, keep_path })).redirects?.(target).location;

test('it leads to where it says, or there with the path and query of the request', () => {
  assert.deepEqual(redirect.build(redirect.accept({ to: '/login' })).redirects?.('/admin?a=1'), {
    status: 302,
    location: '/login',
  });
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
