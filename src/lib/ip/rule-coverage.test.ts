import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { rounds } from '../../../test/support/long-form.ts';
import { anyCidr, edgesOf, ipv6Of, naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { finishNow } from '../steps.ts';
import { formatIp, ipFromIpv4Word, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import { everybody, exampleOf, hasAddress, inBoth, isEmpty, isEverybody, nobody, onlyInFirst } from './address-sets.ts';
import type { AddressSet } from './address-sets.ts';
import { CidrSet, packCidrs } from './cidr-set.ts';
import { formatCidr, networkOf, parseCidr } from './cidr.ts';
import type { Cidr } from './cidr.ts';
import { coverRules, RuleColumns } from './rule-coverage.ts';
import type { IdleKind } from './rule-coverage.ts';

interface Rule {
  readonly cidr: Cidr;
  readonly action: 'allow' | 'deny';
}

/** Addresses that differ in a few bits, at the ends of the families and across words too. */
const bits = 5;
const universes: readonly {
  readonly name: string;
  readonly at: (place: number) => IpAddress;
  readonly prefix: number;
}[] = [
  { name: 'IPv4', at: (place) => ipFromIpv4Word(0x0a000000 | place), prefix: 27 },
  { name: 'the last of IPv4', at: (place) => ipFromIpv4Word(0xffffffe0 | place), prefix: 27 },
  { name: 'the whole of IPv4', at: (place) => ipFromIpv4Word(place << 27), prefix: 0 },
  { name: 'IPv6', at: (place) => ipv6Of(0x20010db8, 0, 0, place), prefix: 123 },
  { name: 'the whole of IPv6', at: (place) => ipv6Of(place << 27, 0, 0, 0), prefix: 0 },
  { name: 'across two words', at: (place) => ipv6Of(1, place >> 2, (place & 3) << 30, 0), prefix: 61 },
  { name: 'beside the IPv4-mapped addresses', at: (place) => ipv6Of(0, 0, 0xffe0 | place, 0), prefix: 91 },
];
const isMapped = ({ family, word0, word1, word2 }: IpAddress) =>
  family === 6 && word0 === 0 && word1 === 0 && word2 === 0xffff;

const anyAction = fc.constantFrom('allow' as const, 'deny' as const);

/** Rules about the addresses of one universe; every one of them holds whole places. */
const smallWorlds = fc.constantFrom(...universes).chain(({ name, at, prefix }) => {
  const rule = fc.record({
    cidr: fc.tuple(fc.nat(2 ** bits - 1), fc.nat(bits)).map(([place, more]) => networkOf(at(place), prefix + more)),
    action: anyAction,
  });
  const rules = fc.array(
    rule.filter(({ cidr }) => !isMapped(cidr) || cidr.prefix < 96),
    { maxLength: 12 },
  );
  const addresses = Array.from({ length: 2 ** bits }, (_, place) => at(place)).filter((ip) => !isMapped(ip));
  return rules.map((list) => ({ name, addresses, rules: list }));
});

const anyRules = fc.array(fc.record({ cidr: anyCidr.filter((cidr) => !isMapped(cidr)), action: anyAction }), {
  maxLength: 16,
});

function columnsOf(rules: readonly Rule[]): RuleColumns {
  const columns = new RuleColumns();
  for (const { cidr, action } of rules) columns.append(cidr, action);
  return columns;
}

interface Told {
  readonly admitted: AddressSet;
  /** In the order of the rules. */
  readonly kinds: readonly (IdleKind | undefined)[];
  readonly by: readonly Rule[];
}

function cover(rules: readonly Rule[]): Told {
  const { admitted, ...families } = finishNow(coverRules(columnsOf(rules)));
  const ofFamily = { 4: [] as Rule[], 6: [] as Rule[] };
  for (const rule of rules) ofFamily[rule.cidr.family].push(rule);
  const placed = rules.map((rule) => {
    const { family } = rule.cidr;
    const coverage = family === 4 ? families.ipv4 : families.ipv6;
    const row = ofFamily[family].indexOf(rule);
    return { kind: coverage.kindOf(row), by: ofFamily[family][coverage.decidedBy(row)] ?? rule };
  });
  return { admitted, kinds: placed.map(({ kind }) => kind), by: placed.map(({ by }) => by) };
}

/** Searches all rules, as the words of the documentation say. */
function admits(rules: readonly Rule[]): (ip: IpAddress) => boolean {
  const flags = naiveLookup(rules.map(({ cidr, action }) => ({ cidr, flags: action === 'allow' ? 1 : 2 })));
  return (ip) => flags(ip) === 1;
}

function verdicts(rules: readonly Rule[], addresses: readonly IpAddress[]): string {
  const decide = admits(rules);
  return addresses.map((ip) => (decide(ip) ? '1' : '0')).join('');
}

function rulesOf(...texts: readonly string[]): Rule[] {
  return texts.map((text) => {
    const parsed = parseCidr(text.replace('!', ''));
    assert.ok(parsed.ok, text);
    return { cidr: parsed.cidr, action: text.startsWith('!') ? 'deny' : 'allow' };
  });
}

const admittedBy = (...texts: readonly string[]) => cover(rulesOf(...texts)).admitted;
const kindsOf = (...texts: readonly string[]) => cover(rulesOf(...texts)).kinds;

test('the addresses admitted are those that a search of all rules finds', () => {
  fc.assert(
    fc.property(smallWorlds, ({ addresses, rules }) => {
      const { admitted } = cover(rules);
      const decide = admits(rules);
      for (const ip of addresses) assert.equal(hasAddress(admitted, ip), decide(ip), formatIp(ip));
      assert.equal(isEmpty(admitted), !addresses.some(decide));
    }),
    { numRuns: rounds(600, 3000) },
  );
});

test('the addresses admitted are those that the gateway admits, at all bounds of rules', () => {
  fc.assert(
    fc.property(anyRules, fc.array(anyCidr, { maxLength: 4 }), (rules, others) => {
      const { admitted } = cover(rules);
      const set = new CidrSet(
        packCidrs(rules.map(({ cidr, action }) => ({ cidr, flags: action === 'allow' ? 1 : 2 }))),
      );
      const bounds = [...rules, ...others.map((cidr) => ({ cidr }))].flatMap(({ cidr }) => edgesOf({ cidr, flags: 0 }));
      for (const ip of bounds.filter((each) => !isMapped(each)))
        assert.equal(hasAddress(admitted, ip), set.lookup(ip) === 1, formatIp(ip));
      const example = parseIp(exampleOf(admitted) ?? '');
      assert.equal(example === undefined, isEmpty(admitted));
      if (example !== undefined) assert.equal(set.lookup(example), 1);
    }),
    { numRuns: rounds(600, 3000) },
  );
});

test('without the rules that never decide the same addresses are admitted', () => {
  fc.assert(
    fc.property(smallWorlds, ({ addresses, rules }) => {
      const { kinds } = cover(rules);
      const kept = rules.filter((_, at) => kinds[at] === undefined);
      assert.equal(verdicts(kept, addresses), verdicts(rules, addresses));
    }),
    { numRuns: rounds(600, 3000) },
  );
});

test('each rule that is not told as one that never decides is needed', () => {
  fc.assert(
    fc.property(smallWorlds, ({ addresses, rules }) => {
      const { kinds } = cover(rules);
      // Whoever takes a denial away wants to know of what it keeps out, so these stay beside it.
      const kept = rules.filter((_, at) => kinds[at] === undefined || kinds[at] === 'contradictory');
      for (const [at, rule] of rules.entries()) {
        if (kinds[at] !== undefined) continue;
        const others = kept.filter((each) => each !== rule);
        assert.notEqual(verdicts(others, addresses), verdicts(kept, addresses), formatCidr(rule.cidr));
      }
    }),
    { numRuns: rounds(600, 3000) },
  );
});

test('the kind of a rule and the rule that decides in its place fit together', () => {
  fc.assert(
    fc.property(smallWorlds, ({ rules }) => {
      const { kinds, by } = cover(rules);
      for (const [at, rule] of rules.entries()) {
        const other = by[at]!;
        const isWithin = formatCidr(networkOf(rule.cidr, other.cidr.prefix)) === formatCidr(other.cidr);
        const isSame = formatCidr(rule.cidr) === formatCidr(other.cidr);
        if (kinds[at] === 'duplicate') assert.ok(isSame && rule !== other && rule.action === other.action);
        if (kinds[at] === 'shadowed')
          assert.ok(isWithin && rule.cidr.prefix > other.cidr.prefix && rule.action === other.action);
        if (kinds[at] === 'contradictory') assert.ok(rule.action === 'allow' && other.action === 'deny');
        if (kinds[at] === 'needless') assert.equal(rule.action, 'deny');
      }
    }),
    { numRuns: rounds(400, 2000) },
  );
});

test('sets are cut and taken from each other address by address', () => {
  fc.assert(
    fc.property(anyRules, anyRules, (one, other) => {
      const [a, b] = [cover(one).admitted, cover(other).admitted];
      const [both, first] = [finishNow(inBoth(a, b)), finishNow(onlyInFirst(a, b))];
      for (const ip of [...one, ...other].flatMap(({ cidr }) => edgesOf({ cidr, flags: 0 }))) {
        const [inA, inB] = [hasAddress(a, ip), hasAddress(b, ip)];
        assert.equal(hasAddress(both, ip), inA && inB);
        assert.equal(hasAddress(first, ip), inA && !inB);
      }
      assert.equal(isEmpty(first), exampleOf(first) === undefined);
      assert.ok(isEmpty(finishNow(onlyInFirst(a, a))));
      assert.deepEqual(finishNow(inBoth(a, everybody)), a);
      assert.deepEqual(finishNow(inBoth(a, nobody)), nobody);
    }),
    { numRuns: rounds(200, 1000) },
  );
});

test('everybody is both families whole, and nobody neither', () => {
  assert.ok(isEverybody(admittedBy('0.0.0.0/0', '::/0')));
  assert.ok(isEverybody(admittedBy('0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1')));
  for (const texts of [['0.0.0.0/0'], ['::/0'], ['0.0.0.0/0', '::/0', '!255.255.255.255/32'], ['0.0.0.0/1', '::/0']])
    assert.ok(!isEverybody(admittedBy(...texts)), texts.join());
  assert.ok(isEmpty(admittedBy()));
  assert.ok(isEmpty(admittedBy('10.0.0.0/8', '!10.0.0.0/9', '!10.128.0.0/9')));
});

test('a range of IPv6 that leaves only IPv4-mapped addresses admits nobody', () => {
  assert.ok(isEmpty(admittedBy('::fffe:0:0/95', '!::fffe:0:0/96')));
  assert.deepEqual(kindsOf('::fffe:0:0/95', '!::fffe:0:0/96'), ['contradictory', undefined]);
  assert.ok(!isEmpty(admittedBy('::fffe:0:0/95')));
});

test('rules that never decide are told by their kind', () => {
  assert.deepEqual(kindsOf('10.0.0.0/8', '10.0.0.0/8'), [undefined, 'duplicate']);
  assert.deepEqual(kindsOf('10.1.0.0/16', '10.0.0.0/8'), ['shadowed', undefined]);
  assert.deepEqual(kindsOf('10.1.0.0/16', '!10.0.0.0/8'), ['contradictory', undefined]);
  assert.deepEqual(kindsOf('10.0.0.0/8', '!10.0.0.0/8'), ['contradictory', undefined]);
  for (const deny of [0, 1, 2]) {
    const same = [0, 1, 2].map((at) => (at === deny ? '!10.0.0.0/8' : '10.0.0.0/8'));
    const told = same.map((_, at) => (at === deny ? undefined : 'contradictory'));
    assert.deepEqual(kindsOf(...same), told, 'a rule that refuses the same decides before a copy does');
  }
  assert.deepEqual(kindsOf('10.0.0.0/8', '!10.128.0.0/9', '!10.0.0.0/9'), ['contradictory', undefined, undefined]);
  assert.deepEqual(kindsOf('10.0.0.0/8', '!192.0.2.0/24'), [undefined, 'needless']);
  assert.deepEqual(kindsOf('!10.1.0.0/16', '!10.0.0.0/8', '10.0.0.0/7'), ['shadowed', undefined, undefined]);
  assert.deepEqual(kindsOf('10.0.0.0/8', '!10.1.0.0/16', '10.1.2.0/24'), [undefined, undefined, 'contradictory']);
  assert.deepEqual(kindsOf('10.0.0.0/8', '2001:db8::/32', '!::/0'), [undefined, 'contradictory', undefined]);
});

test('of several rules that keep all of one out, the first of their addresses is named', () => {
  for (const texts of [
    ['10.0.0.0/8', '!10.0.0.0/9', '!10.128.0.0/10', '!10.192.0.0/10'],
    ['2001:db8::/32', '!2001:db8::/33', '!2001:db8:8000::/34', '!2001:db8:c000::/34'],
  ]) {
    const [whole, first, ...others] = rulesOf(...texts);
    for (const rules of [
      [whole!, first!, ...others],
      [...others, first!, whole!],
    ]) {
      const { kinds, by } = cover(rules);
      const at = rules.indexOf(whole!);
      assert.equal(kinds[at], 'contradictory');
      assert.equal(by[at], first);
    }
  }
});

test('an example is an address that people know from examples, where the set has one', () => {
  assert.equal(exampleOf(everybody), '203.0.113.7');
  assert.equal(exampleOf(nobody), undefined);
  assert.equal(exampleOf(admittedBy('10.0.0.0/8')), '10.0.0.1');
  assert.equal(exampleOf(admittedBy('10.9.8.7/32')), '10.9.8.7');
  assert.equal(exampleOf(admittedBy('255.255.255.255/32')), '255.255.255.255');
  assert.equal(exampleOf(admittedBy('2001:db8::/32')), '2001:db8::7');
  assert.equal(exampleOf(admittedBy('fd00::/8')), 'fd00::');
});
