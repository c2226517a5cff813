import { UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Condition } from '../../store/search/condition.ts';
import type { Store } from '../../store/store.ts';
import type { Stored, Table } from '../../store/table.ts';
import type { Call } from '../call.ts';
import { filterRowsReached } from '../errors.ts';

/** The documents of one page, and the id before which the next one begins, if there is one. */
export interface Shown<Document> {
  readonly documents: readonly Document[];
  readonly nextBefore: string | undefined;
}

/** Leaves out the last document where there is one more than asked for. */
export function cutPage<Document extends { readonly id: string }>(
  documents: readonly Document[],
  limit: number,
): Shown<Document> {
  const shown = documents.slice(0, limit);
  return { documents: shown, nextBefore: documents.length > limit ? shown.at(-1)?.id : undefined };
}

/** A page of the documents that pass a condition. `scope` narrows them by further columns. */
export async function filteredList<Document extends Stored>(
  store: Store,
  table: Table<Document>,
  { caller, page, filterRows, isAbandoned }: Call,
  condition: Condition,
  scope: Readonly<Record<string, string>> = {},
): Promise<Shown<Document>> {
  const wanted = { ...page, limit: page.limit + 1, condition, maxRows: filterRows, isAbandoned, scope };
  const { found, endedAt, lookedAt } = await store.filteredPage(table, caller.accountId, wanted);
  if (endedAt === undefined) return cutPage(found, page.limit);
  // Some clients take a page without entries for the last one, so that an empty one would hide those that follow.
  if (found.length === 0) throw refuseRows(lookedAt, `before_id=${endedAt}`);
  return { documents: found, nextBefore: endedAt };
}

const monthMs = 30 * 86_400_000;

/** `next` is the query parameter by which the caller goes on. */
export function refuseRows(rows: number, next: string): UserError {
  return new UserError(filterRowsReached, { rows, next, time: toTimestamp(Date.now() - monthMs) });
}
