import type { DuckDBConnection } from '@duckdb/node-api';

import { columnNames } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { DecisionFilter, DecisionPage } from './messages.ts';
import type { Part } from './parts.ts';
import { conditionsOf } from './query.ts';
import { tookTooLong } from './reading.ts';
import type { Reading } from './reading.ts';

/** Reads a page from parts, which are given newest first, until it is full or a limit is reached. */
export async function readPage(
  { connection, limits, isLate, isOver }: Reading,
  parts: readonly Part[],
  filter: DecisionFilter,
): Promise<DecisionPage> {
  const rows: DecisionRow[] = [];
  let [looked, cutAt]: [number, number | undefined] = [0, undefined];
  try {
    for (const part of parts) {
      if (rows.length >= filter.limit) return { rows };
      if (cutAt !== undefined && (looked >= limits.rows || isLate())) return { rows, cutAt };
      rows.push(...(await readPart(connection, part, { ...filter, limit: filter.limit - rows.length })));
      looked += part.rows ??= await countRows(connection, part);
      cutAt = part.firstNumber;
    }
    return { rows };
  } catch (error) {
    if (!isOver()) throw error;
    if (cutAt === undefined) throw tookTooLong(error);
    return { rows, cutAt };
  }
}

async function readPart(
  connection: DuckDBConnection,
  { table }: Part,
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

async function countRows(connection: DuckDBConnection, { table }: Part): Promise<number> {
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`);
  return Number(found.getRows()[0]?.[0] ?? 0);
}
