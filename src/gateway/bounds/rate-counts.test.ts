import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RateLimit } from '../../modules/step.ts';
import type { RateReport } from '../engine.ts';
import { RateCounts } from './rate-counts.ts';

const rule: RateLimit = { scope: 'own', limit: 10, windowMs: 60_000, by: 'source', header: '', enforced: true };

class Process implements Disposable {
  static now = 0;
  readonly reports: RateReport[] = [];
  readonly counts = new RateCounts(
    { ratesCounted: (reports) => void this.reports.push(...reports) },
    { now: () => Process.now },
  );

  take(times: number, key = 'a', asked: RateLimit = rule): readonly unknown[] {
    return Array.from({ length: times }, () => this.counts.take('ac', 'route', asked, key));
  }

  /** Passes on what it has counted since the last time. */
  tell(...processes: readonly Process[]): void {
    this.counts.report();
    for (const each of processes) each.counts.add(this.reports);
    this.reports.length = 0;
  }

  [Symbol.dispose](): void {
    this.counts[Symbol.dispose]();
  }
}

const passed = (outcomes: readonly unknown[]): number => outcomes.filter((each) => typeof each !== 'number').length;

test('so many pass within a window, and each key counts for itself', () => {
  Process.now = 600_000;
  using process = new Process();
  assert.equal(passed(process.take(25)), 10);
  assert.equal(passed(process.take(25, 'b')), 10);
});

test('the window slides: no boundary lets twice as many pass', () => {
  Process.now = 600_000 + 59_000;
  using process = new Process();
  assert.equal(passed(process.take(20)), 10);
  Process.now += 2000;
  assert.equal(passed(process.take(20)), 0, 'two seconds later, in the next window');
  Process.now += 29_000;
  assert.equal(passed(process.take(20)), 5, 'half of it has slid out');
  Process.now += 120_000;
  assert.equal(passed(process.take(20)), 10, 'all is forgotten');
});

test('who waits as long as it was told passes, and not before', () => {
  for (const at of [0, 10_000, 59_900]) {
    Process.now = 600_000 + at;
    using process = new Process();
    process.take(10);
    const [seconds] = process.take(1);
    assert(typeof seconds === 'number' && seconds >= 1 && seconds <= 120, String(seconds));
    Process.now += seconds * 1000;
    assert.equal(passed(process.take(1)), 1, `after ${seconds} s, from ${at} ms`);
    assert.equal(passed(process.take(10)) < 10, true);
  }
});

test('a rule that is not enforced refuses nobody and counts who would be', () => {
  Process.now = 600_000;
  using process = new Process();
  assert.equal(passed(process.take(25, 'a', { ...rule, enforced: false })), 25);
  process.counts.report();
  assert.equal(process.reports[0]?.warned, 15);
  assert.deepEqual(process.reports[0].counted, [['a', 25]]);
});

test('processes count together as soon as they have told each other, and alone go on', () => {
  Process.now = 600_000;
  using a = new Process();
  using b = new Process();
  using c = new Process();
  assert.equal(passed(a.take(6)), 6);
  a.tell(b, c);
  assert.equal(passed(b.take(6)), 4);
  b.tell(a, c);
  assert.deepEqual([passed(a.take(5)), passed(b.take(5)), passed(c.take(5))], [0, 0, 0]);
  Process.now += 60_000;
  a.take(1);
  Process.now += 30_000;
  assert.equal(passed(c.take(20)), 5, 'what others let in slides out as well');
  assert.equal(passed(a.take(20)) > 0, true, 'nothing was told: it goes on with what it knows');
});

test('the time that is told is exact: in this window once enough of the one before has slid out, else in the next', () => {
  Process.now = 600_000;
  using process = new Process();
  process.take(10);
  assert.deepEqual(process.take(1), [66], 'a full window, of which one tenth must slide out in the next');
  Process.now += 60_000;
  assert.deepEqual(process.take(1), [6]);
  Process.now += 30_000;
  assert.equal(passed(process.take(3)), 3);
  assert.deepEqual(
    process.take(3),
    [undefined, undefined, 6],
    'five were left of the window before, and three were taken',
  );
});

test('counts that come late belong to the window that they name, and those of older ones to none', () => {
  Process.now = 600_000;
  using a = new Process();
  a.take(10);
  const [late] = a.counts.all();
  assert.deepEqual(late, { rule: 'ac route source  60000', window: 10, counted: [['a', 10]], refused: 0, warned: 0 });
  for (const [windowsLater, left] of [
    [0, 0],
    [1, 0],
    [2, 10],
    [-1, 10],
  ] as const) {
    Process.now = 600_000 + windowsLater * 60_000;
    using b = new Process();
    b.take(0);
    b.counts.take('ac', 'route', rule, 'other');
    b.counts.add([late]);
    assert.equal(passed(b.take(20)), left, `${windowsLater} windows later`);
  }
});

