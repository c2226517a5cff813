import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { InspectedRequest, InspectionTerms } from '../gateway/engine.ts';
import { answerInspections, mostOfAccount, readReply } from './inspection-messages.ts';
import { Inspections } from './inspections.ts';

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
  entryId: 'e',
  isTls: true,
  isHeadWhole: true,
  replayOf: undefined,
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
  assert.ok(inspections.start(terms('i_6', 'ac_1', 'e_i_3'), 'usr_1'), 'of the same thing');
  assert.equal(inspections.find('ac_1', 'i_3'), undefined);
  assert.ok(inspections.start(terms('i_7'), 'usr_1'), 'one more');
  assert.deepEqual(
    inspections.ofAccount('ac_1').map(({ id }) => id),
    ['i_1', 'i_2', 'i_4', 'i_6', 'i_7'],
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

/** One process tells another and hears it, as over a link. */
function meet(one: Inspections, other: Inspections, accountId = 'ac_1'): void {
  const question = JSON.parse(JSON.stringify({ about: 'inspections', accountId, ...one.share(accountId) }));
  one.hear(accountId, JSON.parse(JSON.stringify(answerInspections(other, question))));
}

const idsOf = (inspections: Inspections, accountId = 'ac_1') => inspections.ofAccount(accountId).map(({ id }) => id);

test('processes that tell each other know the same, in whatever order they began, ended and heard', () => {
  let seed = 7;
  // Numerical Recipes' generator: the same in every run.
  const random = (): number => (seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32) / 2 ** 32;
  for (let round = 0; round < 60; round++) {
    const all = [new Inspections(), new Inspections(), new Inspections()] as const;
    const one = (): Inspections => all[Math.floor(random() * all.length)] ?? all[0];
    const gone = new Set<string>();
    for (let step = 0; step < 40; step++) {
      const at = one();
      const [known] = at.ofAccount('ac_1').toSorted(() => random() - 0.5);
      if (random() < 0.4) at.start(terms(`i_${step + 10}`, 'ac_1', `e_${Math.floor(random() * 8)}`), 'usr_1');
      else if (random() < 0.3 && known !== undefined && at.end('ac_1', known.id)) gone.add(known.id);
      else meet(at, one());
    }
    for (let at = 0; at < 3; at++) for (const each of all) for (const other of all) meet(each, other);
    const ids = idsOf(all[0]);
    for (const each of all) assert.deepEqual(idsOf(each), ids, `round ${round}`);
    assert.ok(ids.length <= mostOfAccount);
    assert.deepEqual(
      ids.filter((id) => gone.has(id)),
      [],
    );
    const subjects = all[0].ofAccount('ac_1').map(({ subjectId }) => subjectId);
    assert.equal(new Set(subjects).size, subjects.length);
  }
});

test('what another process tells ends with the hour, is told to the workers, and is never of another account', (t) => {
  t.mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_000_000 });
  const [one, other] = [new Inspections(), new Inspections()];
  const told: string[][] = [];
  other.to((all) => told.push(all.map(({ id }) => id)));
  one.start({ ...terms('i_1'), endsAtMs: Date.now() + 1000 }, 'usr_1');
  one.start(terms('i_2', 'ac_2'), 'usr_2');
  meet(one, other);
  meet(one, other);
  assert.deepEqual(told, [[], ['i_1']]);
  assert.deepEqual(
    other.ofAccount('ac_1').map(({ startedBy, subjectId, endsAtMs }) => [startedBy, subjectId, endsAtMs]),
    [['usr_1', 'e_i_1', 1_001_000]],
  );
  assert.deepEqual(idsOf(other, 'ac_2'), []);
  t.mock.timers.tick(1000);
  assert.deepEqual([idsOf(other), told.at(-1)], [[], []]);
  // One that has not heard of the end cannot bring it back.
  const late = { ...one.share('ac_1'), known: [{ ...knownAs('i_1'), leftMs: 500 }] };
  other.learn('ac_1', late);
  assert.deepEqual(idsOf(other), []);
});

test('one who asks again gets what has come since, and all of it from a process that was started anew', () => {
  const inspections = new Inspections();
  inspections.start(terms('i_1'), 'usr_1');
  const ids = (after: number) => inspections.reply('ac_1', { id: 'i_1', after }).requests.map(({ id }) => id);
  assert.deepEqual([ids(0), inspections.reply('ac_1', { id: 'i_1', after: 0 }).newest], [[], 0]);
  for (const [id, atMs] of [
    ['op_1', 5],
    ['op_2', 9],
    ['op_3', 7],
  ] as const)
    inspections.inspected(request('i_1', { id, atMs }));
  assert.equal(inspections.reply('ac_1', { id: 'i_1', after: 0 }).newest, 3);
  assert.deepEqual([ids(0), ids(1), ids(3), ids(9)], [['op_2', 'op_3', 'op_1'], ['op_2', 'op_3'], [], ids(0)]);
  assert.deepEqual(inspections.reply('ac_2', { id: 'i_1', after: 0 }).requests, []);
});

test('what cannot be read of another process is refused, and changes nothing', () => {
  const inspections = new Inspections();
  const question = { about: 'inspections', accountId: 'ac_1', known: [knownAs('i_1')], ended: [] };
  for (const over of [
    { about: 'decisions' },
    { accountId: 'ac 1' },
    { known: undefined },
    { known: Array.from({ length: mostOfAccount + 1 }, (_, at) => knownAs(`i_${at}`)) },
    { known: [{ ...knownAs('i_1'), leftMs: 3_600_001 }] },
    { known: [{ ...knownAs('i_1'), ageMs: -1 }] },
    { known: [{ ...knownAs('i_1'), subjectId: 'x'.repeat(65) }] },
    { known: [null] },
    { ended: Array.from({ length: 101 }, (_, at) => `i_${at}`) },
    { ended: ["'"] },
    { of: { id: 'i_1', after: '0' } },
  ])
    assert.throws(() => answerInspections(inspections, { ...question, ...over }), JSON.stringify(over));
  assert.deepEqual(idsOf(inspections), []);
  assert.equal(answerInspections(inspections, question).known.length, 1);
  const reply = { known: [], ended: [], newest: 1, requests: [request('i_1'), request('i_1', { accountId: 'ac_2' })] };
  assert.equal(readReply('ac_1', reply).requests.length, 1);
  assert.throws(() => readReply('ac_1', { ...reply, requests: undefined }));
});

test('of very many that have ended, the newest are remembered, of each account', () => {
  const inspections = new Inspections();
  for (let at = 100; at < 160; at++) {
    inspections.start(terms(`i_${at}`), 'usr_1');
    inspections.end('ac_1', `i_${at}`);
  }
  const { ended } = inspections.share('ac_1');
  assert.deepEqual([ended.length, ended[0], ended.at(-1)], [50, 'i_110', 'i_159']);
  for (let at = 0; at < 600; at++) {
    inspections.start(terms(`o_${at}`, `ac_o${at}`), 'usr_1');
    inspections.end(`ac_o${at}`, `o_${at}`);
  }
  assert.deepEqual([inspections.share('ac_1').ended, inspections.share('ac_o599').ended], [[], ['o_599']]);
});

function knownAs(id: string) {
  return { id, subjectId: `e_${id}`, startedBy: 'usr_1', ageMs: 0, leftMs: 1000, recorded: 0, leftOut: 0 };
}
