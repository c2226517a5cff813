import { createHash } from 'node:crypto';

import type { Connection, Queries, Row, Value } from '../store/database.ts';
import { countRows, quoteName } from './catalog.ts';
import type { TableShape } from './catalog.ts';

export interface TableContent {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 over all rows in the order of the primary key. */
  readonly checksum: string;
}

/** Both databases take more, but longer statements are not faster. */
const parametersPerStatement = 2_000;

/** Copies the tables, each of which must come after those that it references, and compares what arrived. */
export async function copyTables(
  source: Queries,
  target: Connection,
  tables: readonly TableShape[],
): Promise<readonly TableContent[]> {
  // Migrations insert rows of their own.
  for (const { name } of tables.toReversed()) await target.run(`DELETE FROM ${quoteName(name)}`);
  const moved: TableContent[] = [];
  for (const table of tables) {
    const sent = await readContent(source, table, (rows) => insertRows(target, table, rows));
    const arrived = await readContent(target, table);
    const counted = await countRows(source, table.name);
    if (sent.rows !== counted || arrived.rows !== counted || sent.checksum !== arrived.checksum) {
      throw new Error(
        `the table ${table.name} did not arrive as it was: ${counted} rows, ${sent.rows} read, ${arrived.rows} in the ` +
          `target, checksums ${sent.checksum} and ${arrived.checksum}. The target was left empty.`,
      );
    }
    moved.push(arrived);
  }
  return moved;
}

/** Reads the whole table, a page at a time, in the order of its primary key. */
async function readContent(
  queries: Queries,
  { name, columns, key }: TableShape,
  use: (rows: readonly Row[]) => Promise<void> = async () => {},
): Promise<TableContent> {
  const limit = Math.max(1, Math.floor(parametersPerStatement / columns.length));
  const keyColumns = key.map(quoteName).join(', ');
  const first = `SELECT ${columns.map(quoteName).join(', ')} FROM ${quoteName(name)}`;
  const after = `${first} WHERE (${keyColumns}) > (${key.map((_, at) => `$${at + 1}`).join(', ')})`;
  const order = `ORDER BY ${keyColumns} LIMIT ${limit}`;
  const hash = createHash('sha256');
  let count = 0;
  let page = await queries.all(`${first} ${order}`);
  for (;;) {
    for (const row of page)
      hash.update(`${JSON.stringify(row.map((value, at) => portable(value, name, columns[at])))}\n`);
    count += page.length;
    if (page.length > 0) await use(page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit) return { name, rows: count, checksum: hash.digest('hex') };
    page = await queries.all(
      `${after} ${order}`,
      key.map((column) => last[columns.indexOf(column)] ?? null),
    );
  }
}

async function insertRows(target: Connection, { name, columns }: TableShape, rows: readonly Row[]): Promise<void> {
  const place = (line: number) => columns.map((_, at) => `$${line * columns.length + at + 1}`).join(', ');
  const places = rows.map((_, line) => `(${place(line)})`).join(', ');
  await target.run(
    `INSERT INTO ${quoteName(name)} (${columns.map(quoteName).join(', ')}) VALUES ${places}`,
    rows.flat(),
  );
}

/** Checks what the types promise: the driver would also return a column of another type, such as bytes or dates. */
function portable(value: Value, table: string, column = ''): Value {
  if (value === null || typeof value === 'string' || Number.isSafeInteger(value)) return value;
  throw new Error(`${table}.${column} holds what is neither text nor a whole number, so that it cannot be moved`);
}
