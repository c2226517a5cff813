import assert from 'node:assert/strict';
import { test } from 'node:test';

import { visitBudget } from '../../modules/visit-budget.ts';
import { AskedAgain } from './asked-again.ts';

test('connections of an account that cost too much together end unasked, and those of others are asked', () => {
  const asked = new AskedAgain();
  const budget = visitBudget();
  const costs = (units: number) => (): number => {
    budget.spend(units);
    return 5;
  };
  const most = 20_000_000 / 200_000;
  for (let at = 0; at < most; at++) assert.equal(asked.untilOf({ accountId: 'one', budget }, costs(200_000)), 5);
  assert.equal(
    asked.untilOf({ accountId: 'one', budget }, () => assert.fail('it is not asked')),
    0,
  );
  assert.equal(asked.untilOf({ accountId: 'two', budget }, costs(0)), 5);
});
