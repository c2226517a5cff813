import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';

import { anyIp, anyRule, edgesOf, ipv6Of, naiveLookup } from '../../../test/support/naive-cidrs.ts';
import { ipFromIpv4Word, parseIp } from './address.ts';
import { CidrSet, emptyCidrSet, packCidrs } from './cidr-set.ts';
import type { FlaggedCidr } from './cidr-set.ts';
import { cidrOfAddress, networkOf, parseCidr } from './cidr.ts';

function setOf(...rules: [cidr: string, flags: number][]): CidrSet {
  return new CidrSet(
    packCidrs(
      rules.map(([text, flags]) => {
        const result = parseCidr(text);
        assert.ok(result.ok);
        return { cidr: result.cidr, flags };
      }),
    ),
  );
}

function look(set: CidrSet, text: string): number {
  const ip = parseIp(text);
  assert.ok(ip);
  return set.lookup(ip);
}

function manyRules(count: number, make: (random: () => number) => FlaggedCidr['cidr']): FlaggedCidr[] {
  let state = 12345;
  const random = (): number => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  return Array.from({ length: count }, () => ({ cidr: make(random), flags: 1 + (random() >>> 31) }));
}

test('an address gets the flags of every range that contains it', () => {
  const set = setOf(['10.0.0.0/8', 1], ['10.1.0.0/16', 2], ['10.1.2.0/24', 4], ['10.1.2.3/32', 8], ['0.0.0.0/0', 128]);
  assert.equal(look(set, '10.9.0.0'), 128 | 1);
  assert.equal(look(set, '10.1.9.0'), 128 | 1 | 2);
  assert.equal(look(set, '10.1.2.3'), 128 | 1 | 2 | 4 | 8);
  assert.equal(look(set, '10.1.2.4'), 128 | 1 | 2 | 4);
  assert.equal(look(set, '255.255.255.255'), 128);
});

test('the same range given twice has the flags of both', () => {
  assert.equal(look(setOf(['10.0.0.0/8', 1], ['10.0.0.0/8', 2]), '10.0.0.1'), 3);
});

test('no range matches an address of the other family', () => {
  assert.equal(look(setOf(['::/0', 1]), '1.2.3.4'), 0);
  assert.equal(look(setOf(['::/0', 1]), '::ffff:1.2.3.4'), 0);
  assert.equal(look(setOf(['0.0.0.0/0', 1]), '::'), 0);
  assert.equal(look(setOf(['0.0.0.0/0', 1]), '::ffff:1.2.3.4'), 1);
});

test('an empty set matches nothing', () => {
  for (const set of [new CidrSet(emptyCidrSet), setOf()]) {
    assert.equal(look(set, '0.0.0.0'), 0);
    assert.equal(look(set, '::'), 0);
    assert.equal(set.byteLength, 0);
  }
});

test('any set answers like a list searched from end to end', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 24 }), fc.array(anyIp, { maxLength: 8 }), (rules, strangers) => {
      const set = new CidrSet(packCidrs(rules));
      const expected = naiveLookup(rules);
      for (const ip of [...strangers, ...rules.flatMap(edgesOf)]) assert.equal(set.lookup(ip), expected(ip));
    }),
    { numRuns: 500 },
  );
});

test('a set large enough for an index answers like a list searched from end to end', () => {
  for (const [name, make] of Object.entries<(random: () => number) => FlaggedCidr['cidr']>({
    'all over IPv4': (random) => networkOf(ipFromIpv4Word(random()), 8 + (random() % 25)),
    'within one IPv4 /16': (random) => networkOf(ipFromIpv4Word(0x0a010000 | (random() >>> 16)), 32),
    'at the end of IPv4': (random) => networkOf(ipFromIpv4Word((0xffffff00 | (random() >>> 24)) >>> 0), 32),
    'within one IPv6 /32': (random) => networkOf(ipv6Of(0x20010db8, random(), 0, 0), 64),
    'within one IPv6 /52': (random) => networkOf(ipv6Of(1, random() >>> 20, random(), random()), 128),
    'single IPv6 addresses': (random) => networkOf(ipv6Of(random(), random(), random(), random()), 128),
    'within one IPv6 /120': (random) => networkOf(ipv6Of(1, 0, 0, random() >>> 24), 128),
  })) {
    const rules = manyRules(400, make);
    const set = new CidrSet(packCidrs(rules));
    const expected = naiveLookup(rules);
    for (const ip of rules.flatMap(edgesOf)) assert.equal(set.lookup(ip), expected(ip), name);
  }
});

