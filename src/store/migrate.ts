import { toTimestamp } from '../lib/ids.ts';
import type { Connection, Database, Queries } from './database.ts';

/**
 * One step of the schema. Steps are taken in the order of the list they are in; the name, which starts with that of the
 * folder (`reserved-domains 0001 …`), is unique and never changes once released: databases remember it.
 */
export interface Migration {
  readonly name: string;
  /** Statements in the portable subset; types are TEXT and INTEGER. A function for those that each database has its own of. */
  readonly sql: string | ((database: Pick<Database, 'counting'>) => string);
}

/** The table in which a database remembers its steps; every database of this program has it. */
export const ledger = 'applied_migrations';

/** Brings the schema up to date, in one transaction. Refuses a database that a newer program has written. */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<void> {
  const connection = await database.connect();
  try {
    await database.beginMigration(connection);
    await migrateWithin(database, connection, migrations);
    await connection.script('COMMIT');
  } finally {
    await connection.close();
  }
}

/** Does the same inside a transaction that has begun with `beginMigration`. */
export async function migrateWithin(
  database: Database,
  connection: Connection,
  migrations: readonly Migration[],
): Promise<void> {
  await connection.script(
    database.translateSchema(`CREATE TABLE IF NOT EXISTS ${ledger} (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)`),
  );
  for (const { name, sql } of findMissing(await readApplied(connection), migrations)) {
    await connection.script(database.translateSchema(typeof sql === 'string' ? sql : sql(database)));
    await connection.run(`INSERT INTO ${ledger} (name, applied_at) VALUES ($1, $2)`, [name, toTimestamp(Date.now())]);
  }
}

/** The names of the steps that a database has taken. */
export async function readApplied(queries: Queries): Promise<ReadonlySet<string>> {
  return new Set((await queries.all(`SELECT name FROM ${ledger}`)).map(([name]) => String(name)));
}

/** When a database has taken the step, RFC 3339; undefined if it has not. */
export async function readAppliedAt(queries: Queries, name: string): Promise<string | undefined> {
  const [row] = await queries.all(`SELECT applied_at FROM ${ledger} WHERE name = $1`, [name]);
  return row && String(row[0]);
}

/** The steps that the database still lacks, in their order. Refuses a database that a newer program has written. */
export function findMissing(applied: ReadonlySet<string>, migrations: readonly Migration[]): readonly Migration[] {
  const known = new Set<string>();
  for (const { name } of migrations) {
    if (known.has(name)) throw new Error(`two migrations have the name ${JSON.stringify(name)}`);
    known.add(name);
  }
  const foreign = [...applied].filter((name) => !known.has(name));
  if (foreign.length > 0) {
    throw new Error(
      `the database was written by a newer Gatehouse (it has the migration ${foreign.join(', ')}). ` +
        'Start that version or a later one, or restore a backup made before the upgrade.',
    );
  }
  return migrations.filter(({ name }) => !applied.has(name));
}
