import type { FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import type { Change } from '../../store/change-log.ts';

/** For as long as the change itself is in memory, which is until it is in force. */
const rulesAfter = new WeakMap<Change, readonly FlaggedCidr[]>();

/** Tells what all rules of the policy are after the change, so that this process need not read them back. */
export function handOver(change: Change, rules: readonly FlaggedCidr[]): void {
  rulesAfter.set(change, rules);
}

/** Undefined for a change that another process made, or that was read from the log. */
export function handedOver(change: Change): readonly FlaggedCidr[] | undefined {
  return rulesAfter.get(change);
}
