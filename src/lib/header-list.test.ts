import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findHeader, findOnlyHeader, formatHeaders, headerValues, keepPairs } from './header-list.ts';

const list = ['Host', 'a.example', 'X-Tag', 'one', 'x-tag', 'two', 'Date', ''];

test('headers are found by name, whatever their case', () => {
  assert.equal(findHeader(list, 'x-tag'), 'one');
  assert.equal(findHeader(list, 'date'), '');
  assert.equal(findHeader(list, 'a.example'), undefined);
  assert.deepEqual(headerValues(list, 'x-tag'), ['one', 'two']);
  assert.deepEqual(headerValues(list, 'x-other'), []);
});

test('a header with a second one of its name, or of one that differs in punctuation, is none', () => {
  assert.equal(findOnlyHeader(list, 'host'), 'a.example');
  assert.equal(findOnlyHeader(list, 'x-tag'), undefined);
  assert.equal(findOnlyHeader(['X-Tag', 'one', 'X_Tag', 'two'], 'x-tag'), undefined);
  assert.equal(findOnlyHeader(['X_Tag', 'one'], 'x-tag'), undefined);
});

test('those headers stay whose names pass, with their values', () => {
  assert.deepEqual(
    keepPairs(list, (name) => name.toLowerCase() !== 'x-tag'),
    ['Host', 'a.example', 'Date', ''],
  );
  assert.deepEqual(
    keepPairs(list, () => true),
    list,
  );
});

test('each header is a line', () => {
  assert.equal(formatHeaders(list.slice(0, 4)), 'Host: a.example\r\nX-Tag: one\r\n');
});
