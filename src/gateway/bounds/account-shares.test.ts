import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AccountShares } from './account-shares.ts';

function takeAll(shares: AccountShares, account: string): number {
  let taken = 0;
  for (; shares.mayTake(account, 1); taken++) shares.take(account, 1);
  return taken;
}

test('an account has a quarter at most, and however many take all that they can, there is some for the next one', () => {
  const shares = new AccountShares(() => 256);
  const taken = Array.from({ length: 8 }, (_, at) => takeAll(shares, `account ${at}`));
  assert.deepEqual(taken.slice(0, 4), [64, 64, 64, 32]);
  assert.ok(
    taken.every((each) => each > 0),
    taken.join(),
  );
  assert.equal(
    shares.used,
    taken.reduce((sum, each) => sum + each),
  );
});

test('what is given back may be taken again, and one that is given back by an account counts for it alone', () => {
  const shares = new AccountShares(() => 8);
  assert.equal(takeAll(shares, 'a'), 2);
  shares.take('a', -1);
  assert.equal(shares.mayTake('a', 1), true);
  assert.equal(shares.mayTake('a', 2), false);
  assert.equal(takeAll(shares, 'b'), 2);
});

test('of very few each account has one, as long as there is one', () => {
  const shares = new AccountShares(() => 2);
  assert.deepEqual([takeAll(shares, 'a'), takeAll(shares, 'b'), takeAll(shares, 'c')], [1, 1, 0]);
});
