import { maskTarget } from '../../lib/masking/mask-text.ts';
import { Pace } from '../../lib/pace.ts';
import { requestLineOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';

/** Characters of a target in lists and titles, and those that are looked at for secrets. */
export const shownTarget = 300;
const lookedAtTarget = 2000;

/** The page asks every second: a target is masked once. */
const masked = new WeakMap<Exchange, string>();

export function shortTarget(exchange: Exchange): string {
  const known = masked.get(exchange);
  if (known !== undefined) return known;
  const whole = maskTarget(requestLineOf(exchange.request).target.slice(0, lookedAtTarget));
  const short = whole.length > shownTarget ? `${whole.slice(0, shownTarget)}…` : whole;
  masked.set(exchange, short);
  return short;
}

/** Masks targets in slices, so that visitors do not wait for a page of many long ones. */
export async function maskTargets(exchanges: readonly Exchange[]): Promise<void> {
  const pace = new Pace();
  for (const exchange of exchanges) {
    shortTarget(exchange);
    if (pace.isDue) await pace.giveWay();
  }
}
