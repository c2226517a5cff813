import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import type { RateLimit } from '../../modules/step.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { ratePeerUnreachable } from '../errors.ts';
import { RateCounts } from './rate-counts.ts';
import { readRates } from './rate-message.ts';
import { SharedRates } from './shared-rates.ts';

const rule: RateLimit = { scope: 'own', limit: 60, windowMs: 60_000, by: 'source', header: '', enforced: true };

/** Gateways that reach each other by name, as far as they are there. */
class Installation {
  now = 600_000;
  elapsedMs = 0;
  readonly gateways = new Map<string, Gateway>();

  start(id: string, aheadMs = 0): Gateway {
    const gateway = new Gateway(this, id, aheadMs);
    this.gateways.set(id, gateway);
    for (const each of this.gateways.values()) each.shared.follow();
    return gateway;
  }
}

class Gateway implements Disposable {
  readonly lines: { readonly code?: number; readonly message: string }[] = [];
  readonly shares = { told: 0, heard: 0, dropped: 0 };
  readonly messages: string[] = [];
  readonly shared: SharedRates;
  readonly counts: RateCounts;
  isReachable = true;
  isReady = true;
  attempts = 0;
  #closers: (() => void)[] = [];

  constructor(installation: Installation, id: string, aheadMs: number) {
    const now = (): number => installation.now + aheadMs;
    const write = (fields: object, message: string) => void this.lines.push({ ...fields, message });
    this.shared = new SharedRates({
      log: { info: write, warn: write, error: write },
      observer: { ratesShared: (way, requests) => (this.shares[way] += requests) },
      now,
      elapsed: () => installation.elapsedMs,
    });
    this.counts = new RateCounts(this.shared, { now });
    const ids = () => [...installation.gateways.keys()].filter((each) => each !== id);
    this.shared.open({ ids, open: (to, closed) => this.#open(installation.gateways.get(to), closed) }, (reports) => {
      this.counts.add(reports);
    });
  }

  /** Returns how many of so many requests are let in. */
  take(times: number, key = 'a', asked: RateLimit = rule): number {
    const outcomes = Array.from({ length: times }, () => this.counts.take('ac', 'route', asked, key));
    return outcomes.filter((each) => typeof each !== 'number').length;
  }

  /** Tells the others, if they can be reached, what was let in. */
  async tell(): Promise<void> {
    this.counts.report();
    this.shared.tell();
    await turn();
    this.shared.tell();
  }

  /** Breaks the ways that others have to this one. */
  breakWays(): void {
    for (const close of this.#closers.splice(0)) close();
  }

  [Symbol.dispose](): void {
    this.counts[Symbol.dispose]();
    this.shared[Symbol.dispose]();
  }

  async #open(other: Gateway | undefined, closed: () => void) {
    this.attempts++;
    if (other?.isReachable !== true) throw new Error('it cannot be reached');
    other.#closers.push(closed);
    return {
      get isReady() {
        return other.isReady;
      },
      send: (message: object) => {
        const text = JSON.stringify(message);
        this.messages.push(text);
        other.shared.hear(JSON.parse(text));
      },
    };
  }
}

test('gateways count together as soon as they have told each other', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  using c = installation.start('c');
  for (const each of [a, b, c]) assert.equal(each.take(20), 20);
  for (const each of [a, b, c]) await each.tell();
  assert.deepEqual([a.take(5), b.take(5), c.take(5)], [0, 0, 0]);
  assert.deepEqual(a.shares, { told: 40, heard: 40, dropped: 0 });
  assert.equal(a.take(5, 'b'), 5, 'another key has its own count');
});

test('clocks that differ by any time make no difference', async () => {
  for (const aheadMs of [-86_400_000, -40_000, 2000, 59_999, 3_600_000_000]) {
    const installation = new Installation();
    using a = installation.start('a');
    using b = installation.start('b', aheadMs);
    assert.equal(a.take(60), 60);
    await a.tell();
    assert.equal(b.take(60), 0, `${aheadMs} ms ahead`);
  }
});

test('what was let in before a window began counts by the part that the window still covers', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  assert.equal(a.take(60), 60);
  a.counts.report();
  installation.now += 90_000;
  await a.tell();
  assert.equal(b.take(60), 30);
});

