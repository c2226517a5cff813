import { finishNow } from '../steps.ts';
import type { Steps } from '../steps.ts';
import type { IpAddress } from './address.ts';
import { CidrList } from './cidr-list.ts';
import type { CidrSetData, FlaggedCidr } from './cidr-list.ts';
import { flagsAt } from './interval-table.ts';
import type { IntervalTable } from './interval-table.ts';

export type { CidrSetData, FlaggedCidr } from './cidr-list.ts';

export const emptyCidrSet: CidrSetData = {};

export function packCidrs(rules: Iterable<FlaggedCidr>): CidrSetData {
  return finishNow(packSteps(rules));
}

function* packSteps(rules: Iterable<FlaggedCidr>): Steps<CidrSetData> {
  const list = yield* CidrList.of(rules);
  return yield* list.pack();
}

export class CidrSet {
  /** The packed form, to be sent to another process. */
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
  lookup(ip: IpAddress): number {
    if (ip.family === 4) return this.#ipv4 === undefined ? 0 : flagsAt(this.#ipv4, ip);
    const wide = this.#ipv6 === undefined ? 0 : flagsAt(this.#ipv6, ip);
    return this.#ipv6Narrow === undefined ? wide : wide | flagsAt(this.#ipv6Narrow, ip);
  }

  get byteLength(): number {
    let total = 0;
    for (const table of [this.#ipv4, this.#ipv6, this.#ipv6Narrow])
      if (table !== undefined) total += table.bounds.byteLength + table.index.byteLength + table.rows.byteLength;
    return total;
  }
}
