import type { Steps } from '../steps.ts';
import { mappedEnd, mappedStart, PlaceList } from './address-sets.ts';
import type { AddressSet } from './address-sets.ts';
import { CidrColumns } from './cidr-columns.ts';
import { ipFromIpv4Word, ipFromIpv6Words } from './address.ts';
import { formatCidr } from './cidr.ts';
import type { Cidr } from './cidr.ts';

/** Why a rule never decides. */
export type IdleKind = 'duplicate' | 'shadowed' | 'contradictory' | 'needless';

/** Flags in the columns below: of rules with one CIDR, those that deny come first. */
const denies = 0;
const allows = 1;
const kinds = [undefined, 'duplicate', 'shadowed', 'contradictory', 'needless'] as const satisfies readonly (
  | IdleKind
  | undefined
)[];
const kindCode = { duplicate: 1, shadowed: 2, contradictory: 3, needless: 4 } as const;
/** Rules that are looked at in one step. */
const rowsInStep = 2_048;
const none = -1;

/** Rules that decide together, in columns: 6 bytes for one of IPv4, 18 for one of IPv6. */
export class RuleColumns {
  readonly ipv4 = new CidrColumns(1);
  readonly ipv6 = new CidrColumns(4);

  get count(): number {
    return this.ipv4.count + this.ipv6.count;
  }

  append(cidr: Cidr, action: 'allow' | 'deny'): void {
    (cidr.family === 4 ? this.ipv4 : this.ipv6).append(cidr, action === 'allow' ? allows : denies);
  }

  /** The canonical text of a rule's CIDR, and what the rule does. */
  ruleAt(family: 'ipv4' | 'ipv6', row: number): { readonly cidr: string; readonly action: 'allow' | 'deny' } {
    const { words, prefixes, flags, width } = this[family];
    const [word0 = 0, word1 = 0, word2 = 0, word3 = 0] = words.subarray(row * width, row * width + width);
    const ip = family === 'ipv4' ? ipFromIpv4Word(word0) : ipFromIpv6Words(word0, word1, word2, word3);
    const action = flags[row] === allows ? 'allow' : 'deny';
    return { cidr: formatCidr({ ...ip, prefix: prefixes[row]! }), action };
  }

  appendAll({ ipv4, ipv6 }: RuleColumns): void {
    this.ipv4.appendAll(ipv4);
    this.ipv6.appendAll(ipv6);
  }
}

/** What becomes of rules that decide together: an address is admitted if some rule allows it, and none denies it. */
export interface Coverage {
  readonly admitted: AddressSet;
  readonly ipv4: FamilyCoverage;
  readonly ipv6: FamilyCoverage;
}

/**
 * Says which rules never decide, by their rows. Without all of them, the same addresses are admitted, and of the others that
 * allow none can go.
 */
export class FamilyCoverage {
  readonly #kinds: Uint8Array;
  readonly #by: Uint32Array;

  constructor(count: number) {
    this.#kinds = new Uint8Array(count);
    this.#by = new Uint32Array(count);
  }

  set(row: number, kind: IdleKind, by: number): void {
    this.#kinds[row] = kindCode[kind];
    this.#by[row] = by;
  }

  kindOf(row: number): IdleKind | undefined {
    return kinds[this.#kinds[row]!];
  }

  /** The row of the rule that decides in its place, or of the first of those; means nothing for a needless one. */
  decidedBy(row: number): number {
    return this.#by[row]!;
  }
}

export function* coverRules(rules: RuleColumns): Steps<Coverage> {
  const ipv4 = yield* coverFamily(rules.ipv4);
  const ipv6 = yield* coverFamily(rules.ipv6);
  return { admitted: { ipv4: ipv4.places, ipv6: ipv6.places }, ipv4: ipv4.coverage, ipv6: ipv6.coverage };
}

function* coverFamily(rules: CidrColumns): Steps<ReturnType<Walk['finish']>> {
  const order = yield* rules.rowsInOrder();
  const walk = new Walk(rules);
  for (let at = 0; at < order.length; at++) {
    walk.open(order[at]!);
    if (at % rowsInStep === 0) yield;
  }
  return walk.finish();
}

/**
 * Walks rules in the order of their addresses, wider ones first. Ranges nest or are apart, so that at any place one rule at
 * most allows it that no wider one makes needless, and one denies it.
 */
class Walk {
  readonly #rules: CidrColumns;
  readonly #coverage: FamilyCoverage;
  readonly #places: PlaceList;
  /** The widest rules around the present place. */
  #allow = none;
  #deny = none;
  /** True: the rule that denies meets one that allows. */
  #isDenyNeeded = false;
  /** The first rule that denies a part of what the present one allows. */
  #firstCut = none;
  /** True: some address of what the present one allows is admitted. */
  #admits = false;
  #isCut = false;
  #isMappedPassed: boolean;
  /** The first address of the range allowed whose verdict is not known yet. */
  readonly #next: Uint32Array;
  /** Scratch memory. */
  readonly #start: Uint32Array;
  readonly #end: Uint32Array;

