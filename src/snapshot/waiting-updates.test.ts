import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { SnapshotEntry, SnapshotUpdate } from './contract.ts';
import { WaitingUpdates } from './waiting-updates.ts';

const entry = (id: string, version: number): SnapshotEntry => ({ kind: 'challenge', id, hostname: String(version) });
const gone = (id: string) => ({ kind: 'challenge', id }) as const;
const step = (version: number, set: readonly string[], removed: readonly string[] = [], full = false) => ({
  version,
  mark: 10 * version,
  full,
  set: set.map((id) => entry(id, version)),
  removed: removed.map(gone),
});

test('updates that wait come as they were, then all others as one', () => {
  const waiting = new WaitingUpdates();
  assert.equal(waiting.take(), undefined);
  const updates = [step(1, ['a', 'b'], [], true), step(2, ['b', 'c'], ['a']), step(3, ['a', 'd'], ['c', 'e'])];
  for (const update of updates) waiting.add(update);
  assert.equal(waiting.take(), updates[0]);
  assert.deepEqual(waiting.take(), {
    version: 3,
    mark: 30,
    full: false,
    set: [entry('b', 2), entry('a', 3), entry('d', 3)],
    removed: [gone('c'), gone('e')],
  });
  assert.equal(waiting.take(), undefined);
});

test('whatever is taken, put back and taken again leads to the same entries', () => {
  for (let seed = 1; seed <= 500; seed++) {
    let state = seed;
    const random = (below: number): number => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const expected = new Map<string, SnapshotEntry>();
    const written = new Map<string, SnapshotEntry>();
    const waiting = new WaitingUpdates();
    const pick = () => ['a', 'b', 'c', 'd', 'e'].filter(() => random(3) === 0);
    let version = 0;
    const write = (): SnapshotUpdate | undefined => {
      const update = waiting.take();
      // Others come while it is written.
      for (let more = random(3); more > 0; more--) come();
      if (update !== undefined && random(2) === 0) waiting.putBack(update);
      else if (update !== undefined) follow(written, update);
      return update;
    };
    const come = (): void => {
      version += 1;
      const set = pick();
      const isFull = random(8) === 0;
      const update = step(version, set, isFull ? [] : pick().filter((id) => !set.includes(id)), isFull);
      follow(expected, update);
      waiting.add(update);
    };
    for (let round = 0; round < 20; round++) {
      if (random(2) === 0) come();
      else write();
    }
    let last: SnapshotUpdate | undefined;
    for (let update = waiting.take(); update !== undefined; update = waiting.take()) {
      follow(written, update);
      last = update;
    }
    assert.deepEqual(written, expected, `seed ${seed}`);
    if (last !== undefined) assert.deepEqual([last.version, last.mark], [version, 10 * version]);
  }
});

function follow(entries: Map<string, SnapshotEntry>, { full, set, removed }: SnapshotUpdate): void {
  if (full) entries.clear();
  for (const each of set) entries.set(each.id, each);
  for (const { id } of removed) entries.delete(id);
}
