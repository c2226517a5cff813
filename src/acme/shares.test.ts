import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { DueJob } from './plan.ts';
import { divideOrders, keptForRenewals } from './shares.ts';
import type { PastOrder, ShareInput } from './shares.ts';

type Kind = 'new' | 'renewal';

const limit = 20;
const job = (accountId: string, kind: Kind, hostname = 'a.test'): DueJob => ({
  job: { accountId, hostname, keyType: 'ecdsa', failures: 0 },
  isRenewal: kind === 'renewal',
  endsMs: 0,
});
const past = (accountId: string | undefined, kind: Kind, count: number): readonly PastOrder[] =>
  Array.from({ length: count }, () => ({ accountId, isRenewal: kind === 'renewal' }));

/** Carries out whatever may be, as if each order took no time; returns the orders of the hour. */
function carryOut(input: Partial<ShareInput> & Pick<ShareInput, 'due'>): readonly PastOrder[] {
  const { ordersPerHour = limit, accounts = 10 } = input;
  let { due, orders = [] } = input;
  for (;;) {
    const { next } = divideOrders({ due, orders, ordersPerHour, accounts });
    if (next === undefined) return orders;
    due = due.filter((each) => each !== next);
    orders = [...orders, { accountId: next.job.accountId, isRenewal: next.isRenewal }];
  }
}

function many(accountId: string, kind: Kind, count = 100): readonly DueJob[] {
  return Array.from({ length: count }, (_, at) => job(accountId, kind, `n${at}.test`));
}

function countOf(orders: readonly PastOrder[], accountId: string): number {
  return orders.filter((order) => order.accountId === accountId).length;
}

test('new names leave a quarter of the orders to renewals, which may use all', () => {
  assert.deepEqual([1, 2, 4, 20].map(keptForRenewals), [0, 1, 1, 5]);
  const orders = carryOut({ due: many('a', 'new'), accounts: 1 });
  assert.equal(orders.length, 15, 'an account that is alone has them to itself');
  assert.equal(carryOut({ due: many('b', 'renewal'), orders, accounts: 1 }).length, 20);
  assert.equal(carryOut({ due: many('a', 'renewal'), accounts: 1 }).length, 20);
  const renewed = past('a', 'renewal', 17);
  assert.deepEqual(
    divideOrders({ due: [job('b', 'new')], orders: renewed, ordersPerHour: limit, accounts: 10 }).held.map(
      ({ by }) => by,
    ),
    ['all'],
  );
});

test('renewals go before new names, whosesoever they are', () => {
  const due = [...many('a', 'renewal', 2), ...many('b', 'new', 2)];
  assert.deepEqual(
    carryOut({ due }).map(({ isRenewal }) => isRenewal),
    [true, true, false, false],
  );
});

test('new names of one account do not use up the orders of others that come later', () => {
  const first = carryOut({ due: many('a', 'new') });
  assert.equal(first.length, 8);
  const second = carryOut({ due: [...many('a', 'new'), ...many('b', 'new')], orders: first });
  assert.deepEqual([countOf(second, 'a'), countOf(second, 'b')], [8, 5]);
  const third = carryOut({ due: [...many('a', 'new'), ...many('b', 'new'), ...many('c', 'new')], orders: second });
  assert.deepEqual([countOf(third, 'a'), countOf(third, 'b'), countOf(third, 'c')], [8, 5, 2]);
});

test('accounts that come together have equal shares and take turns, and what nobody wants is not kept', () => {
  const orders = carryOut({ due: [...many('a', 'new'), ...many('b', 'new')], accounts: 2 });
  assert.deepEqual([countOf(orders, 'a'), countOf(orders, 'b')], [8, 7]);
  assert.deepEqual(
    orders.slice(0, 4).map(({ accountId }) => accountId),
    ['a', 'b', 'a', 'b'],
  );
});

test('renewals of one account, which may all fail, do not use up those of others', () => {
  const first = carryOut({ due: many('a', 'renewal') });
  assert.equal(first.length, 10);
  const { next, held } = divideOrders({
    due: [...many('a', 'renewal'), job('b', 'renewal'), job('c', 'new')],
    orders: first,
    ordersPerHour: limit,
    accounts: 10,
  });
  assert.equal(next?.job.accountId, 'b');
  assert.deepEqual(new Set(held.map(({ job: { accountId }, by }) => `${accountId} ${by}`)), new Set(['a share']));
});

test('every account may order one, however many there are, and the orders are never more than the bound', () => {
  const accounts = Array.from({ length: 50 }, (_, at) => `ac_${at}`);
  const orders = carryOut({ due: accounts.flatMap((id) => many(id, 'new', 3)), accounts: 50 });
  assert.equal(orders.length, 15);
  assert.ok(accounts.every((id) => countOf(orders, id) <= 1));
  assert.equal(carryOut({ due: [job('a', 'new')], ordersPerHour: 1 }).length, 1);
});

test('an order that was begun is finished beyond the bound, and orders of an older version count for all', () => {
  const due = job('a', 'new');
  const begun = { ...due, job: { ...due.job, orderUrl: 'https://ca/1' } };
  const orders = past(undefined, 'new', 20);
  assert.equal(divideOrders({ due: [begun], orders, ordersPerHour: limit, accounts: 1 }).next, begun);
  assert.equal(divideOrders({ due: [due], orders, ordersPerHour: limit, accounts: 1 }).next, undefined);
});
