import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';

import { Seen } from '../../test/support/decisions.ts';
import { TooMuchWaits } from '../lib/fair-turns.ts';
import { AbandonedError } from '../lib/pace.ts';
import { DecisionReader, DecisionsUnreadable, readLimits } from './decision-reader.ts';

/** A reader whose answers the test gives. */
class Asked {
  readonly accounts: string[] = [];
  readonly seen = new Seen();
  readonly answers: PromiseWithResolvers<{ readonly rows: [] }>[] = [];
  readonly reader = new DecisionReader({
    log: this.seen.log,
  });

  read(accountId: string, isAbandoned?: () => boolean) {
    const ask = () => {
      this.accounts.push(accountId);
      const answer = Promise.withResolvers<{ readonly rows: [] }>();
      this.answers.push(answer);
      return answer.promise;
    };
    return this.reader.read(accountId, ask, isAbandoned);
  }
}

test('an account that asks a lot waits for itself, and another one has its turn', async () => {
  const asked = new Asked();
  const all = Array.from({ length: 1 + readLimits.waiting }, () => asked.read('ac_many'));
  await assert.rejects(asked.read('ac_many'), TooMuchWaits);
  all.push(asked.read('ac_one'), asked.read('ac_two'));
  await nextTurn();
  assert.deepEqual(asked.accounts, ['ac_many', 'ac_one']);
  asked.answers[0]?.resolve({ rows: [] });
  await nextTurn();
  assert.deepEqual(asked.accounts, ['ac_many', 'ac_one', 'ac_two']);
  for (let at = 1; at < all.length; at++) {
    asked.answers[at]?.resolve({ rows: [] });
    await nextTurn();
  }
  await Promise.all(all);
  assert.equal(asked.accounts.length, all.length);
});

test('a query that nobody waits for any more is not made', async () => {
  const asked = new Asked();
  const first = asked.read('ac_one');
  let isAbandoned = false;
  const second = asked.read('ac_one', () => isAbandoned);
  await nextTurn();
  isAbandoned = true;
  asked.answers[0]?.resolve({ rows: [] });
  await first;
  await assert.rejects(second, AbandonedError);
  assert.equal(asked.accounts.length, 1);
});

test('the cause of a fault is for the log alone', async () => {
  const asked = new Asked();
  const read = asked.read('ac_one');
  await nextTurn();
  asked.answers[0]?.reject(new Error('IO Error: /var/lib/secret'));
  await assert.rejects(read, (error) => error instanceof DecisionsUnreadable && !error.message.includes('/var'));
  assert.equal(asked.seen.lines.length, 1);
});
