import type { DecisionRow } from '../../decisions/columns.ts';
import { gatewaySuffix } from '../../decisions/gateway-suffix.ts';
import type { DecisionPage } from '../../decisions/messages.ts';

export interface GatewayPage {
  readonly gateway: string;
  readonly page: DecisionPage;
}

/** A place in the order of all decisions: by number, and by gateway where numbers are the same. */
export interface Place {
  readonly number: number;
  readonly suffix: string;
}

interface Placed extends Place {
  readonly gateway: string;
  readonly row: DecisionRow;
}

export interface JoinedPage {
  readonly rows: readonly Placed[];
  /** Where the next page begins, below; undefined: there is none. */
  readonly next: Place | undefined;
  /** The page ended before it was full. */
  readonly wasCut: boolean;
}

/**
 * Puts pages of gateways together, newest first. Each was asked for one row more than the limit. Nothing below the place to which
 * every gateway has looked is shown: one of them may have more in between.
 */
export function joinPages(pages: readonly GatewayPage[], limit: number): JoinedPage {
  const rows: Placed[] = [];
  let horizon: Place | undefined;
  for (const { gateway, page } of pages) {
    const suffix = gatewaySuffix(gateway);
    for (const row of page.rows) rows.push({ gateway, suffix, row, number: Number(row.number) });
    const last = page.rows.length > limit ? Number(page.rows.at(-1)?.number) : page.cutAt;
    const place = last === undefined ? undefined : { number: last, suffix };
    if (place !== undefined && (horizon === undefined || newestFirst(place, horizon) < 0)) horizon = place;
  }
  rows.sort(newestFirst);
  const reached = horizon;
  const known = reached === undefined ? rows : rows.filter((row) => newestFirst(row, reached) <= 0);
  const shown = known.slice(0, limit);
  if (known.length > limit) return { rows: shown, next: shown.at(-1), wasCut: false };
  return { rows: shown, next: reached, wasCut: reached !== undefined && shown.length < limit };
}

function newestFirst(a: Place, b: Place): number {
  return b.number - a.number || (a.suffix < b.suffix ? 1 : a.suffix > b.suffix ? -1 : 0);
}
