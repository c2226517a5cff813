import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HandshakeTrust } from './handshake-trust.ts';

test('an account is trusted once a handshake of its upstreams succeeds, and not for an hour after one has failed', (t) => {
  t.mock.method(performance, 'now', () => nowMs);
  let nowMs = 1_000;
  const trust = new HandshakeTrust();
  const isTrusted = (owner: string) => {
    const isUngated = trust.begin(owner);
    if (isUngated) trust.end(owner);
    return isUngated;
  };
  assert.equal(isTrusted('one'), false, 'nothing is known');
  trust.succeeded('one');
  assert.equal(isTrusted('one'), true);
  trust.failed('one');
  trust.succeeded('one');
  trust.succeeded('two');
  assert.deepEqual([isTrusted('one'), isTrusted('two')], [false, true]);
  nowMs += 3_599_999;
  assert.equal(isTrusted('one'), false);
  nowMs += 1;
  assert.equal(isTrusted('one'), true);
});

test('an account has one handshake without a gate at a time', () => {
  const trust = new HandshakeTrust();
  for (const owner of ['one', 'two']) trust.succeeded(owner);
  assert.deepEqual([trust.begin('one'), trust.begin('one'), trust.begin('two')], [true, false, true]);
  trust.end('one');
  assert.deepEqual([trust.begin('one'), trust.begin('two')], [true, false]);
});
