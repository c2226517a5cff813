import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';

import { readConfig } from '../../config/config.ts';
import { AnonymousCalls } from './anonymous-calls.ts';

const second = 1_000;

/** Calls from this address, by a clock that only the test moves. */
function callsFrom(trustedProxies = '') {
  let nowMs = 0;
  const calls = new AnonymousCalls(
    readConfig({}, trustedProxies === '' ? {} : { trustedProxies }).trustedProxies,
    () => nowMs,
  );
  // Nothing else of a request is looked at.
  const request = (remoteAddress: string) => ({ socket: { remoteAddress } }) as IncomingMessage;
  return {
    calls,
    request,
    call: (address: string) => calls.restAfter(request(address)),
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a source that calls no more than an installation needs never rests', () => {
  const { call, pass } = callsFrom();
  for (let at = 0; at < 3_000; at++) assert.equal(call('192.0.2.1'), 0);
  for (let at = 0; at < 1_000; at++) {
    pass(5);
    assert.equal(call('192.0.2.1'), 0);
  }
});

test('beyond that each of its calls waits for those before, and no other source does', () => {
  const { call, pass } = callsFrom();
  for (let at = 0; at < 3_000; at++) call('192.0.2.1');
  assert.deepEqual([call('192.0.2.1'), call('192.0.2.1'), call('192.0.2.1')], [5, 10, 15]);
  assert.equal(call('192.0.2.2'), 0);
  pass(second);
  for (let at = 0; at < 197; at++) assert.equal(call('192.0.2.1'), 0);
  assert.equal(call('192.0.2.1'), 5);
  pass(60 * second);
  for (let at = 0; at < 3_000; at++) assert.equal(call('192.0.2.1'), 0);
  assert.ok(call('192.0.2.1') > 0);
});

test('a network of IPv6 is one source', () => {
  const { call } = callsFrom();
  for (let at = 0; at < 3_000; at++) call(`2001:db8::${at.toString(16)}`);
  assert.equal(call('2001:db8::ffff:1'), 5);
  assert.equal(call('2001:db8:0:1::1'), 0);
});

test('callers who are signed in, trusted proxies and peers that have left are not counted', () => {
  const { calls, request, call } = callsFrom('198.51.100.0/24');
  for (let at = 0; at < 5_000; at++) {
    const signedIn = request('192.0.2.1');
    calls.signedIn(signedIn);
    assert.equal(calls.restAfter(signedIn), 0);
    assert.equal(call('198.51.100.7'), 0);
    assert.equal(calls.restAfter({ socket: {} } as IncomingMessage), 0);
  }
  assert.equal(call('192.0.2.1'), 0);
});
