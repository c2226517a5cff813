import { createHash } from 'node:crypto';

import { changeLogMigration, readVersion } from '../store/change-log.ts';
import type { Connection, Database, Queries, Row, Value } from '../store/database.ts';
import { findMissing, migrateWithin, readApplied } from '../store/migrate.ts';
import type { Migration } from '../store/migrate.ts';
import { openDatabase, requireDatabaseFile, sqlitePath } from '../store/open-database.ts';
import { countRows, quoteName, readTables } from './catalog.ts';
import type { TableShape } from './catalog.ts';

interface MoveOptions {
  readonly from: string;
  readonly to: string;
  /** All that this version knows, beside the store's own. */
  readonly migrations: readonly Migration[];
}

export interface TableContent {
  readonly name: string;
  readonly rows: number;
  /** SHA-256 over all rows in the order of the primary key. */
  readonly checksum: string;
}

export interface Moved {
  /** Of the content; nothing later is in the target. */
  readonly version: number;
  /** Of the source when the move was over: higher if somebody went on writing. */
  readonly sourceVersion: number;
  readonly tables: readonly TableContent[];
}

/** Both databases take more; a statement need not be longer. */
const parametersPerStatement = 2_000;

/**
 * Copies everything into an empty database: from one state of the source, in one transaction of the target, which
 * commits only if every table reads there as it does here.
 */
export async function moveDatabase({ from, to, migrations: ofResources }: MoveOptions): Promise<Moved> {
  const migrations = [changeLogMigration, ...ofResources];
  const path = sqlitePath(from);
  if (path !== undefined) requireDatabaseFile(path);
  await using opened = new AsyncDisposableStack();
  const open = async (url: string): Promise<readonly [Database, Connection]> => {
    const database = opened.adopt(await openDatabase(url), (each) => each.close());
    return [database, opened.adopt(await database.connect(), (each) => each.close())];
  };
  const [sourceDatabase, source] = await open(from);
  await sourceDatabase.beginSnapshot(source);
  const tables = await readSourceTables(source, dialectOf(from), migrations);

  const [targetDatabase, target] = await open(to);
  await targetDatabase.beginMigration(target);
  await refuseContent(target, dialectOf(to));
  await migrateWithin(targetDatabase, target, migrations);
  compareShapes(tables, await readTables(target, dialectOf(to)));
  const moved = await copyAll(source, target, tables);
  const version = await readVersion(source);
  await target.script('COMMIT');
  return {
    version,
    sourceVersion: await readVersion(sourceDatabase.reader),
    tables: moved.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function dialectOf(url: string): 'sqlite' | 'postgres' {
  return sqlitePath(url) === undefined ? 'postgres' : 'sqlite';
}

async function readSourceTables(
  source: Queries,
  dialect: 'sqlite' | 'postgres',
  migrations: readonly Migration[],
): Promise<readonly TableShape[]> {
  const tables = await readTables(source, dialect);
  if (!tables.some(({ name }) => name === 'store_version')) throw new Error('the source is not a Gatehouse database');
  const missing = findMissing(await readApplied(source), migrations);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ');
    throw new Error(
      `the source was written by an older Gatehouse (it lacks ${names}). Start this version on it once, then move.`,
    );
  }
  for (const { name, key } of tables) {
    if (key.length === 0)
      throw new Error(`the table ${name} has no primary key, so that its rows cannot be read in order`);
  }
  return tables;
}

async function refuseContent(target: Queries, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const present = await readTables(target, dialect);
  if (present.length === 0) return;
  const names = present.map(({ name }) => name).toSorted();
  const shown = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  throw new Error(`the target is not empty: it has the tables ${shown}. Give one without any; nothing was changed.`);
}

/** The target's tables come from the migrations. What is in the source beside them would be left behind. */
function compareShapes(source: readonly TableShape[], target: readonly TableShape[]): void {
  const different = columnsOf(source).symmetricDifference(columnsOf(target));
  if (different.size === 0) return;
  throw new Error(
    `the source has other columns than this version of Gatehouse makes: ${[...different].join(', ')}. ` +
      'What was added by hand must be taken away first; nothing was changed.',
  );
}

function columnsOf(tables: readonly TableShape[]): ReadonlySet<string> {
  return new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)));
}

async function copyAll(
  source: Queries,
  target: Connection,
  tables: readonly TableShape[],
): Promise<readonly TableContent[]> {
  // Migrations fill in first rows of their own.
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

/** The types promise it; a column of another kind, such as bytes or dates, would come out of the driver all the same. */
function portable(value: Value, table: string, column = ''): Value {
  if (value === null || typeof value === 'string' || Number.isSafeInteger(value)) return value;
  throw new Error(`${table}.${column} holds what is neither text nor a whole number, so that it cannot be moved`);
}