test('an address is not taken for one whose last bits are the same', () => {
  for (const make of [
    (first: number) => ipFromIpv4Word((first << 24) | 1),
    (first: number) => ipv6Of(first << 24, 1, 0, 0),
    (first: number) => ipv6Of(first << 24, 0, 0, 1),
  ]) {
    const rules = manyRules(100, (random) => cidrOfAddress(make(random() >>> 24)));
    const set = new CidrSet(packCidrs(rules));
    const expected = naiveLookup(rules);
    for (let first = 0; first < 256; first++) assert.equal(set.lookup(make(first)), expected(make(first)));
  }
});

test('ranges around one address, of every mask length, all count', () => {
  for (const text of ['170.170.170.170', 'aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa:aaaa']) {
    const ip = parseIp(text);
    assert.ok(ip);
    const rules = Array.from({ length: ip.family === 4 ? 33 : 129 }, (_, prefix) => ({
      cidr: networkOf(ip, prefix),
      flags: 1 << (prefix & 7),
    }));
    const set = new CidrSet(packCidrs(rules));
    const expected = naiveLookup(rules);
    for (const each of rules.flatMap(edgesOf)) assert.equal(set.lookup(each), expected(each));
  }
});

test('a range that goes on beyond a carry is known from end to end', () => {
  const set = setOf(['::/96', 1], ['::1:0:0/128', 1]);
  assert.deepEqual(
    ['::', '::5', '::ffff:ffff', '::1:0:0', '::1:0:1'].map((text) => look(set, text)),
    [1, 1, 1, 1, 0],
  );
});

test('a set of any size knows its addresses and their neighbours', () => {
  for (const count of [100, 150, 1000, 40_000]) {
    const rules = manyRules(count, (random) => networkOf(ipFromIpv4Word(random()), 32));
    const expected = new Map<number, number>();
    for (const { cidr, flags } of rules) expected.set(cidr.word0, flags | (expected.get(cidr.word0) ?? 0));
    const set = new CidrSet(packCidrs(rules));
    for (const ip of rules.flatMap(edgesOf)) assert.equal(set.lookup(ip), expected.get(ip.word0) ?? 0);
  }
});

test('the order of the rules does not matter', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 16 }), (rules) => {
      assert.deepEqual(packCidrs(rules), packCidrs(rules.toReversed()));
    }),
  );
});

test('ranges side by side with the same flags take the room of one', () => {
  const halves = setOf(['10.0.0.0/9', 1], ['10.128.0.0/9', 1]);
  assert.equal(halves.byteLength, setOf(['10.0.0.0/8', 1]).byteLength);
});

test('packed data survives being cloned to another thread', () => {
  const data = packCidrs(manyRules(200, (random) => networkOf(ipFromIpv4Word(random()), 24)));
  const clone = structuredClone(data);
  assert.deepEqual(clone, data);
  assert.equal(new CidrSet(clone).byteLength, new CidrSet(data).byteLength);
});

test('a rule takes fewer than 8 bytes of IPv4, and hardly more than its address of IPv6', () => {
  const global = (random: () => number): number => 0x2000_0000 | (random() >>> 3);
  for (const [limit, make] of [
    [8, (random) => networkOf(ipFromIpv4Word(random()), 16 + (random() % 17))],
    [5, (random) => networkOf(ipFromIpv4Word(random()), 32)],
    [7, (random) => networkOf(ipv6Of(global(random), random(), 0, 0), 48)],
    [9, (random) => networkOf(ipv6Of(global(random), random(), 0, 0), 64)],
    [17, (random) => networkOf(ipv6Of(global(random), random(), random(), random()), 128)],
  ] satisfies [number, (random: () => number) => FlaggedCidr['cidr']][]) {
    const { byteLength } = new CidrSet(packCidrs(manyRules(100_000, make)));
    assert.ok(byteLength <= limit * 100_000, `${byteLength / 100_000} bytes, and not ${limit}`);
  }
});
