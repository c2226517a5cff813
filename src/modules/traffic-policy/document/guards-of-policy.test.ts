import assert from 'node:assert/strict';
import { test } from 'node:test';

import { guardsOfPolicy } from './guards-of-policy.ts';
import { readStoredPolicy } from './known-policies.ts';

const guardsOf = (action: object, expressions?: readonly string[]) => {
  const { asksEverybody, answersEverybody, isUnknown } = guardsOfPolicy(
    readStoredPolicy(JSON.stringify({ on_http_request: [{ expressions, actions: [action] }] })),
  );
  return [asksEverybody, answersEverybody, isUnknown];
};
const password = { type: 'basic-auth', config: { credentials: ['ada:a long secret'] } };

test('an action that every visitor meets asks everybody, and one behind an expression nobody knows whom', () => {
  assert.deepEqual(guardsOf(password), [true, false, false]);
  assert.deepEqual(guardsOf(password, ["req.method == 'GET'"]), [false, false, true]);
  assert.deepEqual(guardsOf({ ...password, config: { ...password.config, enforce: false } }), [false, false, false]);
});

test('an answer in place of what is behind it keeps everybody out if it is a fault', () => {
  assert.deepEqual(guardsOf({ type: 'custom-response', config: { status_code: 503 } }), [true, false, false]);
  assert.deepEqual(guardsOf({ type: 'custom-response', config: {} }), [false, true, false]);
});

test('a limit of rates keeps nobody out for good', () => {
  const config = { name: 'all', algorithm: 'sliding_window', capacity: 10, rate: '60s', bucket_key: ['req.host'] };
  assert.deepEqual(guardsOf({ type: 'rate-limit', config }), [false, false, false]);
});
