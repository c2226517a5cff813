import { databaseUrlFault, isSqlite, sqlitePath } from '../lib/database-url.ts';
import { readVersion } from '../store/write/change-log.ts';
import { storeMigrations } from '../store/store-migrations.ts';
import type { Connection, Database, Queries } from '../store/database.ts';
import { findMissing, migrateWithin, readApplied } from '../store/migrate.ts';
import type { Migration } from '../store/migrate.ts';
import { openDatabase, requireDatabaseFile } from '../store/open-database.ts';
import { readTables } from './catalog.ts';
import type { TableShape } from './catalog.ts';
import { copyTables } from './copy-tables.ts';
import type { TableContent } from './copy-tables.ts';
import { usageTables } from '../store/usage.ts';
import type { DatabaseCommand } from './database-command.ts';
import { formatTable } from '../lib/text-table.ts';

export const moveCommand: DatabaseCommand = {
  name: 'move',
  summary: 'copy everything into an empty database of the other kind, and compare',
  options: [{ flag: '--to <url>', description: 'postgres://user@host/database or sqlite:PATH', required: true }],
  async run({ url, migrations }, { to = '' }) {
    const fault = databaseUrlFault(to);
    if (fault !== undefined) throw new Error(`--to: ${fault}`);
    const { version, sourceVersion, tables } = await moveDatabase({ from: url, to, migrations });
    return [
      formatTable(
        ['table', 'rows', 'SHA-256, the same in both'],
        tables.map(({ name, rows, checksum }) => [name, rows, checksum]),
      ),
      '',
      `Moved at version ${version}. The source is as it was.`,
      ...(sourceVersion === version
        ? ['Set GATEHOUSE_DATABASE_URL to the new database, with the same GATEHOUSE_SECRET_KEY, and start.']
        : [
            `It was written to meanwhile, and is at version ${sourceVersion}: what came after ${version} is not in the target.`,
            'Stop the API processes, and move into an empty database again.',
          ]),
    ].join('\n');
  },
};

interface MoveOptions {
  readonly from: string;
  readonly to: string;
  /** All migrations of this version, except the store's own. */
  readonly migrations: readonly Migration[];
}

interface Moved {
  /** The version of the content that was moved. */
  readonly version: number;
  /** The version of the source when the move was over: higher if somebody went on writing. */
  readonly sourceVersion: number;
  readonly tables: readonly TableContent[];
}

/**
 * Copies everything into an empty database: from one state of the source, in one transaction of the target, which
 * commits only if every table reads there as it does here.
 */
export async function moveDatabase({ from, to, migrations: given }: MoveOptions): Promise<Moved> {
  const migrations = [...storeMigrations, ...given];
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
  const moved = await copyTables(source, target, tables);
  const version = await readVersion(source);
  await target.script('COMMIT');
  return {
    version,
    sourceVersion: await readVersion(sourceDatabase.reader),
    tables: moved.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function dialectOf(url: string): 'sqlite' | 'postgres' {
  return isSqlite(url) ? 'sqlite' : 'postgres';
}

async function readSourceTables(
  source: Queries,
  dialect: 'sqlite' | 'postgres',
  migrations: readonly Migration[],
): Promise<readonly TableShape[]> {
  const all = await readTables(source, dialect);
  const isUsage = ({ name }: TableShape) => usageTables.includes(name);
  const tables = [...all.filter((table) => !isUsage(table)), ...all.filter(isUsage)];
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

/** The target's tables come from the migrations; other columns of the source would be left behind. */
function compareShapes(source: readonly TableShape[], target: readonly TableShape[]): void {
  const different = columnsOf(source).symmetricDifference(columnsOf(target));
  if (different.size === 0) return;
  throw new Error(
    `the source has other columns than this version of Gatehouse makes: ${[...different].join(', ')}. ` +
      'Remove first what was added by hand. Nothing was changed.',
  );
}

function columnsOf(tables: readonly TableShape[]): ReadonlySet<string> {
  return new Set(tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column}`)));
}
