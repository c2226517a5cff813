import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { HttpAnswered, TcpClosed, TcpOpened, TrafficObserver } from '../engine.ts';
import { EventBatch, singleNames } from './event-batch.ts';
import { EventRelay } from './event-relay.ts';
import { unpackAnswers } from './packed-answers.ts';

const log = { info() {}, warn() {}, error() {} };
const answered: HttpAnswered = {
  operationId: undefined,
  edgeId: 'edghts_1',
  routeId: undefined,
  source: '192.0.2.1',
  protocol: '2',
  method: 'GET',
  host: 'app.example.com',
  path: '/',
  status: 200,
  errorCode: undefined,
  durationMs: 1,
  upstreamMs: 1,
};
const opened: TcpOpened = { edgeId: 'edgtcp_1', source: '192.0.2.1', verdict: 'allowed' };
const closed: TcpClosed = { ...opened, bytesIn: 0, bytesOut: 0, durationMs: 1, reason: 'client' };
const decision = (connectionId: string) => ({ connectionId, accountId: 'ac_1', claim: 1 });

/** A worker's batch before a parent that takes nothing until it is let go. */
function heldParent() {
  const calls: [name: string, ...parameters: unknown[]][] = [];
  const names = [...singleNames, 'httpsOpened', 'httpsClosed', 'httpAnswered'];
  const methods = names.map((name) => [name, (...parameters: unknown[]) => void calls.push([name, ...parameters])]);
  const relay = new EventRelay(Object.fromEntries(methods) as TrafficObserver);
  const held = Promise.withResolvers<void>();
  const batch = new EventBatch(async (events) => {
    await held.promise;
    relay.relay(1, events);
  }, log);
  const count = (name: string) => calls.filter(([each]) => each === name).length;
  return { batch, relay, calls, count, letGo: () => held.resolve() };
}

test('sign-outs, counts of rate limits and faults reach a parent that does not keep up, and gauges stay right', async () => {
  const { batch, relay, calls, count, letGo } = heldParent();
  const { observer } = batch;
  observer.httpsOpened();
  observer.tcpOpened(opened, decision('before'));
  for (let at = 0; at < 120_000; at++) observer.httpAnswered(answered, { accountId: 'ac_1' });
  for (let at = 0; at < 500; at++) {
    observer.httpsOpened();
    observer.tcpOpened(opened, decision(`c${at}`));
    observer.visitorLeft({
      id: `as_${at}`,
      accountId: 'ac_1',
      edgeId: 'edghts_1',
      provider: { name: 'oidc', url: 'https://id.example.com' },
      subject: 'x',
      signedInAt: 1,
      endsAt: 1,
    });
    observer.ownArrivalReset();
  }
  observer.ratesCounted([{ rule: 'r', window: 1, counted: [['k', 1]], refused: 0, warned: 0 }]);
  observer.entryFault({ kind: 'https_edge', id: 'edghts_1', cause: new Error('x') });
  observer.tcpClosed(closed, decision('before'));
  for (let at = 0; at < 400; at++) {
    observer.httpsClosed();
    observer.tcpClosed(closed, decision(`c${at}`));
  }
  letGo();
  await batch.flush();
  assert.equal(count('visitorLeft'), 500);
  assert.deepEqual([count('ratesCounted'), count('entryFault')], [1, 1]);
  assert.equal(count('httpsOpened') - count('httpsClosed'), 101);
  assert.equal(count('ownArrivalReset'), 0, 'what may be dropped was');
  assert.ok(count('httpAnswered') >= 99_000 && count('httpAnswered') <= 104_000, `${count('httpAnswered')}`);
  // The parent was told one beginning, and its end.
  assert.deepEqual([count('tcpOpened'), count('tcpClosed')], [1, 1]);
  const told = calls.length;
  for (let at = 400; at < 500; at++) observer.tcpClosed(closed, decision(`c${at}`));
  observer.tcpOpened(opened, decision('after'));
  await batch.flush();
  assert.deepEqual(calls.slice(told), [['tcpOpened', opened, { ...decision('after'), worker: 1 }]]);
  relay.forget(1);
  assert.equal(count('httpsOpened'), count('httpsClosed'));
  assert.equal(count('tcpOpened'), count('tcpClosed'));
});

test('a message holds a bounded number of events, answers and others', async () => {
  const sizes: (readonly number[])[] = [];
  const batch = new EventBatch(async ({ events, answers }) => {
    sizes.push([events.length, [...unpackAnswers(answers)].length]);
  }, log);
  for (let at = 0; at < 5_000; at++) {
    batch.observer.httpAnswered(answered, { accountId: 'ac_1' });
    batch.observer.tcpOpened(opened, decision(`c${at}`));
  }
  await batch.flush();
  assert.deepEqual(sizes, [
    [2_000, 2_000],
    [2_000, 2_000],
    [1_000, 1_000],
  ]);
});
