import * as fc from 'fast-check';

import { ipFromIpv4Word } from '../../src/lib/ip/address.ts';
import type { IpAddress } from '../../src/lib/ip/address.ts';
import type { FlaggedCidr } from '../../src/lib/ip/cidr-set.ts';
import { networkOf } from '../../src/lib/ip/cidr.ts';

/** Generates mostly boundary values, so that ranges nest, touch and overflow often. */
const word = fc.oneof(
  fc.constantFrom(0, 1, 0xffffffff, 0xfffffffe, 0x80000000, 0x7fffffff, 0x0a000000, 0x0a0000ff, 0x20010db8),
  fc.nat(0xffffffff),
);
const ipv4 = word.map(ipFromIpv4Word);
const ipv6 = fc.tuple(word, word, word, word).map((words) => ipv6Of(...words));
export const anyIp = fc.oneof(ipv4, ipv6);
export const anyCidr = anyIp.chain((ip) => fc.nat(ip.family === 4 ? 32 : 128).map((prefix) => networkOf(ip, prefix)));
export const anyRule: fc.Arbitrary<FlaggedCidr> = fc.record({ cidr: anyCidr, flags: fc.nat(255) });

/** Makes an IPv6 address, and does not convert an IPv4-mapped one. */
export function ipv6Of(word0: number, word1: number, word2: number, word3: number): IpAddress {
  return { family: 6, word0: word0 | 0, word1: word1 | 0, word2: word2 | 0, word3: word3 | 0 };
}

/** Finds the union of the flags of all rules that contain an address, by comparing bits as text with each rule. */
export function naiveLookup(rules: readonly FlaggedCidr[]): (ip: IpAddress) => number {
  const networks = rules.map(({ cidr, flags }) => ({
    family: cidr.family,
    bits: bitText(cidr).slice(0, cidr.prefix),
    flags,
  }));
  return (ip) => {
    const text = bitText(ip);
    return networks
      .filter(({ family, bits }) => family === ip.family && text.startsWith(bits))
      .reduce((union, { flags }) => union | flags, 0);
  };
}

/** Returns the first and last address of a range and their outer neighbours, where an off-by-one error would show. */
export function edgesOf({ cidr }: FlaggedCidr): IpAddress[] {
  const size = cidr.family === 4 ? 32 : 128;
  const first = BigInt(`0b${bitText(cidr)}`);
  const next = first + (1n << BigInt(size - cidr.prefix));
  return [first - 1n, first, next - 1n, next].map((value) => {
    const wordAt = (shift: bigint) => Number(BigInt.asIntN(32, BigInt.asUintN(size, value) >> shift));
    return size === 32 ? ipFromIpv4Word(wordAt(0n)) : ipv6Of(wordAt(96n), wordAt(64n), wordAt(32n), wordAt(0n));
  });
}

function bitText({ family, word0, word1, word2, word3 }: IpAddress): string {
  const words = family === 4 ? [word0] : [word0, word1, word2, word3];
  return words.map((each) => (each >>> 0).toString(2).padStart(32, '0')).join('');
}
