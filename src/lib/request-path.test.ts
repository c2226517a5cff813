import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { checkRequestPath, normalizePath, otherReadings } from './request-path.ts';

/** Pieces of attacks and of ordinary paths. */
const target = fc
  .array(
    fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2E',
      '%2f',
      '%5C',
      '\\',
      ';',
      'a',
      '%61',
      '%41',
      '%c3%a9',
      '%25',
      '%',
      '?',
      '//',
    ),
    { maxLength: 10 },
  )
  .map((parts) => `/${parts.join('')}`);

function decodeBytes(path: string): string {
  return path.replaceAll(/%(..)/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

function reasonFor(text: string): string | undefined {
  const result = checkRequestPath(text);
  return result.ok ? undefined : result.reason;
}

test('ordinary targets are taken apart and kept as they are', () => {
  for (const [text, path, query] of [
    ['/', '/', ''],
    ['/a/b.c/?x=1&y=/../%zz\\', '/a/b.c/', '?x=1&y=/../%zz\\'],
    ['/a?', '/a', '?'],
    ['/a?b?c', '/a', '?b?c'],
    ['/a//b///c', '/a//b///c', ''],
    ['/...', '/...', ''],
    ['/..a/.b/c../d.', '/..a/.b/c../d.', ''],
    ['/a;v=1.0/b', '/a;v=1.0/b', ''],
    ['/~user/@x:y/(a)!$&\'*+,=|{}^`<>"', '/~user/@x:y/(a)!$&\'*+,=|{}^`<>"', ''],
    ['/caf%C3%A9%20au%20lait%25', '/caf%C3%A9%20au%20lait%25', ''],
    ['/%E9t%E9', '/%E9t%E9', ''],
    ['/sm%f8rrebr%F8d/%fcber/%f8%fe%ff', '/sm%f8rrebr%F8d/%fcber/%f8%fe%ff', ''],
  ] as const) {
    const result = checkRequestPath(text);
    assert.ok(result.ok, text);
    assert.deepEqual([result.path, result.query], [path, query]);
  }
});

test('dot segments are refused in every spelling', () => {
  const segments = ['.', '..', '%2e', '%2E%2e', '.%2e', '..;', '..;a=b', '.;a', '%2e%2E;x', '..%3b', '..%3Bx'];
  for (const segment of segments)
    for (const text of [`/${segment}`, `/${segment}/`, `/a/${segment}/b`, `/a/${segment}?q`, `/a//${segment}`])
      assert.match(reasonFor(text) ?? '', /segment/, text);
});

test('what could be read as another separator is refused', () => {
  for (const text of ['/a%2fb', '/a%2Fb', '/%2f%2fhost']) assert.match(reasonFor(text) ?? '', /encoded slash/, text);
  for (const text of ['/a%5cb', '/a%5C..']) assert.match(reasonFor(text) ?? '', /encoded backslash/, text);
  for (const text of ['/a\\b', '/\\host', '/..\\a']) assert.match(reasonFor(text) ?? '', /a backslash/, text);
  for (const text of ['/%c0%af', '/%C0%AE%C0%AE/', '/%c1%9c', '/%e0%80%af', '/%f0%80%80%af'])
    assert.match(reasonFor(text) ?? '', /more bytes/, text);
  for (const text of ['/%f8%80%80%80%ae', '/%F8%87%bf%bf%bf', '/%fc%80%80%80%80%ae/a', '/a/%FC%83%bf%bf%bf%bf'])
    assert.match(reasonFor(text) ?? '', /more bytes/, text);
  for (const text of ['/%fe%80%80%80%80%80%ae', '/%ff%80%80%80%80%80%80%80%80%80%80%80%ae'])
    assert.match(reasonFor(text) ?? '', /more bytes/, text);
});

test('a target that could name a host is refused', () => {
  for (const text of ['//host/a', '//', '///a']) assert.match(reasonFor(text) ?? '', /two slashes/, text);
  for (const text of ['', '*', 'a', 'http://host/a', 'host:443', '?a', ' /a'])
    assert.match(reasonFor(text) ?? '', /does not start/, text);
});

test('control characters, spaces and text outside ASCII are refused anywhere in the target', () => {
  for (const stranger of ['\0', '\t', '\r', '\n', ' ', '\x1f', '\x7f', '\x80', 'é', '€', '\u2215'])
    for (const text of [`/a${stranger}b`, `/a?b${stranger}`])
      assert.match(reasonFor(text) ?? '', /control character/, JSON.stringify(text));
  for (const text of ['/a%00', '/a%0d%0aX:y', '/%1F', '/%7f'])
    assert.match(reasonFor(text) ?? '', /encoded control/, text);
  for (const text of ['/a#b', '/a?b#c', '/#']) assert.match(reasonFor(text) ?? '', /fragment/, text);
});

test('broken percent-encoding in the path is refused', () => {
  for (const text of ['/%', '/%1', '/%zz', '/a%u002e', '/%%32e', '/100%/a', '/%?41'])
    assert.match(reasonFor(text) ?? '', /percent sign/, text);
});

test('a path that is let through has the same segments, decoded or not, and none of dots', () => {
  fc.assert(
    fc.property(target, (text) => {
      const result = checkRequestPath(text);
      fc.pre(result.ok);
      assert.equal(result.path + result.query, text);
      const decoded = decodeBytes(result.path);
      assert.equal(decoded.split(/[/\\]/).length, result.path.split('/').length);
      assert.equal(new URL(`http://host${result.path}`).pathname, result.path);
      for (const segment of decoded.split('/')) assert.doesNotMatch(segment, /^\.\.?(?:;|$)/);
    }),
    { numRuns: 2000 },
  );
});

test('paths are matched alike exactly if they decode alike', () => {
  fc.assert(
    fc.property(target, target, (left, right) => {
      const [one, other] = [checkRequestPath(left), checkRequestPath(right)];
      fc.pre(one.ok && other.ok);
      const alike = decodeBytes(one.path) === decodeBytes(other.path);
      assert.equal(one.matchPath === other.matchPath, alike);
    }),
    { numRuns: 2000 },
  );
  assert.equal(normalizePath('/%61dmin/%7Eme'), '/admin/~me');
  assert.equal(normalizePath('/%2561'), '/%2561');
});

test('the path of a route may be written decoded', () => {
  assert.equal(normalizePath('/café au lait'), '/caf%C3%A9%20au%20lait');
  assert.equal(normalizePath('/caf%c3%a9%20au lait'), '/caf%C3%A9%20au%20lait');
  assert.equal(normalizePath('/a\ud800'), '/a%EF%BF%BD');
});

test('a path that is open to other readings has all of them', () => {
  for (const [path, readings] of [
    ['/a/b.c', []],
    ['/100%25/a', []],
    ['/a//b;v=1/', ['/a/b;v=1/', '/a//b/', '/a/b/']],
    ['/a/;../b', ['/a//b', '/a/b']],
    ['/%2561', ['/a']],
    ['/%252561', ['/%2561', '/a']],
    ['/a%252fb', ['/a/b']],
    ['/a/b%253bx', ['/a/b;x', '/a/b']],
    ['/%256%2531', ['/%2561', '/a']],
    ['/%25C3%25A9', ['/%C3%A9']],
  ] as const) {
    const all = otherReadings(path) ?? ['undefined'];
    assert.deepEqual([...new Set(all)].filter((reading) => reading !== path).toSorted(), readings.toSorted(), path);
  }
});

test('a path that hides what no path may hold, or is encoded without end, has no reading', () => {
  for (const path of [
    '/a%2500',
    '/%250a',
    '/a/%252e%252e/b',
    '/a/%252e;x',
    '/a%255cb',
    '/a%25255cb',
    '/%25c0%25ae',
    '/%25F8%2580%2580%2580%25AE',
    `/%${'25'.repeat(10_000)}61`,
  ])
    assert.equal(otherReadings(path), undefined, path);
});
