import type { Steps } from '../steps.ts';
import { formatIp, ipFromIpv4Word, ipFromIpv6Words, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';

/**
 * A set of addresses: for each family the places, in ascending order, where it begins and where it ends, by turns; before the
 * first nothing is in it. A place is one word of IPv4, or four of IPv6. IPv4-mapped addresses are in no set, because a visitor
 * from one counts as IPv4.
 */
export interface AddressSet {
  readonly ipv4: Uint32Array;
  readonly ipv6: Uint32Array;
}

/** The first IPv4-mapped address, and the first one behind them. */
export const mappedStart = Uint32Array.of(0, 0, 0xffff, 0);
export const mappedEnd = Uint32Array.of(0, 0, 0x1_0000, 0);

export const nobody: AddressSet = { ipv4: new Uint32Array(), ipv6: new Uint32Array() };
export const everybody: AddressSet = {
  ipv4: Uint32Array.of(0),
  ipv6: Uint32Array.of(0, 0, 0, 0, ...mappedStart, ...mappedEnd),
};

/** Places that are passed in one step. */
const placesInStep = 8_192;
/** Addresses of the documentation, which nobody takes for their own. */
const wellKnown = ['203.0.113.7', '198.51.100.7', '2001:db8::7'].flatMap((text) => parseIp(text) ?? []);

export function isEmpty({ ipv4, ipv6 }: AddressSet): boolean {
  return ipv4.length + ipv6.length === 0;
}

export function isEverybody({ ipv4, ipv6 }: AddressSet): boolean {
  return isSameList(ipv4, everybody.ipv4) && isSameList(ipv6, everybody.ipv6);
}

/** Addresses that are in both. */
export const inBoth = (a: AddressSet, b: AddressSet) => combine(a, b, (inA, inB) => inA && inB);
/** Addresses that are in `a` and not in `b`. */
export const onlyInFirst = (a: AddressSet, b: AddressSet) => combine(a, b, (inA, inB) => inA && !inB);

type Holds = (inA: boolean, inB: boolean) => boolean;

/** The addresses of which `holds` says so; of those that are in neither it must not. */
function* combine(a: AddressSet, b: AddressSet, holds: Holds): Steps<AddressSet> {
  return {
    ipv4: yield* combineFamily(a.ipv4, b.ipv4, 1, holds),
    ipv6: yield* combineFamily(a.ipv6, b.ipv6, 4, holds),
  };
}

function* combineFamily(a: Uint32Array, b: Uint32Array, width: number, holds: Holds): Steps<Uint32Array> {
  const places = new Uint32Array(a.length + b.length);
  let length = 0;
  let isIn = false;
  for (let atA = 0, atB = 0; atA < a.length || atB < b.length;) {
    const order = atA === a.length ? 1 : atB === b.length ? -1 : comparePlaces(a, atA, b, atB, width);
    const [from, at] = order <= 0 ? [a, atA] : [b, atB];
    if (order <= 0) atA += width;
    if (order >= 0) atB += width;
    const isInNow = holds(((atA / width) & 1) === 1, ((atB / width) & 1) === 1);
    if (isInNow !== isIn) {
      for (let word = 0; word < width; word++) places[length++] = from[at + word]!;
      isIn = isInNow;
    }
    if (((atA + atB) / width) % placesInStep === 0) yield;
  }
  return places.subarray(0, length);
}

/** An address of the set: one of the documentation where the set has it, else one of the first range. */
export function exampleOf(set: AddressSet): string | undefined {
  const known = wellKnown.find((ip) => hasAddress(set, ip));
  if (known !== undefined) return formatIp(known);
  const { ipv4, ipv6 } = set;
  if (ipv4.length > 0) {
    // The first address of a network is seldom that of a host.
    const [first = 0, end = 2 ** 32] = ipv4;
    return formatIp(ipFromIpv4Word(end - first === 1 ? first : first + 1));
  }
  const [word0, word1, word2, word3] = ipv6;
  return word0 === undefined ? undefined : formatIp(ipFromIpv6Words(word0, word1!, word2!, word3!));
}

export function hasAddress({ ipv4, ipv6 }: AddressSet, ip: IpAddress): boolean {
  const [places, width] = ip.family === 4 ? [ipv4, 1] : [ipv6, 4];
  const wanted = Uint32Array.of(ip.word0, ip.word1, ip.word2, ip.word3);
  let low = 0;
  let high = places.length / width;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePlaces(places, middle * width, wanted, 0, width) <= 0) low = middle + 1;
    else high = middle;
  }
  return (low & 1) === 1;
}

/** Negative where the first place comes before the second, 0 where they are the same. */
function comparePlaces(a: Uint32Array, atA: number, b: Uint32Array, atB: number, width: number): number {
  for (let word = 0; word < width; word++) {
    const difference = a[atA + word]! - b[atB + word]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

function isSameList(a: Uint32Array, b: Uint32Array): boolean {
  return a.length === b.length && a.every((word, at) => word === b[at]);
}

/** Makes the places of one family, of ranges that come in ascending order. */
export class PlaceList {
  readonly #width: number;
  readonly #places: Uint32Array;
  #length = 0;

  constructor(width: number, mostRanges: number) {
    this.#width = width;
    this.#places = new Uint32Array(mostRanges * 2 * width);
  }

  /** `end`: the first address after the range; zeros: it goes to the last address. Ranges side by side become one. */
  add(start: Uint32Array, end: Uint32Array): void {
    const width = this.#width;
    const last = this.#length - width;
    const isNext = last >= 0 && comparePlaces(this.#places, last, start, 0, width) === 0;
    if (isNext) this.#length = last;
    else this.#push(start);
    if (end.some((word) => word !== 0)) this.#push(end);
  }

  finish(): Uint32Array {
    return this.#places.subarray(0, this.#length);
  }

  #push(place: Uint32Array): void {
    this.#places.set(place, this.#length);
    this.#length += this.#width;
  }
}
