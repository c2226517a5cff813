import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refusedByModule } from '../errors/shared.ts';
import { LiveTraffic } from './live-traffic.ts';
import { TrafficHour } from './traffic-hour.ts';

const observer = { trafficStreams: () => {}, trafficStreamRefused: () => {}, trafficEventsDropped: () => {} };

function newTraffic(): LiveTraffic {
  return new LiveTraffic({ isCarriedHere: true, limit: 2, observer });
}

function answer(traffic: LiveTraffic, path: string, errorCode?: number): void {
  traffic.httpAnswered(
    {
      operationId: `op_${path}`,
      edgeId: 'edge',
      routeId: 'route',
      source: '192.0.2.1',
      protocol: '1.1',
      method: 'GET',
      host: 'host',
      path,
      status: errorCode === undefined ? 200 : 403,
      errorCode,
      durationMs: 1,
      upstreamMs: undefined,
    },
    { accountId: 'account' },
  );
}

test('a flood is cut for each who looks on, and what was refused is shown before what passed', () => {
  const traffic = newTraffic();
  using subscriber = traffic.subscribe('account');
  for (let at = 0; at < 150; at++) answer(traffic, `/passed/${at}`);
  for (let at = 0; at < 30; at++) answer(traffic, `/refused/${at}`, refusedByModule.code);
  const { events = [], dropped } = subscriber?.take() ?? {};
  assert.deepEqual([events.length, dropped], [130, 50]);
  assert.equal(events.filter(({ verdict }) => verdict === 'refused').length, 30);
  assert.deepEqual(subscriber?.take(), { events: [], dropped: 0 });
  answer(traffic, '/next');
  assert.equal(subscriber?.take().events.length, 1, 'there is room again');
});

test('what a visitor chooses to send is kept in part with the last error', () => {
  const traffic = newTraffic();
  const event = { operationId: 'op', edgeId: 'edge', routeId: 'route', source: '192.0.2.1', host: 'host' };
  const failed = { status: 502, errorCode: undefined, durationMs: 1, upstreamMs: undefined };
  traffic.httpAnswered(
    { ...event, ...failed, protocol: '2', method: 'M'.repeat(30_000), path: `/${'p'.repeat(30_000)}` },
    { accountId: 'account' },
  );
  const [thing] = traffic.health('account', []).things;
  const { method = '', path = '' } = thing?.lastError ?? {};
  assert.deepEqual([method, path.length], ['M'.repeat(40), 200]);
});

test('nobody gets what happened before, or after the end', () => {
  const traffic = newTraffic();
  answer(traffic, '/before');
  const [one, other] = [traffic.subscribe('account'), traffic.subscribe('account')];
  assert.equal(traffic.subscribe('account'), undefined, 'the limit');
  assert.ok(traffic.subscribe('another'), 'the limit is for each account');
  one?.[Symbol.dispose]();
  answer(traffic, '/now');
  assert.deepEqual(one?.take().events, []);
  assert.deepEqual(
    other?.take().events.map(({ path }) => path),
    ['/now'],
  );
  assert.ok(traffic.subscribe('account'));
});

test('the last hour moves on, and its quantiles are those of each minute', () => {
  const hour = new TrafficHour();
  const startMs = 1_800_000_000_000;
  const add = (atMs: number, durationMs: number) => {
    hour.add(atMs, 'edge', { kind: 'request', verdict: 'allowed', isError: false, durationMs });
  };
  for (let at = 1; at <= 100; at++) add(startMs, at);
  add(startMs + 30 * 60_000, 5_000);
  const minutes = hour.minutes(startMs + 59 * 60_000);
  assert.equal(minutes.length, 60);
  const [first] = minutes;
  assert.deepEqual([first?.startMs, first?.requests], [startMs, 100]);
  assert.ok(first?.p50Ms !== undefined && Math.abs(first.p50Ms - 50) < 10, `${first?.p50Ms}`);
  assert.ok(first.p99Ms !== undefined && Math.abs(first.p99Ms - 99) < 20, `${first.p99Ms}`);
  assert.deepEqual([minutes[30]?.requests, minutes[31]?.requests, minutes[31]?.p50Ms], [1, 0, undefined]);
  assert.equal(hour.byEdge(startMs + 59 * 60_000)[0]?.requests, 101);
  const later = hour.minutes(startMs + 60 * 60_000);
  assert.equal(
    later.reduce((sum, { requests }) => sum + requests, 0),
    1,
  );
  add(startMs + 60 * 60_000, 1);
  assert.equal(hour.minutes(startMs + 60 * 60_000).at(-1)?.requests, 1, 'the place of the old minute begins anew');
  assert.deepEqual(hour.byEdge(startMs + 300 * 60_000), []);
});

test('edges beyond the bound are counted with all others, and not apart', () => {
  const hour = new TrafficHour();
  const event = { kind: 'connection', verdict: 'refused', isError: false, durationMs: 0 } as const;
  for (let at = 0; at < 1_000; at++) hour.add(0, `edge ${at}`, event);
  assert.equal(hour.byEdge(0).length, 200);
  assert.deepEqual([hour.minutes(0).at(-1)?.connections, hour.minutes(0).at(-1)?.refused], [1_000, 1_000]);
});
