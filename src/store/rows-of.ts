import { chunks } from '../lib/chunks.ts';
import { Pace } from '../lib/pace.ts';
import type { Queries, Row } from './database.ts';

/** Ids in one statement. */
const idsAtOnce = 64;

/**
 * Reads the rows of many ids by few statements. `sql` is given the list for its `IN (…)`. One write may have changed
 * thousands: on SQLite, which answers at once, others have their turn in between.
 */
export async function rowsOf(
  queries: Queries,
  ids: readonly string[],
  sql: (places: string) => string,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const pace = new Pace();
  for (const some of chunks(ids, idsAtOnce)) {
    const places = some.map((_, at) => `$${at + 1}`).join(', ');
    for (const row of await queries.all(sql(places), some)) rows.push(row);
    if (pace.isDue) await pace.giveWay();
  }
  return rows;
}
