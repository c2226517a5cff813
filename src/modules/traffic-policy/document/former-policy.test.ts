import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toPhases } from './former-policy.ts';

test('directions become phases', () => {
  const [first, second] = [{ name: 'first' }, { name: 'second' }];
  assert.deepEqual(toPhases({ inbound: [first], outbound: [second] }, true), {
    on_http_request: [first],
    on_http_response: [second],
  });
  assert.deepEqual(toPhases({ inbound: [first] }, false), { on_tcp_connect: [first] });
});

test('phases beside directions are refused: one of both would be forgotten', () => {
  const both = { inbound: [], on_http_request: [{ actions: [{ type: 'deny' }] }] };
  assert.throws(() => toPhases(both, true), { code: 2236, message: /phases beside inbound or outbound/ });
  assert.deepEqual(toPhases({ on_http_request: [] } as object, true), { on_http_request: [] });
});
