import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Budget } from '../../../lib/cel/run.ts';
import { headerDropper } from '../../header-changes.ts';
import type { HeaderList } from '../../step.ts';
import { ChangedHeaders, headerChange } from './changed-headers.ts';

const names = ['a', 'b', 'x-a', 'x_a', 'x.a', 'host', 'x-long-name', 'c'];
const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
let state = seed;

function below(bound: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return (state >>> 8) % bound;
}

const some = (most: number) => Array.from({ length: below(most) }, () => names[below(names.length)] ?? '');
const linesOf = (most: number) => some(most).flatMap((name) => [name, String(below(1000))]);

test('changes that are gathered leave what the same changes leave one by one', (t) => {
  t.diagnostic(`TEST_SEED=${seed}`);
  for (let left = 2_000; left > 0; left--) {
    const given = linesOf(8).map((text, at) => (at % 2 === 0 && below(2) === 0 ? text.toUpperCase() : text));
    let expected: HeaderList = given;
    const changed = new ChangedHeaders(given);
    for (let changes = below(12); changes > 0; changes--) {
      const [drops, lines, isFirst] = [some(3), linesOf(3), below(5) === 0];
      const kept = headerDropper(drops)(expected);
      expected = isFirst ? [...lines, ...kept] : [...kept, ...lines];
      changed.add(headerChange(drops, lines, isFirst), new Budget(10_000));
      const asked = names[below(names.length)] ?? '';
      const valuesIn = (list: HeaderList) =>
        list.filter((_, at) => at % 2 === 1 && list[at - 1]?.toLowerCase() === asked);
      if (below(3) === 0) assert.deepEqual(valuesIn(changed.having(asked)), valuesIn(expected), `TEST_SEED=${seed}`);
      if (below(4) === 0) assert.deepEqual(changed.all, expected, `TEST_SEED=${seed}`);
    }
    assert.deepEqual(changed.all, expected, `TEST_SEED=${seed}`);
    assert.equal(changed.all, changed.all);
  }
});

test('a header that no change concerns is read without applying any', () => {
  const given = ['Host', 'a.example.com'];
  const changed = new ChangedHeaders(given);
  changed.add(headerChange([], ['x-client', '1']), new Budget(1_000));
  assert.equal(changed.having('host'), given);
  assert.notEqual(changed.having('x-client'), given);
});

test('changes pay for what they will cost, so that rules cannot go through long lists for nothing', () => {
  const changed = new ChangedHeaders([]);
  const budget = new Budget(10_000);
  const change = headerChange(['x'], ['x', '1', 'y', '2']);
  let count = 0;
  assert.throws(() => {
    for (; count < 5_000; count++) changed.add(change, budget);
  }, /more work/);
  assert.ok(count > 20 && count < 500, String(count));
});