test('one who starts later is told the counts of both windows, and refusals are told once', () => {
  Process.now = 600_000;
  using a = new Process();
  a.take(12);
  Process.now += 60_000;
  assert.deepEqual(a.reports, [], 'nothing is told before its time');
  a.take(1, 'b');
  const told = [{ rule: 'ac route source  60000', window: 10, counted: [['a', 10]], refused: 2, warned: 0 }];
  assert.deepEqual(a.reports, told, 'with its window, before the next one is counted');
  a.counts.report();
  a.counts.report();
  assert.equal(a.reports.length, 2);
  using late = new Process();
  late.counts.add(a.counts.all());
  assert.equal(passed(late.take(1)), 0);
  assert.equal(passed(late.take(20, 'b')), 9);
});

test('others are told 50 ms after the first, and rules that nobody asks any more are forgotten with their keys', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  Process.now = 600_000;
  using process = new Process();
  process.take(3);
  t.mock.timers.tick(49);
  assert.equal(process.reports.length, 0);
  t.mock.timers.tick(1);
  assert.equal(process.reports.length, 1);
  process.take(1, 'b');
  t.mock.timers.tick(50);
  assert.deepEqual(process.reports[1]?.counted, [['b', 1]]);
  Process.now += 60_000;
  t.mock.timers.tick(60_000);
  assert.equal(process.counts.all().length, 1, 'the window before still counts');
  Process.now += 60_000;
  t.mock.timers.tick(60_000);
  assert.deepEqual(process.counts.all(), []);
});

test('keys of rules that are forgotten leave their room', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  Process.now = 600_000;
  using counts = new RateCounts({ ratesCounted: () => {} }, { now: () => Process.now, mostKeys: 20 });
  for (let at = 0; at < 10; at++) counts.take('ac', `route${at}`, rule, `k${at}`);
  assert.equal(passed(Array.from({ length: 20 }, () => counts.take('ac', 'route', rule, 'none'))), 10);
  const apart = counts.all().flatMap(({ counted }) => counted.map(([key]) => key));
  assert.equal(apart.filter((key) => key !== '').length, 10, 'half of the room, so that others have some');
  Process.now += 180_000;
  t.mock.timers.tick(60_000);
  assert.deepEqual(counts.all(), []);
  counts.take('ac', 'route', rule, 'new');
  assert.deepEqual(counts.all()[0]?.counted, [['new', 1]]);
});

test('keys without number share one count, and escape by none', () => {
  Process.now = 600_000;
  using process = new Process();
  for (let at = 0; at < 100_000; at++) process.counts.take('ac', 'route', rule, `k${at}`);
  let let_in = 0;
  for (let at = 0; at < 1000; at++) if (process.counts.take('ac', 'route', rule, `new${at}`) === undefined) let_in++;
  assert.equal(let_in, 10);
  assert.equal(passed(process.take(20, 'k5')), 9, 'one that is counted apart goes on so');
});

test('a key that is counted with others from now on keeps its count of the window before', () => {
  Process.now = 600_000;
  using counts = new RateCounts({ ratesCounted: () => {} }, { now: () => Process.now, mostKeys: 4 });
  for (let times = 0; times < 10; times++) counts.take('ac', 'route', rule, 'a');
  for (const key of ['b', 'c', 'd']) counts.take('ac', 'route', rule, key);
  Process.now += 60_000;
  assert.equal(typeof counts.take('ac', 'route', rule, 'a'), 'number', 'it was over in the window that still counts');
  assert.equal(counts.take('ac', 'route', rule, 'b'), undefined);
});

test('an account that makes up keys without number leaves some to be counted apart for others', () => {
  Process.now = 600_000;
  using counts = new RateCounts({ ratesCounted: () => {} }, { now: () => Process.now, mostKeys: 1000 });
  const isApart = (account: string, route: string, key: string) =>
    passed(Array.from({ length: 10 }, () => counts.take(account, route, rule, key))) === 10;
  const flood = (account: string) => {
    for (let at = 0; at < 2000; at++) counts.take(account, `route${at % 20}`, rule, `k${at}`);
  };
  flood('hostile');
  assert.ok(!isApart('hostile', 'route0', 'new'));
  for (let at = 0; at < 200; at++) assert.ok(isApart('neighbour', 'route', `k${at}`), `${at}`);
  flood('second');
  assert.ok(!isApart('second', 'route0', 'new'));
  assert.ok(isApart('third', 'route', 'k'));
  // Keys are forgotten with their window.
  Process.now += 180_000;
  for (let at = 0; at < 20; at++) counts.take('hostile', `route${at}`, rule, 'k');
  assert.ok(isApart('hostile', 'route0', 'new'));
});

test('a clock that is set back or far ahead refuses nobody for long', () => {
  Process.now = 600_000_000;
  using process = new Process();
  process.take(10);
  for (const step of [-3_600_000, 86_400_000]) {
    Process.now += step;
    assert.equal(passed(process.take(20)), 10);
  }
});
