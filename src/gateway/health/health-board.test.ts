import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ActiveCheckEntry, BalanceEntry } from '../../snapshot/contract.ts';
import { HealthBoard } from './health-board.ts';
import type { AddressHealth, AddressState, HealthNote } from './health-board.ts';

const active: ActiveCheckEntry = {
  kind: 'http',
  path: '/',
  statuses: [[200, 299]],
  intervalMs: 1000,
  timeoutMs: 1000,
  failures: 2,
  passes: 3,
};
const base: BalanceEntry = {
  addresses: [1, 2].map((port) => ({ host: 'a', port, weight: 1 })),
  by: 'round_robin',
  retries: 1,
  whenAllDown: 'fail_open',
  slowStartMs: 0,
};

function start(balance: Partial<BalanceEntry>) {
  const told: AddressState[] = [];
  const flips: string[] = [];
  let last: AddressHealth | undefined;
  const board = new HealthBoard((states) => told.push(...states), {
    addressHealth(health, isFlip) {
      last = health;
      if (isFlip) flips.push(`${health.address} ${health.state} ${health.by}: ${health.cause}`);
    },
    addressGone: (_, address) => flips.push(`${address} gone`),
  });
  const set = (changed: Partial<BalanceEntry>, addresses = base.addresses): void => {
    const entry = { kind: 'backend', id: 'b', host: 'a', port: 1, tls: false } as const;
    board.prepare({
      version: 1,
      full: false,
      set: [{ ...entry, balance: { ...base, addresses, ...changed } }],
      removed: [],
    })();
  };
  set(balance);
  const traffic = (ok: boolean): HealthNote => ({
    from: 'traffic',
    backendId: 'b',
    address: 'a:1',
    ok,
    cause: 'broke',
  });
  let streak = 0;
  let before: boolean | undefined;
  const check = (ok: boolean): HealthNote => {
    streak = before === ok ? streak + 1 : 1;
    before = ok;
    return { from: 'check', backendId: 'b', address: 'a:1', ok, streak, tookMs: 1, cause: 'it answered 500' };
  };
  return {
    board,
    set,
    flips,
    note: (ok: boolean) => board.note([traffic(ok)]),
    check: (ok: boolean) => board.note([check(ok)]),
    isDown: () => board.states().some(({ isDown }) => isDown),
    health: () => last,
    states: () => board.states(),
    told,
  };
}

test('failures of traffic in a row take an address out, and one success brings it back', () => {
  const { note, isDown, flips, told, states } = start({ passive: { failures: 3, statuses: [], downMs: 7000 } });
  note(false);
  assert.deepEqual(told.at(-1), { backendId: 'b', address: 'a:1', isDown: false, isFailing: true, trialMs: 7000 });
  note(false);
  note(true);
  note(false);
  note(false);
  assert.equal(isDown(), false);
  note(false);
  assert.equal(isDown(), true);
  assert.deepEqual(states(), [{ backendId: 'b', address: 'a:1', isDown: true, isFailing: true, trialMs: 7000 }]);
  note(true);
  assert.equal(isDown(), false);
  assert.deepEqual(flips, ['a:1 down traffic: broke', 'a:1 up traffic: undefined']);
});

test('checks take an address out and bring it back by their own thresholds', () => {
  const { check, note, isDown, health, states } = start({ active });
  assert.equal(health()?.state, 'unchecked');
  check(true);
  assert.equal(health()?.state, 'up');
  check(false);
  assert.equal(isDown(), false);
  check(false);
  assert.equal(isDown(), true);
  assert.deepEqual([health()?.state, health()?.cause, health()?.failures], ['down', 'it answered 500', 2]);
  // Nothing but checks brings it back.
  assert.equal(states()[0]?.trialMs, undefined);
  note(true);
  assert.equal(isDown(), true);
  check(true);
  check(true);
  assert.equal(isDown(), true);
  check(true);
  assert.equal(isDown(), false);
});

test('good checks do not bring back at once what traffic has taken out', () => {
  const { check, note, isDown } = start({ active, passive: { failures: 1, statuses: [], downMs: 1000 } });
  for (let round = 0; round < 5; round++) check(true);
  note(false);
  assert.equal(isDown(), true);
  check(true);
  assert.equal(isDown(), true);
  note(true);
  assert.equal(isDown(), false);
});

test('the only address of a backend is left out only by checks that were asked for', () => {
  const [first] = base.addresses;
  assert.ok(first);
  const { note, isDown, set } = start({ addresses: [first], active });
  for (let round = 0; round < 9; round++) note(false);
  assert.equal(isDown(), false);
  set({ addresses: [first], passive: { failures: 3, statuses: [], downMs: 1000 } });
  note(false);
  assert.equal(isDown(), true);
});

test('an address that traffic has taken out is up once it is the only one', () => {
  const { note, isDown, set } = start({});
  note(false);
  assert.equal(isDown(), true);
  set({}, base.addresses.slice(0, 1));
  assert.equal(isDown(), false);
});

test('an address that is down and no longer checked is up, and one that is gone is forgotten', () => {
  const { board, check, isDown, set, flips } = start({ active });
  check(false);
  check(false);
  assert.equal(isDown(), true);
  set({});
  assert.equal(isDown(), false);
  set({}, base.addresses.slice(1));
  assert.equal(flips.at(-1), 'a:1 gone');
  board.prepare({ version: 2, full: true, set: [], removed: [] })();
  assert.equal(flips.at(-1), 'a:2 gone', 'a whole snapshot has all backends');
});
