import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { nextTurn } from '../../lib/next-turn.ts';
import { CallQueue } from './call-queue.ts';
import { QueuedCall } from './waiting-calls.ts';

/** Longer than any wait of these tests, however slow the machine is. */
const limitMs = 120_000;
const never = 10 * limitMs;

function newQueue(
  accountLimit: number,
  maxWaitMs: number,
  principalLimit = accountLimit,
  isBesideTraffic = () => false,
) {
  const begun: string[] = [];
  let waiting = 0;
  const onWaiting = (count: number) => (waiting = count);
  const queue = new CallQueue({ accountLimit, principalLimit, maxWaitMs, onWaiting, isBesideTraffic });
  /** Enters a call that takes so long on the processor, and is noted when it begins or is refused. */
  const enter = (account: string, name: string, busyMs = 0, principal = 'someone'): QueuedCall => {
    const call = new QueuedCall(queue, (refusal) => {
      begun.push(refusal === undefined ? name : `${name} ${refusal}`);
      const untilMs = performance.now() + busyMs;
      while (performance.now() < untilMs);
    });
    queue.enter(account, principal, call);
    return call;
  };
  const until = async (condition: () => boolean) => {
    const startMs = performance.now();
    while (!condition()) {
      assert.ok(performance.now() - startMs < limitMs, `it took too long: ${begun.join()}`);
      await sleep(1);
    }
  };
  return { queue, begun, enter, until, waiting: () => waiting };
}

