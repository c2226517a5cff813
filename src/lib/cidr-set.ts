import { packIntervals } from './interval-pack.ts';
import type { FlaggedCidr } from './interval-pack.ts';
import { flagsAt } from './interval-table.ts';
import type { IntervalTable } from './interval-table.ts';
import type { IpAddress } from './ip-address.ts';

export type { FlaggedCidr } from './interval-pack.ts';

/**
 * A packed set of CIDRs: numbers and typed arrays only, to be cloned to other threads. IPv6 ranges up to /64 lie apart
 * from narrower ones, because they need half the bytes and are most of what there is.
 */
export interface CidrSetData {
  readonly ipv4?: IntervalTable;
  readonly ipv6?: IntervalTable;
  readonly ipv6Narrow?: IntervalTable;
}

export const emptyCidrSet: CidrSetData = {};

export function packCidrs(rules: Iterable<FlaggedCidr>): CidrSetData {
  const ofIpv4: FlaggedCidr[] = [];
  const ofIpv6: FlaggedCidr[] = [];
  const ofIpv6Narrow: FlaggedCidr[] = [];
  for (const rule of rules) {
    if (rule.cidr.family === 4) ofIpv4.push(rule);
    else if (rule.cidr.prefix <= 64) ofIpv6.push(rule);
    else ofIpv6Narrow.push(rule);
  }
  const ipv4 = packIntervals(ofIpv4, 1);
  const ipv6 = packIntervals(ofIpv6, 2);
  const ipv6Narrow = packIntervals(ofIpv6Narrow, 4);
  return { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }), ...(ipv6Narrow && { ipv6Narrow }) };
}

export class CidrSet {
  /** What it was made of, to be sent to another process. */
  readonly data: CidrSetData;
  readonly #ipv4: IntervalTable | undefined;
  readonly #ipv6: IntervalTable | undefined;
  readonly #ipv6Narrow: IntervalTable | undefined;

  constructor(data: CidrSetData) {
    this.data = data;
    this.#ipv4 = data.ipv4;
    this.#ipv6 = data.ipv6;
    this.#ipv6Narrow = data.ipv6Narrow;
  }

  /** The union of the flags of all ranges that contain the address; 0 if none does. */
  lookup({ family, words }: IpAddress): number {
    if (family === 4) return this.#ipv4 === undefined ? 0 : flagsAt(this.#ipv4, words);
    const wide = this.#ipv6 === undefined ? 0 : flagsAt(this.#ipv6, words);
    return this.#ipv6Narrow === undefined ? wide : wide | flagsAt(this.#ipv6Narrow, words);
  }

  get byteLength(): number {
    let total = 0;
    for (const table of [this.#ipv4, this.#ipv6, this.#ipv6Narrow])
      if (table !== undefined) total += table.bounds.byteLength + table.index.byteLength + table.rows.byteLength;
    return total;
  }
}
