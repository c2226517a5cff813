import { Pace } from '../../lib/pace.ts';
import type { Queries, Row, Value } from '../database.ts';
import type { Page } from '../table.ts';

/** The rows of a table that are shown; the others are not in force yet, or no longer. */
export interface ShownRows {
  readonly table: string;
  /** The SQL condition by which a view of the table selects. */
  readonly isShown: string;
  /** Column of numbers that tells rows of the same id apart, of which one at most is shown. */
  readonly copyColumn: string;
}

/** Rows that are looked at in one step, because any number of them may be hidden. */
const stepRows = 1_000;
/** Sorts after every id. */
const afterEveryId = '~';

/**
 * A page of an account's rows, newest first; the column comes first in each. It is read a step at a time, so that hidden rows,
 * however many they are, hold nobody up; where there are none, the first step is the page.
 */
export async function pageOfShown(
  queries: Queries,
  { table, isShown, copyColumn }: ShownRows,
  column: 'document' | 'id',
  accountId: string,
  { beforeId, limit }: Page,
): Promise<readonly Row[]> {
  const sql =
    `SELECT ${column}, id, ${copyColumn}, CASE WHEN ${isShown} THEN 1 ELSE 0 END FROM ${table} ` +
    `WHERE account_id = $1 AND (id, ${copyColumn}) < ($2, $3) ORDER BY id DESC, ${copyColumn} DESC LIMIT $4`;
  const shown: Row[] = [];
  const pace = new Pace();
  let before: readonly Value[] = [beforeId ?? afterEveryId, -1];
  for (let step = limit; ; step = stepRows) {
    const rows = await queries.all(sql, [accountId, ...before, step]);
    shown.push(...rows.filter((row) => row[3] === 1).slice(0, limit - shown.length));
    const last = rows.at(-1);
    if (last === undefined || rows.length < step || shown.length === limit) return shown;
    before = last.slice(1, 3);
    if (pace.isDue) await pace.giveWay();
  }
}
