import { Pace } from '../lib/pace.ts';
import type { Queries, Row, Value } from './database.ts';

/** Bytes after which a statement reads no further row: parsed in a few milliseconds. */
const bytesAtOnce = 262_144;

interface BoundedRows {
  readonly table: string;
  readonly columns: readonly string[];
  /** Columns of texts that may be long. */
  readonly long: readonly string[];
  /** The columns of the order. A condition that begins behind a row names them. */
  readonly key: readonly string[];
  readonly order: 'ASC' | 'DESC';
  /** Where rows are, with places for parameters. */
  readonly where: string;
  /** The place of the parameter, or a number. */
  readonly limit: string | number;
}

/**
 * A statement that reads rows up to a number of bytes, and one at least. Sizes are asked for first, which reads no text: on
 * SQLite, where a statement answers at once, a hundred long ones would hold up everybody.
 */
export function boundedSql({ table, columns, long, key, order, where, limit }: BoundedRows): string {
  const inOrder = key.map((column) => `${column} ${order}`).join(', ');
  const size = long.map((column) => `COALESCE(octet_length(${column}), 0)`).join(' + ');
  const same = key.map((column) => `t.${column} = s.${column}`).join(' AND ');
  return `
    SELECT ${columns.map((column) => `t.${column}`).join(', ')}, CASE WHEN s.up_to = s.total THEN 1 ELSE 0 END
    FROM (
      SELECT ${key.join(', ')}, size, SUM(size) OVER (ORDER BY ${inOrder} ROWS UNBOUNDED PRECEDING) AS up_to, SUM(size) OVER () AS total
      FROM (SELECT ${key.join(', ')}, ${size} AS size FROM ${table} WHERE ${where} ORDER BY ${inOrder} LIMIT ${limit}) AS sized
    ) AS s JOIN ${table} t ON ${same}
    WHERE s.up_to - s.size < ${bytesAtOnce} ORDER BY ${key.map((column) => `t.${column} ${order}`).join(', ')}`;
}

interface BoundedRead {
  /** Such a statement, and its parameters, for at most `limit` rows behind the last one; that is undefined first. */
  statement(this: void, last: Row | undefined, limit: number): readonly [sql: string, values: readonly Value[]];
  /** Rows in one statement. */
  readonly atOnce: number;
  /** Without it all are read. */
  readonly wanted?: number;
  /** True ends the reading early. */
  isEnough?(this: void): boolean;
}

/** Reads rows by such statements, in slices, and gives each to `take`. */
export async function readBounded(
  queries: Queries,
  { statement, atOnce, wanted = Infinity, isEnough }: BoundedRead,
  take: (row: Row) => void,
): Promise<void> {
  const pace = new Pace();
  let last: Row | undefined;
  for (let left = wanted; left > 0;) {
    const limit = Math.min(atOnce, left);
    const rows = await queries.all(...statement(last, limit));
    for (const row of rows) take(row);
    last = rows.at(-1);
    left -= rows.length;
    if (last === undefined || (last.at(-1) === 1 && rows.length < limit) || isEnough?.() === true) return;
    if (pace.isDue) await pace.giveWay();
  }
}
