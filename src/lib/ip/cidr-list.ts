import type { Steps } from '../steps.ts';
import { CidrColumns } from './cidr-columns.ts';
import type { Cidr } from './cidr.ts';
import { packIntervals } from './interval-pack.ts';
import type { IntervalTable } from './interval-table.ts';

export interface FlaggedCidr {
  readonly cidr: Cidr;
  /** 0 to 255. */
  readonly flags: number;
}

/**
 * A packed set of CIDRs: numbers and typed arrays only, to be cloned to other threads. IPv6 ranges up to /64 lie apart
 * from narrower ones, because they need half the bytes and are most of what there is.
 */
export interface CidrSetData {
  readonly ipv4?: IntervalTable;
  readonly ipv6?: IntervalTable;
  readonly ipv6Narrow?: IntervalTable;
}

/** CIDRs that are appended in one step. */
const rowsInStep = 1_024;

/** The CIDRs of a packed set, kept so that a change of one does not require reading all of them again. */
export class CidrList {
  readonly #ipv4 = new CidrColumns(1);
  readonly #ipv6 = new CidrColumns(2);
  readonly #ipv6Narrow = new CidrColumns(4);

  /** A CIDR that comes several times gets the union of its flags. */
  static *of(rules: Iterable<FlaggedCidr>): Steps<CidrList> {
    const list = new CidrList();
    let count = 0;
    for (const { cidr, flags } of rules) {
      list.#columnsOf(cidr).append(cidr, flags);
      if (++count % rowsInStep === 0) yield;
    }
    for (const columns of [list.#ipv4, list.#ipv6, list.#ipv6Narrow]) yield* columns.sortRows();
    return list;
  }

  get count(): number {
    return this.#ipv4.count + this.#ipv6.count + this.#ipv6Narrow.count;
  }

  /** Adds the CIDR, or gives it other flags. */
  set(cidr: Cidr, flags: number): void {
    this.#columnsOf(cidr).set(cidr, flags);
  }

  delete(cidr: Cidr): void {
    this.#columnsOf(cidr).delete(cidr);
  }

  *pack(): Steps<CidrSetData> {
    const ipv4 = yield* packIntervals(this.#ipv4);
    const ipv6 = yield* packIntervals(this.#ipv6);
    const ipv6Narrow = yield* packIntervals(this.#ipv6Narrow);
    return { ...(ipv4 && { ipv4 }), ...(ipv6 && { ipv6 }), ...(ipv6Narrow && { ipv6Narrow }) };
  }

  #columnsOf({ family, prefix }: Cidr): CidrColumns {
    if (family === 4) return this.#ipv4;
    return prefix <= 64 ? this.#ipv6 : this.#ipv6Narrow;
  }
}
