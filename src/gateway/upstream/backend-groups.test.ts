import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BackendGroupEntry } from '../../snapshot/contract.ts';
import { BackendGroups } from './backend-groups.ts';
import { WeightedChoice } from './weighted-choice.ts';

function weighted(id: string, weights: Readonly<Record<string, number>>): BackendGroupEntry {
  const members = Object.entries(weights).map(([each, weight]) => ({ id: each, weight }));
  return { kind: 'backend_group', id, choice: 'weighted', members };
}

function failover(id: string, ...ids: readonly string[]): BackendGroupEntry {
  return { kind: 'backend_group', id, choice: 'failover', members: ids.map((each) => ({ id: each, weight: 1 })) };
}

function start(...set: readonly BackendGroupEntry[]) {
  const clock = { ms: 0 };
  const groups = new BackendGroups(undefined, () => clock.ms);
  groups.prepare({ version: 1, full: true, set, removed: [] })();
  return { groups, clock };
}

test('each is drawn as often as its weight says, whatever the weights are', () => {
  const places = 10_000;
  for (const weights of [
    [1],
    [90, 10],
    [1, 2, 3, 4, 5],
    [0, 7, 0, 3],
    [10_000, 1],
    Array.from({ length: 100 }, (_, at) => at),
  ]) {
    const choice = new WeightedChoice(weights.map((weight, at) => ({ id: String(at), weight })));
    const counts = weights.map(() => 0);
    for (let place = 0; place < places; place++) counts[Number(choice.draw((place + 0.5) / places))]! += 1;
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (const [at, weight] of weights.entries()) {
      const expected = (weight * places) / sum;
      // Each column is cut into places, of which one at each of its two ends may fall to another.
      assert.ok(Math.abs(counts[at]! - expected) <= weights.length * 2, `${weights.join()}: ${at} ${counts[at]}`);
      if (weight === 0) assert.equal(counts[at], 0);
    }
  }
  assert.equal(new WeightedChoice([{ id: 'a', weight: 0 }]).draw(0.5), undefined);
  assert.equal(new WeightedChoice([]).draw(0), undefined);
});

test('a weighted one of failovers leads to the backends of one of them, in order', () => {
  const { groups } = start(
    weighted('w', { f: 1, g: 0 }),
    failover('f', 'a', 'n', 'a'),
    failover('n', 'b', 'c'),
    failover('g', 'x'),
  );
  assert.deepEqual(groups.candidates('w'), ['a', 'b', 'c']);
  assert.equal(groups.candidates('a'), undefined);
});

test('one that could not be reached is tried last for five seconds, then by one alone until it is known', () => {
  const { groups, clock } = start(failover('f', 'a', 'b'));
  groups.failed('a');
  assert.deepEqual(groups.candidates('f'), ['b', 'a']);
  clock.ms = 5000;
  assert.deepEqual(groups.candidates('f'), ['a', 'b'], 'one tries it');
  assert.deepEqual(groups.candidates('f'), ['b', 'a'], 'others do not wait for that');
  groups.reached('a');
  assert.deepEqual(groups.candidates('f'), ['a', 'b']);
});

test('groups that lead back to themselves, or to very many, end all the same', () => {
  const many = Array.from({ length: 100 }, (_, at) => `b${at}`);
  const { groups } = start(failover('f', 'g', 'a'), failover('g', 'f', 'b'), failover('m', ...many));
  assert.deepEqual(new Set(groups.candidates('f')), new Set(['a', 'b']));
  assert.equal(groups.candidates('m')?.length, 16);
});

test('each group is looked at once for a request, however many ways lead to it', () => {
  const looked = { times: 0 };
  const members = (to: string) =>
    Array.from({ length: 8 }, (_, at) => ({
      get id() {
        looked.times++;
        return `${to}${at}`;
      },
      weight: 1,
    }));
  const levels = ['a', 'b', 'c', 'd'].flatMap((level, at) =>
    Array.from({ length: 8 }, (_, each): BackendGroupEntry => ({
      kind: 'backend_group',
      id: `${level}${each}`,
      choice: 'failover',
      members: members(['b', 'c', 'd', 'end'][at]!),
    })),
  );
  const { groups } = start(failover('top', ...Array.from({ length: 8 }, (_, at) => `a${at}`)), ...levels);
  assert.equal(groups.candidates('top')?.length, 8);
  assert.ok(looked.times <= levels.length * 8, `${looked.times}`);
});

test('a group that is gone is none, and one that changes is the new one at once', () => {
  const { groups } = start(failover('f', 'a'), failover('g', 'a'));
  groups.prepare({
    version: 2,
    full: false,
    set: [failover('f', 'b')],
    removed: [{ kind: 'backend_group', id: 'g' }],
  })();
  assert.deepEqual(groups.candidates('f'), ['b']);
  assert.equal(groups.candidates('g'), undefined);
});

test('members that are down are tried last, in their order, behind those that could not be reached', () => {
  const down = new Set(['a', 'c']);
  const groups = new BackendGroups(
    (id) => down.has(id),
    () => 0,
  );
  groups.prepare({ version: 1, full: true, set: [failover('f', 'a', 'b', 'c', 'd')], removed: [] })();
  assert.deepEqual(groups.candidates('f'), ['b', 'd', 'a', 'c']);
  groups.failed('b');
  assert.deepEqual(groups.candidates('f'), ['d', 'b', 'a', 'c']);
  down.clear();
  assert.deepEqual(groups.candidates('f'), ['a', 'c', 'd', 'b']);
  for (const id of ['a', 'b', 'c', 'd']) down.add(id);
  groups.reached('b');
  assert.deepEqual(groups.candidates('f'), ['a', 'b', 'c', 'd'], 'all of them are tried all the same');
});
