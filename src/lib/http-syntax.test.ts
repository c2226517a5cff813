import assert from 'node:assert/strict';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { connectionHeaders, hopByHopHeaders, isFieldValue, isToken, listTokens } from './http-syntax.ts';

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'é', ' ', '\t', '\r', '\n', '\0', '\x7f', '\x85', 'ā') }),
);

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

test('a token has the characters of RFC 9110 and at least one', () => {
  for (const text of ['a', 'X-Forwarded-For', "!#$%&'*+-.^_`|~09AZaz"]) assert.ok(isToken(text), text);
  for (const text of ['', ' ', 'a b', 'a:', ':path', 'a\n', '\na', 'a\0', 'é', 'a,b', '"a"', 'a/b', 'a\r\nb', '(a)'])
    assert.ok(!isToken(text), JSON.stringify(text));
});

test('a token is exactly what the platform takes for a header name', () => {
  fc.assert(
    fc.property(anyText, (text) =>
      assert.equal(
        isToken(text),
        passes(() => validateHeaderName(text)),
      ),
    ),
  );
});

test('a field value is latin1 without control characters, with blanks only inside', () => {
  for (const text of ['', 'a', 'a b', 'a\tb', 'é', 'Ã©', '\x80', '\xff', '"quoted, text"'])
    assert.ok(isFieldValue(text), JSON.stringify(text));
  for (const text of [
    ' ',
    ' a',
    'a ',
    '\ta',
    'a\t',
    'a\r',
    'a\nb',
    'a\r\nb',
    '\0',
    'a\x7fb',
    'a\x1bb',
    'ā',
    '€',
    'a\n',
  ])
    assert.ok(!isFieldValue(text), JSON.stringify(text));
});

test('a field value is what the platform takes for one, blank ends apart', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const accepted = passes(() => validateHeaderValue('a', text)) && !/^[ \t]|[ \t]$/.test(text);
      assert.equal(isFieldValue(text), accepted);
    }),
    { numRuns: 1000 },
  );
});

test('a long run of blanks is judged in linear time', () => {
  assert.ok(!isFieldValue(`a${' '.repeat(1_000_000)}`));
  assert.deepEqual(listTokens(`a${' '.repeat(1_000_000)}b`).length, 1);
});

test('a comma list is split into its elements in lower case', () => {
  assert.deepEqual(listTokens('Keep-Alive, \tX-Foo ,,close'), ['keep-alive', 'x-foo', 'close']);
  assert.deepEqual(listTokens(''), []);
  assert.deepEqual(listTokens(' , ,'), []);
  assert.deepEqual(listTokens('close\xa0'), ['close\xa0']);
});

test('whatever blanks surround them, the elements come back', () => {
  const token = fc.stringMatching(/^[a-z0-9-]{1,8}$/);
  const blanks = fc.stringMatching(/^[ \t]{0,3}$/);
  fc.assert(
    fc.property(fc.array(fc.tuple(blanks, token, blanks)), (parts) => {
      const expected = parts.map(([, element]) => element);
      assert.deepEqual(listTokens(parts.map((part) => part.join('')).join(',')), expected);
    }),
  );
});

test('framing may neither be set by others nor, but for the length, be passed on', () => {
  for (const name of connectionHeaders) assert.equal(hopByHopHeaders.has(name), name !== 'content-length', name);
  for (const name of ['proxy-authenticate', 'proxy-authorization']) assert.ok(hopByHopHeaders.has(name));
  for (const name of ['connection', 'transfer-encoding', 'upgrade', 'content-length'])
    assert.ok(connectionHeaders.has(name));
});