  constructor(rules: CidrColumns) {
    const { width, count } = rules;
    this.#rules = rules;
    this.#coverage = new FamilyCoverage(count);
    this.#places = new PlaceList(width, count + 1);
    this.#isMappedPassed = width === 1;
    [this.#next, this.#start, this.#end] = [new Uint32Array(width), new Uint32Array(width), new Uint32Array(width)];
  }

  open(row: number): void {
    this.#read(row);
    if (!this.#isMappedPassed && isAtOrBehind(this.#start, mappedStart)) this.#passMapped();
    if (this.#deny !== none && !this.#rules.contains(this.#deny, row)) this.#closeDeny();
    if (this.#allow !== none && !this.#rules.contains(this.#allow, row)) this.#closeAllow();
    if (this.#rules.flags[row] === denies) this.#openDeny(row);
    else this.#openAllow(row);
  }

  finish(): { readonly coverage: FamilyCoverage; readonly places: Uint32Array } {
    if (!this.#isMappedPassed) this.#passMapped();
    this.#closeDeny();
    this.#closeAllow();
    return { coverage: this.#coverage, places: this.#places.finish() };
  }

  #openDeny(row: number): void {
    if (this.#deny !== none) {
      this.#coverage.set(row, this.#isSame(this.#deny, row) ? 'duplicate' : 'shadowed', this.#deny);
      return;
    }
    this.#deny = row;
    this.#isDenyNeeded = this.#allow !== none;
    if (this.#allow === none) return;
    if (this.#firstCut === none) this.#firstCut = row;
    this.#rules.findEnd(row, this.#end);
    this.#cut(this.#start, this.#end);
  }

  #openAllow(row: number): void {
    if (this.#deny !== none) {
      this.#isDenyNeeded = true;
      this.#coverage.set(row, 'contradictory', this.#deny);
    } else if (this.#allow !== none) {
      this.#coverage.set(row, this.#isSame(this.#allow, row) ? 'duplicate' : 'shadowed', this.#allow);
    } else {
      this.#allow = row;
      this.#next.set(this.#start);
      this.#firstCut = none;
      this.#admits = false;
      this.#isCut = false;
    }
  }

  /** Takes a range out of that which is allowed. */
  #cut(start: Uint32Array, end: Uint32Array): void {
    if (!isSame(this.#next, start)) this.#admit(start);
    this.#next.set(end);
    this.#isCut = true;
  }

  #closeDeny(): void {
    if (this.#deny !== none && !this.#isDenyNeeded) this.#coverage.set(this.#deny, 'needless', this.#deny);
    this.#deny = none;
  }

  #closeAllow(): void {
    if (this.#allow === none) return;
    this.#rules.findEnd(this.#allow, this.#end);
    // A range that nothing is cut from may begin and end at the same place, zero.
    if (!this.#isCut || !isSame(this.#next, this.#end)) this.#admit(this.#end);
    if (!this.#admits) this.#coverage.set(this.#allow, 'contradictory', this.#firstCut);
    this.#allow = none;
  }

  #admit(end: Uint32Array): void {
    this.#places.add(this.#next, end);
    this.#admits = true;
  }

  /** Nobody comes from an IPv4-mapped address. */
  #passMapped(): void {
    this.#isMappedPassed = true;
    if (this.#allow !== none && this.#isInside(this.#allow) && (this.#deny === none || !this.#isInside(this.#deny)))
      this.#cut(mappedStart, mappedEnd);
  }

  /** Whether the mapped addresses are in the range. */
  #isInside(row: number): boolean {
    const { words, width } = this.#rules;
    this.#rules.findEnd(row, this.#end);
    const isLast = this.#end.every((word) => word === 0);
    const start = words.subarray(row * width, row * width + width);
    return isAtOrBehind(mappedStart, start) && (isLast || isAtOrBehind(this.#end, mappedEnd));
  }

  #read(row: number): void {
    const { words, width } = this.#rules;
    for (let word = 0; word < width; word++) this.#start[word] = words[row * width + word]!;
  }

  /** The rows are of nested ranges. */
  #isSame(one: number, other: number): boolean {
    return this.#rules.prefixes[one] === this.#rules.prefixes[other];
  }
}

function isSame(one: Uint32Array, other: Uint32Array): boolean {
  for (let word = one.length - 1; word >= 0; word--) if (one[word] !== other[word]) return false;
  return true;
}

function isAtOrBehind(one: Uint32Array, other: Uint32Array): boolean {
  for (let word = 0; word < one.length; word++) if (one[word] !== other[word]) return one[word]! > other[word]!;
  return true;
}
