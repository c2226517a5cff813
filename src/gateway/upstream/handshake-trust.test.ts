import assert from 'node:assert/strict';
import { test } from 'node:test';

import { HandshakeTrust } from './handshake-trust.ts';

test('an account is trusted once a handshake of its upstreams succeeds, and not for an hour after one has failed', (t) => {
  t.mock.method(performance, 'now', () => nowMs);
  let nowMs = 1_000;
  const trust = new HandshakeTrust();
  assert.equal(trust.isTrusted('one'), false, 'nothing is known');
  trust.succeeded('one');
  assert.equal(trust.isTrusted('one'), true);
  trust.failed('one');
  trust.succeeded('one');
  trust.succeeded('two');
  assert.deepEqual([trust.isTrusted('one'), trust.isTrusted('two')], [false, true]);
  nowMs += 3_600_000;
  assert.equal(trust.isTrusted('one'), true);
});
