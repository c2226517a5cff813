import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { DecisionRow } from '../../decisions/columns.ts';
import { gatewaySuffix } from '../../decisions/gateway-suffix.ts';
import { joinPages } from './join-pages.ts';
import type { Place } from './join-pages.ts';

/** The order of two rows needs their numbers only. */
const row = (number: number) => ({ number: BigInt(number) }) as unknown as DecisionRow;

/** Numbers that each gateway has, newest first. */
type Kept = Readonly<Record<string, readonly number[]>>;

/** The page of a gateway, which looks at so many of its decisions and passes even ones only, if `isSparse`. */
function pageOf(numbers: readonly number[], gateway: string, next: Place | undefined, limit: number, looks: number) {
  const isBelow = (number: number): boolean =>
    next === undefined || number < next.number || (number === next.number && gatewaySuffix(gateway) < next.suffix);
  const left = numbers.filter(isBelow);
  const looked = left.slice(0, looks);
  const found = looked.filter((number) => number % 3 !== 0).slice(0, limit + 1);
  const isCut = looked.length < left.length && found.length <= limit;
  return { gateway, page: { rows: found.map(row), ...(isCut ? { cutAt: looked.at(-1) ?? 0 } : {}) } };
}

function readAll(kept: Kept, limit: number, looks: number, away: readonly (string | undefined)[] = []) {
  const seen: { readonly number: number; readonly gateway: string }[] = [];
  let next: Place | undefined;
  let pages = 0;
  do {
    const present = Object.entries(kept).filter(([gateway]) => gateway !== away[pages]);
    const joined = joinPages(
      present.map(([gateway, numbers]) => pageOf(numbers, gateway, next, limit, looks)),
      limit,
    );
    assert.ok(joined.rows.length <= limit);
    assert.equal(joined.wasCut, joined.rows.length < limit && joined.next !== undefined);
    for (const { number, gateway } of joined.rows) seen.push({ number, gateway });
    next = joined.next;
    pages += 1;
    assert.ok(pages < 2_000, 'pages come to an end');
  } while (next !== undefined);
  return seen;
}

function inOrder(kept: Kept) {
  return Object.entries(kept)
    .flatMap(([gateway, numbers]) =>
      numbers.filter((number) => number % 3 !== 0).map((number) => ({ number, gateway })),
    )
    .toSorted((a, b) => b.number - a.number || (gatewaySuffix(a.gateway) < gatewaySuffix(b.gateway) ? 1 : -1));
}

const numbers = fc
  .uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 40 })
  .map((each) => each.toSorted((a, b) => b - a));
const keptNumbers = fc.record({ dst_a: numbers, dst_b: numbers, dst_c: numbers });

test('pages of gateways have every decision once, newest first, however little each looks at', () => {
  const sizes = fc.integer({ min: 1, max: 7 });
  fc.assert(
    fc.property(keptNumbers, sizes, sizes, (kept, limit, looks) => {
      assert.deepEqual(readAll(kept, limit, looks), inOrder(kept));
    }),
  );
});

test('a gateway that is away for some pages changes nothing of the others', () => {
  const away = fc.array(fc.option(fc.constantFrom('dst_a', 'dst_b'), { nil: undefined }), { maxLength: 6 });
  fc.assert(
    fc.property(keptNumbers, away, (kept, pages) => {
      const seen = readAll(kept, 3, 4, pages);
      const all = inOrder(kept);
      assert.deepEqual(
        seen.filter(({ gateway }) => gateway === 'dst_c'),
        all.filter(({ gateway }) => gateway === 'dst_c'),
      );
      const keys = seen.map(({ number, gateway }) => `${number} ${gateway}`);
      assert.equal(new Set(keys).size, keys.length);
      for (const [at, { number }] of seen.entries()) assert.ok(at === 0 || number <= (seen[at - 1]?.number ?? 0));
    }),
  );
});
