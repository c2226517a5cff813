import type { DuckDBConnection } from '@duckdb/node-api';

import { columnNames } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { DecisionFilter, DecisionPage } from './messages.ts';
import type { ClosedPart, Part, Parts } from './parts.ts';
import { conditionsOf } from './query.ts';
import { tookTooLong } from './reading.ts';
import type { Reading } from './reading.ts';
import { parquetTable } from './tables.ts';

/** Files of the first statements and of all others: most pages are full after one, and to plan a statement takes longer than a file. */
const atOnce = [1, 4, 16];

/** Files that one statement reads. */
interface Batch {
  readonly table: string;
  readonly parts: readonly Part[];
}

/** Reads a page, newest files first, until it is full or a limit is reached. */
export async function readPage(reading: Reading, parts: Parts, filter: DecisionFilter): Promise<DecisionPage> {
  const { connection, limits, isLate, isOver } = reading;
  const rows: DecisionRow[] = [];
  let [looked, cutAt]: [number, number | undefined] = [0, undefined];
  try {
    for (const batch of batchesOf(parts, filter)) {
      if (rows.length >= filter.limit) return { rows };
      if (cutAt !== undefined && (looked >= limits.rows || isLate())) return { rows, cutAt };
      rows.push(...(await readBatch(connection, batch, { ...filter, limit: filter.limit - rows.length })));
      looked += await rowsOf(connection, batch);
      cutAt = batch.parts.at(-1)?.firstNumber;
    }
    return { rows };
  } catch (error) {
    if (!isOver()) throw error;
    if (cutAt === undefined) throw tookTooLong(error);
    return { rows, cutAt };
  }
}

/** Parts that may have rows for the filter, newest first. */
function* batchesOf(
  { open, closed }: Parts,
  { before = Infinity, fromMs = -Infinity, toMs = Infinity }: DecisionFilter,
): Generator<Batch> {
  const mayHave = ({ firstNumber, minAtMs, maxAtMs }: Part): boolean =>
    firstNumber < before && maxAtMs >= fromMs && minAtMs < toMs;
  if (open !== undefined && mayHave(open)) yield { table: open.table, parts: [open] };
  const files: readonly ClosedPart[] = closed.filter(mayHave);
  for (let [at, batch] = [0, 0]; at < files.length; batch++) {
    const parts = files.slice(at, at + (atOnce[batch] ?? atOnce.at(-1) ?? 1));
    yield { table: parquetTable(...parts.map(({ path }) => path)), parts };
    at += parts.length;
  }
}

async function readBatch(
  connection: DuckDBConnection,
  { table }: Batch,
  filter: DecisionFilter,
): Promise<readonly DecisionRow[]> {
  const { where, values } = conditionsOf(filter);
  const found = await connection.runAndReadAll(
    `SELECT ${columnNames} FROM ${table} WHERE ${where} ORDER BY number DESC LIMIT ${filter.limit}`,
    values,
  );
  // The columns of the table are those of a row.
  return found.getRowObjectsJS() as unknown as readonly DecisionRow[];
}

/** Files that were found at the start have not been counted. */
async function rowsOf(connection: DuckDBConnection, { table, parts }: Batch): Promise<number> {
  if (parts.every(({ rows }) => rows !== undefined)) return parts.reduce((sum, { rows = 0 }) => sum + rows, 0);
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`);
  return Number(found.getRows()[0]?.[0] ?? 0);
}
