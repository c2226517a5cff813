import { BlockList } from 'node:net';

import { parseIp } from '../../src/lib/ip/address.ts';
import { CidrSet, packCidrs } from '../../src/lib/ip/cidr-set.ts';
import type { FlaggedCidr } from '../../src/lib/ip/cidr-set.ts';
import { parseCidr } from '../../src/lib/ip/cidr.ts';
import { cidrNumber, formatIpv4, ipv6CidrNumber } from '../support/addresses.ts';

/**
 * `node match-lookups.ts ROUNDS MS`: prints, as one JSON object, nanoseconds a lookup, from the text of an address,
 * against sets of several sizes in turn.
 */
const rounds = Number(process.argv[2]);
const roundMs = Number(process.argv[3]);
const sizes = [100, 10_000, 1_000_000];
const blockListSizes = [100, 10_000];
const addressCount = 1 << 16;

const ipv4 = Array.from({ length: addressCount }, () => formatIpv4(Math.floor(Math.random() * 2 ** 32)));
const ipv6 = Array.from({ length: addressCount }, (_, at) => {
  const part = () => Math.floor(Math.random() * 65_536).toString(16);
  return at % 2 === 0
    ? ipv6CidrNumber(at).replace('::/48', `:${part()}::${part()}`)
    : `2001:${part()}:${part()}::${part()}`;
});

interface Contestant {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly check: (address: string) => unknown;
}

const builds = sizes.map((size) => build(size));
const contestants = [...builds.flatMap(ofCidrSet), ...blockListSizes.flatMap(ofBlockList)];
const nanoseconds: Record<string, number[]> = Object.fromEntries(contestants.map(({ name }) => [name, []]));
// The first two rounds let V8 optimise the code and do not count.
for (let round = -2; round < rounds; round++) {
  for (const { name, addresses, check } of contestants) {
    const cost = measure(addresses, check);
    if (round >= 0) nanoseconds[name]?.push(cost);
  }
}
const sets = builds.map(({ size, set4, set6, buildMs }) => ({
  size,
  buildMs,
  bytes4: set4.byteLength / size,
  bytes6: set6.byteLength / size,
}));
process.stdout.write(JSON.stringify({ nanoseconds, sets }));

function build(size: number) {
  const startMs = performance.now();
  const set4 = new CidrSet(packCidrs(rules(size, cidrNumber)));
  const buildMs = performance.now() - startMs;
  return { size, set4, set6: new CidrSet(packCidrs(rules(size, ipv6CidrNumber))), buildMs };
}

function* rules(count: number, text: (at: number) => string): Generator<FlaggedCidr> {
  for (let at = 1; at <= count; at++) {
    const parsed = parseCidr(text(at));
    if (!parsed.ok) throw new Error(`${text(at)} is not a CIDR`);
    yield { cidr: parsed.cidr, flags: 1 };
  }
}

function ofCidrSet({ size, set4, set6 }: ReturnType<typeof build>): readonly Contestant[] {
  const look = (set: CidrSet) => (address: string) => {
    const ip = parseIp(address);
    return ip !== undefined && set.lookup(ip);
  };
  return [
    { name: `ipv4 ${size}`, addresses: ipv4, check: look(set4) },
    { name: `ipv6 ${size}`, addresses: ipv6, check: look(set6) },
  ];
}

function ofBlockList(size: number): readonly Contestant[] {
  const list4 = new BlockList();
  const list6 = new BlockList();
  for (let at = 1; at <= size; at++) {
    const [net4 = '', bits4] = cidrNumber(at).split('/');
    const [net6 = '', bits6] = ipv6CidrNumber(at).split('/');
    list4.addSubnet(net4, Number(bits4), 'ipv4');
    list6.addSubnet(net6, Number(bits6), 'ipv6');
  }
  return [
    { name: `BlockList ipv4 ${size}`, addresses: ipv4, check: (address) => list4.check(address, 'ipv4') },
    { name: `BlockList ipv6 ${size}`, addresses: ipv6, check: (address) => list6.check(address, 'ipv6') },
  ];
}

function measure(addresses: readonly string[], check: (address: string) => unknown): number {
  const startUs = processorUs();
  const endMs = performance.now() + roundMs;
  let done = 0;
  let matched = 0;
  while (performance.now() < endMs) {
    for (let at = 0; at < 1024; at++) if (check(addresses[(done + at) % addressCount] ?? '') !== 0) matched += 1;
    done += 1024;
  }
  if (matched < 0) throw new Error('so that no compiler finds the result unused');
  return ((processorUs() - startUs) / done) * 1000;
}

/** Returns CPU time of this process, which other programs do not disturb. */
function processorUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