test('one that starts later is told what those who run have let in, and once', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  a.take(20);
  b.take(20);
  for (const each of [a, b]) await each.tell();
  using c = installation.start('c');
  for (const each of [a, b]) await each.tell();
  assert.equal(c.take(60), 20);
  // Forgotten for a while, as after a pause of its process.
  installation.gateways.delete('c');
  for (const each of [a, b]) each.shared.follow();
  installation.gateways.set('c', c);
  for (const each of [a, b]) each.shared.follow();
  for (const each of [a, b]) await each.tell();
  assert.equal(c.shares.heard, 40);
});

test('one that cannot be reached holds nobody up, is said once in the log, and is told later', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  using c = installation.start('c');
  c.isReachable = false;
  a.take(10);
  await a.tell();
  assert.equal(a.shared.unreachable, 1);
  assert.equal(b.shares.heard, 10, 'the others are told meanwhile');
  // Each change of processes is a reason to try again.
  for (let round = 0; round < 5; round++) {
    a.shared.follow();
    await a.tell();
  }
  assert.deepEqual(
    a.lines.map(({ code }) => code),
    [ratePeerUnreachable.code],
  );
  a.take(10);
  await a.tell();
  c.isReachable = true;
  a.shared.follow();
  await a.tell();
  assert.equal(c.shares.heard, 20);
  assert.equal(c.take(60), 40);
});

test('one that was not reached is tried again, ever more seldom', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  b.isReachable = false;
  a.take(1);
  await a.tell();
  const attempts: number[] = [];
  for (let second = 0; second < 60; second++) {
    await a.tell();
    if (second % 10 === 9) attempts.push(a.attempts);
    installation.elapsedMs += 1000;
  }
  assert.deepEqual(attempts, [5, 6, 7, 8, 10, 11]);
  b.isReachable = true;
  installation.elapsedMs += 8000;
  await until(() => b.shares.heard === 1, 'it is told by itself');
});

test('a way that breaks is opened again, and a reader that is slow gets all of it at once later', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  a.take(5);
  await a.tell();
  b.breakWays();
  a.take(5);
  a.shared.follow();
  await a.tell();
  assert.equal(b.shares.heard, 10);
  b.isReady = false;
  for (let round = 0; round < 10; round++) {
    a.take(2);
    await a.tell();
  }
  assert.equal(b.shares.heard, 10);
  const before = a.messages.length;
  b.isReady = true;
  await a.tell();
  assert.equal(b.shares.heard, 30);
  assert.equal(a.messages.length, before + 1);
});

test('messages and what waits for them are bounded, however many keys there are', async () => {
  const installation = new Installation();
  using a = installation.start('a');
  using b = installation.start('b');
  b.isReady = false;
  const spread: RateLimit = { ...rule, limit: 10 };
  for (let owner = 0; owner < 2; owner++)
    for (let key = 0; key < 60_000; key++)
      a.counts.take('ac', `route${owner}`, spread, `s 2001:db8:${key.toString(16)}::`);
  await a.tell();
  assert.equal(a.shares.dropped, 20_000);
  b.isReady = true;
  for (let round = 0; round < 30; round++) await a.tell();
  assert.equal(b.shares.heard, 100_000);
  assert.ok(Math.max(...a.messages.map(({ length }) => length)) < 1024 * 1024);
});

test('a message that is not one is refused, and one of a later version is passed over', () => {
  const key = ['a', 1];
  for (const bad of [
    null,
    'rates',
    { kind: 'rates' },
    { kind: 'rates', rates: [[]] },
    { kind: 'rates', rates: [['route source  x', 0, [key]]] },
    { kind: 'rates', rates: [['ac route source  60000', 2, [key]]] },
    { kind: 'rates', rates: [['ac route source  60000', -1, [key]]] },
    { kind: 'rates', rates: [['ac route source  60000', 0, [['a', 0]]]] },
    { kind: 'rates', rates: [['ac route source  60000', 0, [['a', 1e300]]]] },
    { kind: 'rates', rates: [['ac route source  60000', 0, [['a'.repeat(1000), 1]]]] },
  ])
    assert.throws(() => readRates(bad, 0), JSON.stringify(bad));
  assert.equal(readRates({ kind: 'weather' }, 0), undefined);
  assert.equal(readRates({ kind: 'rates', rates: [['ac route source  60000', 1, [key]]] }, 600_000)?.[0]?.window, 9);
});
