import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { ipFromIpv4Word } from '../../lib/ip/address.ts';
import type { InspectedRequest, InspectionTerms, TrafficObserver } from '../engine.ts';
import { RequestInspector } from './inspect-requests.ts';
import type { RequestVisit } from './request-visit.ts';

/** Masking may rest between two steps. */
async function settled(): Promise<void> {
  for (let at = 0; at < 20; at++) await turn();
}

const hourMs = 3_600_000;
/** Requests of one account that are recorded at the same time, and those that begin in a second. */
const [mostOpen, mostInSecond] = [64, 20];

function inspecting(t: { mock: { method: typeof test.mock.method } }, ...terms: readonly InspectionTerms[]) {
  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const told: InspectedRequest[] = [];
  // Nothing else of an observer is called.
  const inspector = new RequestInspector({ inspected: (request) => void told.push(request) } as TrafficObserver);
  inspector.set(terms);
  return { inspector, told, nextSecond: () => (nowMs += 1000) };
}

const terms = (accountId: string): InspectionTerms => ({
  id: `insp_${accountId}`,
  accountId,
  subjectId: `e_${accountId}`,
  endsAtMs: Date.now() + hourMs,
});

function visitOf(accountId: string): RequestVisit {
  const exchange = { method: 'GET', target: '/', host: 'a.test', protocol: '1.1', headers: [], client: {} };
  const ids = { accountId, edgeId: `e_${accountId}`, ownerId: `r_${accountId}` };
  const log = { operationId: 'op_1' };
  // What a record reads of a visit.
  return {
    ...ids,
    first: ids,
    from: undefined,
    exchange,
    log,
    source: ipFromIpv4Word(0x7f000001),
  } as unknown as RequestVisit;
}

test('a record ends once, however often it is ended, and frees its place once', async (t) => {
  const { inspector, told, nextSecond } = inspecting(t, terms('a'));
  const visit = visitOf('a');
  const first = inspector.begin(visit) ?? assert.fail();
  first.end();
  first.end();
  first.drop();
  await settled();
  assert.equal(told.length, 1);
  nextSecond();
  let open = 0;
  for (; open < mostOpen; nextSecond())
    for (let at = 0; at < mostInSecond && open < mostOpen; at++, open++) assert.ok(inspector.begin(visit), `${open}`);
  assert.equal(inspector.begin(visit), undefined, 'no place was freed twice');
});

test('a record that is dropped tells nothing, frees its place, and does not end afterwards', async (t) => {
  const { inspector, told, nextSecond } = inspecting(t, terms('a'));
  for (let at = 0; at < mostOpen + 1; at++) {
    const record = inspector.begin(visitOf('a')) ?? assert.fail(`place ${at}`);
    record.drop();
    record.end();
    if (at % mostInSecond === mostInSecond - 1) nextSecond();
  }
  await settled();
  assert.deepEqual(told, []);
});

test('accounts share the places, and what is left out is told to whom it belongs', async (t) => {
  const { inspector, told, nextSecond } = inspecting(t, terms('a'), terms('b'));
  const begun = Array.from({ length: 10 }, () => {
    nextSecond();
    return Array.from({ length: mostInSecond }, () => inspector.begin(visitOf('a'))).filter(
      (each) => each !== undefined,
    );
  });
  assert.deepEqual(
    begun.map((each) => each.length),
    [10, 10, 10, 2, 0, 0, 0, 0, 0, 0],
    'half of a second, and half of the places',
  );
  const record = inspector.begin(visitOf('b')) ?? assert.fail('the other account has a place');
  record.end();
  await settled();
  assert.deepEqual(
    told.map(({ accountId, leftOut }) => [accountId, leftOut]),
    [['b', 0]],
  );
  for (const each of begun.flat()) each.end();
  await settled();
  assert.deepEqual(
    told.slice(1, 4).map(({ accountId, leftOut }) => [accountId, leftOut]),
    [
      ['a', 168],
      ['a', 0],
      ['a', 0],
    ],
    'each is counted once',
  );
});

test('a record that is ended keeps its place until it is told, and is not told of what is over by then', async (t) => {
  const { inspector, told, nextSecond } = inspecting(t, terms('a'));
  let begun = 0;
  const open: { end(): void }[] = [];
  for (; begun < mostOpen; nextSecond())
    for (let at = 0; at < mostInSecond && begun < mostOpen; at++, begun++)
      open.push(inspector.begin(visitOf('a')) ?? assert.fail());
  for (const each of open) each.end();
  assert.equal(inspector.begin(visitOf('a')), undefined, 'each is being masked');
  inspector.set([]);
  await settled();
  assert.deepEqual(told, []);
  inspector.set([terms('a')]);
  assert.ok(inspector.begin(visitOf('a')), 'the places are free');
});
