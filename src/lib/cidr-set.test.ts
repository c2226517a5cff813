import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CidrSet, emptyCidrSet, packCidrs } from './cidr-set.ts';
import type { FlaggedCidr } from './cidr-set.ts';
import { networkOf, parseCidr } from './cidr.ts';
import { parseIp } from './ip-address.ts';
import type { IpAddress } from './ip-address.ts';

/** Few distinct bits, at both ends of the words, so that ranges nest, touch and overflow often. */
const word = fc.oneof(
  fc.constantFrom(0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0x0a000000, 0x0a0000ff, 0x20010db8),
  fc.nat(0xffffffff),
);
const ipv4 = fc.record({ family: fc.constant(4 as const), words: fc.tuple(word) });
const ipv6 = fc.record({ family: fc.constant(6 as const), words: fc.tuple(word, word, word, word) });
const anyIp = fc.oneof(ipv4, ipv6);
const rule = anyIp.chain((ip) =>
  fc.record({ cidr: fc.nat(ip.family === 4 ? 32 : 128).map((prefix) => networkOf(ip, prefix)), flags: fc.nat(255) }),
);

function bitText(ip: IpAddress): string {
  return ip.words.map((part) => part.toString(2).padStart(32, '0')).join('');
}

function naiveLookup(rules: readonly FlaggedCidr[], ip: IpAddress): number {
  const bits = bitText(ip);
  return rules
    .filter(
      ({ cidr }) => cidr.family === ip.family && bitText(cidr).slice(0, cidr.prefix) === bits.slice(0, cidr.prefix),
    )
    .reduce((union, { flags }) => union | flags, 0);
}

/** The first and last address of each range and their outer neighbours: where a wrong edge would show. */
function edgesOf({ cidr }: FlaggedCidr): IpAddress[] {
  const size = cidr.family === 4 ? 32 : 128;
  const first = BigInt(`0b${bitText(cidr)}`);
  const next = first + (1n << BigInt(size - cidr.prefix));
  return [first - 1n, first, next - 1n, next].map((value) => {
    const bits = BigInt.asUintN(size, value).toString(2).padStart(size, '0');
    return { family: cidr.family, words: (bits.match(/.{32}/g) ?? []).map((part) => Number.parseInt(part, 2)) };
  });
}

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
    fc.property(fc.array(rule, { maxLength: 24 }), fc.array(anyIp, { maxLength: 8 }), (rules, strangers) => {
      const set = new CidrSet(packCidrs(rules));
      for (const ip of [...strangers, ...rules.flatMap(edgesOf)]) assert.equal(set.lookup(ip), naiveLookup(rules, ip));
    }),
    { numRuns: 500 },
  );
});

test('a set large enough for an index answers like a list searched from end to end', () => {
  for (const [name, make] of Object.entries<(random: () => number) => FlaggedCidr['cidr']>({
    'all over IPv4': (random) => networkOf({ family: 4, words: [random()] }, 8 + (random() % 25)),
    'within one IPv4 /16': (random) => networkOf({ family: 4, words: [0x0a010000 | (random() >>> 16)] }, 32),
    'at the end of IPv4': (random) => networkOf({ family: 4, words: [(0xffffff00 | (random() >>> 24)) >>> 0] }, 32),
    'within one IPv6 /32': (random) => networkOf({ family: 6, words: [0x20010db8, random(), 0, 0] }, 64),
    'within one IPv6 /52': (random) => networkOf({ family: 6, words: [1, random() >>> 20, random(), random()] }, 128),
    'within one IPv6 /120': (random) => networkOf({ family: 6, words: [1, 0, 0, random() >>> 24] }, 128),
  })) {
    const rules = manyRules(400, make);
    const set = new CidrSet(packCidrs(rules));
    for (const ip of rules.flatMap(edgesOf)) assert.equal(set.lookup(ip), naiveLookup(rules, ip), name);
  }
});

test('a set of any size knows its addresses and their neighbours', () => {
  for (const count of [100, 150, 1000, 40_000]) {
    const rules = manyRules(count, (random) => networkOf({ family: 4, words: [random()] }, 32));
    const expected = new Map<number, number>();
    for (const { cidr, flags } of rules)
      expected.set(cidr.words[0] ?? 0, flags | (expected.get(cidr.words[0] ?? 0) ?? 0));
    const set = new CidrSet(packCidrs(rules));
    for (const ip of rules.flatMap(edgesOf)) assert.equal(set.lookup(ip), expected.get(ip.words[0] ?? 0) ?? 0);
  }
});

test('the order of the rules does not matter', () => {
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 16 }), (rules) => {
      assert.deepEqual(packCidrs(rules), packCidrs(rules.toReversed()));
    }),
  );
});

test('ranges side by side with the same flags take the room of one', () => {
  const halves = setOf(['10.0.0.0/9', 1], ['10.128.0.0/9', 1]);
  assert.equal(halves.byteLength, setOf(['10.0.0.0/8', 1]).byteLength);
});

test('packed data survives being cloned to another thread', () => {
  const data = packCidrs(manyRules(200, (random) => networkOf({ family: 4, words: [random()] }, 24)));
  const clone = structuredClone(data);
  assert.deepEqual(clone, data);
  assert.equal(new CidrSet(clone).byteLength, new CidrSet(data).byteLength);
});

test('100,000 separate IPv4 rules take at most 16 bytes each', () => {
  const rules = manyRules(100_000, (random) => networkOf({ family: 4, words: [random()] }, 32));
  assert.ok(new CidrSet(packCidrs(rules)).byteLength <= 16 * rules.length);
});
