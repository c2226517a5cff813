import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';

import { columnNames } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { DecisionFilter, DecisionPage, QueryLimits } from './messages.ts';
import { conditionsOf } from './query.ts';

/** A file of decisions, as a table of SQL. */
export interface ReadablePart {
  readonly table: string;
  readonly firstNumber: number;
  /** Undefined: they have not been counted yet. */
  rows?: number | undefined;
}

const usualLimits: QueryLimits = { rows: 1_000_000, beginMs: 4_000, endMs: 8_000 };

/** Reads a page from parts, which are given newest first, until it is full or a limit is reached. */
export async function readParts(
  instance: DuckDBInstance,
  parts: readonly ReadablePart[],
  filter: DecisionFilter,
  given: Partial<QueryLimits> = {},
): Promise<DecisionPage> {
  const limits = { ...usualLimits, ...given };
  const beganMs = performance.now();
  const connection = await instance.connect();
  let isOver = false;
  // Again and again: an interrupt between two statements is lost.
  const timer = setInterval(() => {
    isOver = true;
    connection.interrupt();
  }, limits.endMs);
  const rows: DecisionRow[] = [];
  let [looked, cutAt]: [number, number | undefined] = [0, undefined];
  try {
    for (const part of parts) {
      if (rows.length >= filter.limit) return { rows };
      const isSpent = looked >= limits.rows || performance.now() - beganMs >= limits.beginMs;
      if (cutAt !== undefined && isSpent) return { rows, cutAt };
      rows.push(...(await readPart(connection, part, { ...filter, limit: filter.limit - rows.length })));
      looked += part.rows ??= await countRows(connection, part);
      cutAt = part.firstNumber;
    }
    return { rows };
  } catch (error) {
    if (!isOver) throw error;
    if (cutAt === undefined) throw new Error('a query was ended because it took too long', { cause: error });
    return { rows, cutAt };
  } finally {
    clearInterval(timer);
    connection.closeSync();
  }
}

async function readPart(
  connection: DuckDBConnection,
  { table }: ReadablePart,
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

async function countRows(connection: DuckDBConnection, { table }: ReadablePart): Promise<number> {
  const found = await connection.runAndReadAll(`SELECT count(*) FROM ${table}`);
  return Number(found.getRows()[0]?.[0] ?? 0);
}
