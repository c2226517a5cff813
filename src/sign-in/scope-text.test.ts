import assert from 'node:assert/strict';
import { test } from 'node:test';

import { assertLinear } from '../../test/support/linear-work.ts';
import { joinScopes } from './scope-text.ts';

test('scopes that are a list become a text, and every other answer stays as it is', () => {
  assert.equal(
    joinScopes('{"access_token":"a","scope":["openid","user:read:email"],"token_type":"bearer"}'),
    '{"access_token":"a","scope":"openid user:read:email","token_type":"bearer"}',
  );
  assert.equal(joinScopes('{"scope":[],"a":1}'), '{"scope":"","a":1}');
  assert.equal(joinScopes('{"scope":["a",1,null,["b"]]}'), '{"scope":"a"}');
  const others = [
    '{"scope":"openid email" }',
    '{"note":"\\"scope\\":[x]"}',
    '{"inner":{"scope":["a"]}}',
    '["scope"]',
    '{"scope":["a"]',
    'null',
    '<html>"scope":["a"]</html>',
    '',
  ];
  for (const text of others) assert.equal(joinScopes(text), text);
});

test('a long answer costs as much as several short ones', () => {
  for (const piece of ['"scope":[', '{"scope":[', '[', '"scope":["a",', '"scope":   ', '","']) {
    const fill = (length: number) => piece.repeat(length / piece.length);
    assertLinear(piece, fill, joinScopes);
    assertLinear(`a list with ${piece}`, (length) => `{"scope":[${JSON.stringify(fill(length))}]}`, joinScopes);
  }
});
