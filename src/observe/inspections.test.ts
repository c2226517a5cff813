import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { InspectedRequest, InspectionTerms } from '../gateway/engine.ts';
import { Inspections, mostOfAccount } from './inspections.ts';

const terms = (id: string, accountId = 'ac_1', subjectId = `e_${id}`): InspectionTerms => ({
  id,
  accountId,
  subjectId,
  endsAtMs: Date.now() + 60_000,
});
const request = (inspectionId: string, over: Partial<InspectedRequest> = {}): InspectedRequest => ({
  inspectionId,
  accountId: 'ac_1',
  id: 'op_1',
  atMs: 0,
  edgeId: 'e',
  routeId: 'r',
  source: '192.0.2.1',
  method: 'GET',
  target: '/',
  host: 'a',
  protocol: '1.1',
  request: { headers: [], bodyBytes: 0, isBodyWhole: true },
  answer: undefined,
  durationMs: 1,
  isWhole: true,
  leftOut: 0,
  ...over,
});

test('an account sees and ends its own alone', () => {
  const inspections = new Inspections();
  inspections.start(terms('i_1'), 'usr_1');
  inspections.start(terms('i_2', 'ac_2'), 'usr_2');
  inspections.inspected(request('i_1', { accountId: 'ac_2' }));
  inspections.inspected(request('i_1'));
  assert.deepEqual(
    inspections.ofAccount('ac_1').map(({ id }) => id),
    ['i_1'],
  );
  assert.equal(inspections.find('ac_1', 'i_1')?.requests.length, 1);
  assert.equal(inspections.find('ac_2', 'i_1'), undefined);
  assert.deepEqual(
    [inspections.end('ac_2', 'i_1'), inspections.end('ac_1', 'i_1'), inspections.end('ac_1', 'i_1')],
    [false, true, false],
  );
});

test('an account has so many at once, one for each thing, and all together too', () => {
  const inspections = new Inspections();
  for (let at = 0; at < mostOfAccount; at++) assert.ok(inspections.start(terms(`i_${at}`), 'usr_1'));
  assert.ok(inspections.start(terms('i_again', 'ac_1', 'e_i_3'), 'usr_1'), 'of the same thing');
  assert.equal(inspections.find('ac_1', 'i_3'), undefined);
  assert.ok(inspections.start(terms('i_more'), 'usr_1'), 'one more');
  assert.deepEqual(
    inspections.ofAccount('ac_1').map(({ id }) => id),
    ['i_1', 'i_2', 'i_4', 'i_again', 'i_more'],
  );
  let others = 0;
  while (inspections.start(terms(`o_${others}`, `ac_o${others}`), 'usr_1') !== undefined) others++;
  assert.equal(others, 50 - mostOfAccount);
});

test('one that is over is gone with all that it has recorded', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 0 });
  const inspections = new Inspections();
  const told: string[][] = [];
  inspections.to((all) => told.push(all.map(({ id }) => id)));
  inspections.start({ ...terms('i_1'), endsAtMs: 1000 }, 'usr_1');
  t.mock.timers.tick(1000);
  assert.equal(inspections.find('ac_1', 'i_1'), undefined);
  inspections.inspected(request('i_1'));
  assert.deepEqual(told, [[], ['i_1'], []]);
});

test('the newest requests are kept, so many and of so many bytes, and the others are counted', () => {
  const inspections = new Inspections();
  inspections.start(terms('i_1'), 'usr_1');
  for (let at = 0; at < 150; at++) inspections.inspected(request('i_1', { id: `op_${at}`, leftOut: 1 }));
  const { requests, leftOut } = inspections.find('ac_1', 'i_1') ?? assert.fail();
  assert.deepEqual([requests.length, requests[0]?.id, leftOut], [100, 'op_149', 150]);
  const body = 'x'.repeat(100_000);
  for (let at = 0; at < 20; at++)
    inspections.inspected(request('i_1', { request: { headers: [], bodyBytes: 0, isBodyWhole: true, body } }));
  assert.equal(inspections.find('ac_1', 'i_1')?.requests.length, 5);
});

test('the newest is first, whichever worker tells of its own before', () => {
  const inspections = new Inspections();
  inspections.start(terms('i_1'), 'usr_1');
  for (const atMs of [5, 7, 6, 9, 1]) inspections.inspected(request('i_1', { atMs }));
  assert.deepEqual(
    inspections.find('ac_1', 'i_1')?.requests.map(({ atMs }) => atMs),
    [9, 7, 6, 5, 1],
  );
});

test('what is kept holds no longer texts of which it is a part', () => {
  setFlagsFromString('--expose-gc');
  // The flag adds it to new contexts.
  const collectGarbage = runInNewContext('gc') as () => void;
  const inspections = new Inspections();
  inspections.start(terms('i_1'), 'usr_1');
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 100; at++) {
    const target = `${at}${'x'.repeat(200_000)}`.slice(0, 100);
    inspections.inspected(request('i_1', { target }));
  }
  collectGarbage();
  const kept = process.memoryUsage().heapUsed - before;
  assert.ok(kept < 5_000_000, `${kept} bytes`);
  assert.equal(inspections.find('ac_1', 'i_1')?.requests.length, 100);
});
