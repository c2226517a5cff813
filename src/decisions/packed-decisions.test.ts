import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deserialize, serialize } from 'node:v8';

import * as fc from 'fast-check';

import { columns } from './columns.ts';
import type { Decision } from './decision-line.ts';
import { DecisionPacker, unpackDecisions } from './packed-decisions.ts';
import type { PackedDecisions } from './packed-decisions.ts';

const unwritten = new Set(['number', 'source_high', 'source_low']);
const names = Object.entries(columns).filter(([name]) => !unwritten.has(name));
// Some come again, in other columns, rows and batches.
const text = fc.oneof(fc.constantFrom('', 'a', 'b'), fc.string({ unit: 'binary', maxLength: 8 }));
const fields = names.map(([name, type]) => [name, type === 'VARCHAR' ? text : fc.double()] as const);
// The arbitraries have the names and types of the columns.
const anyDecision = fc.record(Object.fromEntries(fields)) as unknown as fc.Arbitrary<Decision>;

test('decisions arrive as they were packed, each with its account, and only once', () => {
  const packer = new DecisionPacker(20);
  fc.assert(
    fc.property(fc.array(fc.tuple(text, anyDecision), { maxLength: 20 }), (rows) => {
      for (const [accountId, decision] of rows) packer.add(accountId, decision);
      assert.equal(packer.isFull, rows.length === 20);
      // As it is sent; what was packed is the same type.
      const sent = deserialize(serialize(packer.take())) as PackedDecisions;
      const expected = rows.map(([accountId, decision]) => [accountId, { ...decision }]);
      assert.deepEqual([...unpackDecisions(sent)], expected);
      assert.deepEqual([...unpackDecisions(packer.take())], []);
    }),
  );
});

test('a long text is cut, and one that comes again is sent once', () => {
  const packer = new DecisionPacker(2);
  const [, decision] = fc.sample(fc.tuple(text, anyDecision), 1)[0] ?? assert.fail();
  for (let row = 0; row < 2; row++) packer.add('ac_1', { ...decision, host: 'x'.repeat(100_000) });
  const { texts } = packer.take();
  assert.equal(texts.filter((each) => each === 'ac_1').length, 1);
  assert.deepEqual(
    texts.filter((each) => each.startsWith('xxx')).map(({ length }) => length),
    [512],
  );
});