describe('the queue of calls', () => {
  test('begins a call at once while there is room', async () => {
    const { begun, enter, until, waiting } = newQueue(2, never);
    enter('a', 'one');
    assert.deepEqual(begun, ['one']);
    enter('a', 'two');
    await until(() => begun.includes('two'));
    assert.equal(waiting(), 0);
  });

  test('keeps calls of a full account waiting in their order, and those of no other', async () => {
    const { begun, enter, until, waiting } = newQueue(2, never);
    const calls = ['one', 'two', 'three', 'four'].map((name) => enter('a', name));
    enter('b', 'other');
    await until(() => begun.length === 3);
    await nextTurn();
    assert.deepEqual(begun, ['one', 'two', 'other']);
    assert.equal(waiting(), 2);
    calls[1]?.release();
    await until(() => begun.includes('three'));
    assert.ok(!begun.includes('four'));
    calls[0]?.release();
    await until(() => begun.includes('four'));
    assert.equal(waiting(), 0);
  });

  test('gives accounts turns when the processor is short: one with many calls does not keep another waiting', async () => {
    const { begun, enter, until } = newQueue(1000, never);
    for (let at = 0; at < 50; at++) enter('a', `a${at}`, 3);
    enter('b', 'b');
    enter('c', 'c');
    await until(() => begun.length === 52);
    assert.deepEqual(begun.slice(0, 5), ['a0', 'a1', 'b', 'c', 'a2']);
    assert.equal(begun.at(-1), 'a49');
  });

  test('lets the event loop turn between slices of calls', async () => {
    const { begun, enter, until } = newQueue(1000, never);
    let turns = 0;
    const count = () => {
      turns += 1;
      if (begun.length < 40) setImmediate(count);
    };
    setImmediate(count);
    for (let at = 0; at < 40; at++) enter('a', `a${at}`, 3);
    await until(() => begun.length === 40);
    // All at once would be two turns.
    assert.ok(turns >= 4, `${turns} turns`);
  });

  for (const isBesideTraffic of [true, false]) {
    const title = isBesideTraffic ? 'beside traffic only a few calls begin' : 'without traffic many calls may begin';
    test(`${title} in a turn of the event loop`, async () => {
      const { begun, enter, until } = newQueue(1000, never, 1000, () => isBesideTraffic);
      for (let at = 0; at < 100; at++) enter('a', `a${at}`);
      const inTurn = [begun.length];
      const count = () => {
        inTurn.push(begun.length - inTurn.reduce((sum, each) => sum + each, 0));
        if (begun.length < 100) setImmediate(count);
      };
      setImmediate(count);
      await until(() => begun.length === 100);
      assert.equal(Math.max(...inTurn) <= 8, isBesideTraffic, inTurn.join());
    });
  }

  test('refuses a call whose turn does not come in time, and says what it has waited for', async () => {
    const { begun, enter, until } = newQueue(1, 5);
    enter('a', 'long');
    enter('a', 'late');
    enter('a', 'other', 0, 'another');
    await until(() => begun.length === 3);
    assert.deepEqual(begun, ['long', 'late principal_busy', 'other account_busy']);
  });

  test('refuses a call at once when those before it will take too long, and those of no other account', async () => {
    const { queue, begun, enter, until } = newQueue(4, 50);
    const late: string[] = [];
    for (let at = 0; at < 40; at++) {
      const call = new QueuedCall(queue, () => {
        begun.push('served');
        for (const startMs = performance.now(); performance.now() - startMs < 10;);
        call.release();
        // By now it is known how long each takes, and more wait than can be served in time.
        if (at === 20)
          for (const account of ['a', 'b'])
            queue.enter(account, 'someone', new QueuedCall(queue, (refusal) => late.push(`${account} ${refusal}`)));
      });
      queue.enter('a', 'someone', call);
    }
    await until(() => begun.length === 40 && late.length === 2);
    assert.deepEqual(late, ['a overloaded', 'b undefined']);
    // The queue is empty: nothing follows from earlier calls.
    enter('a', 'later');
    await until(() => begun.includes('later'));
  });

  test('keeps as many calls waiting as may be in progress, however long those take', async () => {
    const { begun, enter, waiting, until } = newQueue(3, 1);
    const calls = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => enter('a', name));
    await until(() => begun.length === 3);
    assert.equal(waiting(), 3);
    for (const call of calls) call.release();
    await until(() => waiting() === 0);
    assert.ok(
      begun.every((each) => !each.includes(' ')),
      begun.join(),
    );
  });

  test('does not begin a call whose client has gone', async () => {
    const { begun, enter, until } = newQueue(1, never);
    const first = enter('a', 'first');
    const gone = enter('a', 'gone');
    enter('a', 'last');
    gone.release();
    first.release();
    await until(() => begun.includes('last'));
    assert.deepEqual(begun, ['first', 'last']);
  });

  test('keeps the place of a call until the work for it has ended, even if its client has gone', async () => {
    const { begun, enter, until } = newQueue(1, never);
    const first = enter('a', 'first');
    enter('a', 'second');
    const work = Promise.withResolvers<void>();
    first.holdFor(work.promise);
    first.release();
    await nextTurn();
    await nextTurn();
    assert.deepEqual(begun, ['first']);
    work.reject(new Error('it failed'));
    await until(() => begun.includes('second'));
  });

  test('keeps places of an account free from a principal that takes all it can, and says so', async () => {
    const { begun, enter, until } = newQueue(4, 5, 3);
    for (const name of ['b1', 'b2', 'b3', 'b4']) enter('a', name, 0, 'bot');
    enter('a', 'admin', 0, 'admin');
    await until(() => begun.length === 5);
    assert.deepEqual(begun, ['b1', 'b2', 'b3', 'admin', 'b4 principal_busy']);
  });

  test('gives the principals of an account turns: many calls of one do not keep another waiting', async () => {
    const { queue, begun, enter, until } = newQueue(2, never);
    const calls = Array.from({ length: 10 }, (_, at) => enter('a', `b${at}`, 0, 'bot'));
    enter('a', 'admin', 0, 'admin');
    assert.equal(queue.refusalFor('a', 'admin'), undefined);
    await until(() => begun.length === 2);
    calls[0]?.release();
    await until(() => begun.length === 3);
    calls[1]?.release();
    await until(() => begun.length === 4);
    assert.deepEqual(begun, ['b0', 'b1', 'b2', 'admin']);
  });

  test('gives accounts turns, however many principals one of them has', async () => {
    const { begun, enter, until } = newQueue(1000, never);
    for (let at = 0; at < 20; at++) enter('a', `a${at}`, 3, `principal ${at}`);
    enter('b', 'b');
    await until(() => begun.length === 21);
    assert.deepEqual(begun.slice(0, 3), ['a0', 'a1', 'b']);
  });
});
