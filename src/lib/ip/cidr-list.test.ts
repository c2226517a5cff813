import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { anyCidr, edgesOf, naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { finishNow } from '../steps.ts';
import { CidrList } from './cidr-list.ts';
import type { FlaggedCidr } from './cidr-list.ts';
import { CidrSet, packCidrs } from './cidr-set.ts';
import { formatCidr } from './cidr.ts';

const listOf = (rules: Iterable<FlaggedCidr>) => finishNow(CidrList.of(rules));

/** A pool of few CIDRs, so that most steps meet one that is there; flags 0 stand for its removal. */
const steps = fc
  .array(anyCidr, { minLength: 1, maxLength: 12 })
  .chain((pool) => fc.array(fc.record({ cidr: fc.constantFrom(...pool), flags: fc.constantFrom(0, 0, 1, 2, 3, 128) })));

test('whatever is added, changed and removed, a list is packed like a new one of the same CIDRs', () => {
  fc.assert(
    fc.property(steps, fc.nat(20), (all, atFirst) => {
      const rules = new Map<string, FlaggedCidr>();
      for (const rule of all.slice(0, atFirst)) if (rule.flags > 0) rules.set(formatCidr(rule.cidr), rule);
      const list = listOf(rules.values());
      for (const { cidr, flags } of all.slice(atFirst)) {
        if (flags > 0) list.set(cidr, flags);
        else list.delete(cidr);
        if (flags > 0) rules.set(formatCidr(cidr), { cidr, flags });
        else rules.delete(formatCidr(cidr));
        assert.equal(list.count, rules.size);
        assert.deepEqual(finishNow(list.pack()), packCidrs(rules.values()));
      }
      const set = new CidrSet(finishNow(list.pack()));
      const expected = naiveLookup([...rules.values()]);
      for (const ip of all.flatMap(edgesOf)) assert.equal(set.lookup(ip), expected(ip));
    }),
    { numRuns: 500 },
  );
});

test('a CIDR that came several times is one, with the flags of all', () => {
  fc.assert(
    fc.property(anyCidr, anyCidr, (cidr, other) => {
      fc.pre(formatCidr(cidr) !== formatCidr(other));
      const list = listOf([1, 2, 4].flatMap((flags) => [cidr, other].map((each) => ({ cidr: each, flags }))));
      assert.equal(list.count, 2);
      list.delete(other);
      assert.deepEqual(finishNow(list.pack()), packCidrs([{ cidr, flags: 7 }]));
    }),
  );
});

test('what a packed set was made of can change without changing the set', () => {
  fc.assert(
    fc.property(anyCidr, anyCidr, (cidr, other) => {
      const list = listOf([{ cidr, flags: 1 }]);
      const packed = finishNow(list.pack());
      list.set(other, 2);
      list.delete(cidr);
      assert.deepEqual(packed, packCidrs([{ cidr, flags: 1 }]));
    }),
  );
});
