import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Recorder } from '../../../test/gateway/support/tcp-engine.ts';
import { EventRelay } from './event-relay.ts';
import type { SingleEvent } from './messages.ts';
import { AnswerPacker } from './packed-answers.ts';

function start() {
  const seen = new Recorder();
  const relay = new EventRelay(seen);
  const tell = (worker: number, ...events: readonly SingleEvent[]): void =>
    relay.relay(worker, { events, https: { opened: 0, closed: 0 }, answers: new AnswerPacker().take() });
  return { seen, relay, tell };
}

test('a bound is used as much as by the workers that are there', () => {
  const { seen, relay, tell } = start();
  const report = (inUse: number): SingleEvent => [
    'boundsReported',
    [{ bound: 'client_connections', limit: 50, inUse, refused: 0 }],
  ];
  tell(1, report(7));
  tell(2, report(3));
  assert.deepEqual([seen.limits.client_connections, seen.inUse.client_connections], [100, 10]);
  relay.forget(1);
  tell(2, report(4));
  assert.deepEqual([seen.limits.client_connections, seen.inUse.client_connections], [50, 4]);
});

test('a fault of a port or an entry is over when no worker has it: each has recovered, or is gone', () => {
  const { seen, relay, tell } = start();
  const fault = (cause: Error | undefined): readonly SingleEvent[] => [
    ['listenerFault', { accountId: 'a', edgeId: 'edgtcp_1', port: 1, cause }],
    ['entryFault', { kind: 'tcp_edge', id: 'edgtcp_1', cause }],
  ];
  const told = () => [seen.faults.map(({ cause }) => cause), seen.entryFaults.map(({ cause }) => cause?.message)];
  for (const worker of [1, 2, 3]) tell(worker, ...fault(new Error('taken')));
  assert.deepEqual(told(), [['taken'], ['taken']], 'each is told once');
  tell(1, ...fault(undefined));
  relay.forget(2);
  assert.deepEqual(told(), [['taken'], ['taken']], 'one still has it');
  relay.forget(3);
  assert.deepEqual(told(), [
    ['taken', undefined],
    ['taken', undefined],
  ]);
});
