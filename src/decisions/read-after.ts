import { closeSync, openSync, readSync } from 'node:fs';

import type { DuckDBValue } from '@duckdb/node-api';

import { columnNames, columns } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { AfterQuestion, DecisionsAfter, Followed } from './messages.ts';
import type { OpenPart } from './open-part.ts';
import type { ClosedPart } from './parts.ts';
import type { Reading } from './reading.ts';

/** Bytes of an open part that are read at once, and for one question; far more than a line has. */
const sliceBytes = 256 * 1024;
const mostBytes = 4 * 1024 * 1024;

type Found = Omit<DecisionsAfter, 'isCut'>;

/** Reads on in a closed part, which has decisions behind the number. */
export async function readClosedAfter(
  { connection }: Pick<Reading, 'connection'>,
  { table, lastNumber }: ClosedPart,
  { after, limit, followed }: AfterQuestion,
): Promise<Found> {
  const values: Record<string, DuckDBValue> = { after: BigInt(after) };
  for (const [at, { path }] of followed.entries()) if (path !== undefined) values[`path${at}`] = path;
  const wanted = followed.map(({ kind, path }, at) => {
    const atPath = path === undefined ? '' : ` AND path = $path${at} AND person <> ''`;
    return `(kind = '${kind === 'tcp' ? 'tcp' : 'https'}'${atPath})`;
  });
  const found = await connection.runAndReadAll(
    `SELECT ${columnNames} FROM ${table} WHERE number > $after AND (${wanted.join(' OR ')}) ORDER BY number LIMIT ${limit}`,
    values,
  );
  // The columns of the table are those of a row.
  const rows = found.getRowObjectsJS() as unknown as readonly DecisionRow[];
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { rows, seen: last === undefined ? lastNumber : Number(last.number), hasMore: true };
}

/** Reads on in the log of an open part, without the engine: it would read the whole log for a few lines at its end. */
export function readOpenAfter(part: OpenPart, { after, limit, followed }: AfterQuestion): Found {
  const rows: DecisionRow[] = [];
  const begin = part.markBefore(after).offset;
  let [offset, seen] = [begin, after];
  const file = openSync(part.path, 'r');
  try {
    while (offset < part.bytes && offset - begin < mostBytes) {
      const bytes = Buffer.allocUnsafe(Math.min(sliceBytes, part.bytes - offset));
      const end = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset)).lastIndexOf(10) + 1;
      if (end === 0) break;
      const lines = bytes.toString('utf8', 0, end - 1).split('\n');
      part.mark({ number: Number.parseInt(lines[0] ?? '', 10), offset });
      for (const line of lines) {
        const number = Number.parseInt(line, 10);
        if (number <= after) continue;
        if (rows.length >= limit) return { rows, seen, hasMore: true };
        const row = readLine(line);
        if (row !== undefined && followed.some((each) => isFollowed(row, each))) rows.push(row);
        seen = number;
      }
      offset += end;
    }
  } finally {
    closeSync(file);
  }
  return { rows, seen, hasMore: offset < part.bytes };
}

function isFollowed({ kind, path, person }: DecisionRow, followed: Followed): boolean {
  return kind === followed.kind && (followed.path === undefined || (path === followed.path && person !== ''));
}

const types = Object.entries(columns);

/** Reads what `decisionLine` has written. */
function readLine(line: string): DecisionRow | undefined {
  const fields = line.split('\t');
  if (fields.length !== types.length) return undefined;
  const row: Record<string, unknown> = {};
  for (const [at, [name, type]] of types.entries()) {
    const text = fields[at] ?? '';
    row[name] = type === 'VARCHAR' ? text : type === 'INTEGER' ? Number(text) : BigInt(text);
  }
  // Each column has the value of its type.
  return row as unknown as DecisionRow;
}
