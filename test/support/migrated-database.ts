import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { connectPostgres } from './postgres-client.ts';
import { createDatabase } from './postgres.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Files that make the tables; to load them for their migrations would take most processes far longer. */
const sources = 'src/{api/idempotency,resources/**/*,store/**/*}.ts';
let modelName: string | undefined;

/** Name of the model, by what makes its tables: one on a server that outlives a change of them is not used again. */
export function nameModel(files: ReadonlyMap<string, string> = readSources()): string {
  const text = JSON.stringify([...files].map((file) => JSON.stringify(file)).toSorted());
  return `gatehouse_migrated_${createHash('sha256').update(text).digest('hex').slice(0, 20)}`;
}

function readSources(): ReadonlyMap<string, string> {
  const files = globSync(sources, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  return new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
}

/** Creates a database that has all tables and no rows, as a copy of one that the first call on a server makes. */
export async function createMigratedDatabase(serverUrl: string): Promise<string> {
  modelName ??= nameModel();
  const model = modelName;
  await using client = await connectPostgres(serverUrl);
  // The lock, for which files that run side by side wait, ends with the connection.
  await client.query('SELECT pg_advisory_lock(1)');
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [model]);
  if (rowCount === 0) {
    const url = await createDatabase(serverUrl);
    await makeTables(url);
    await client.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} RENAME TO ${model}`);
  }
  return createDatabase(serverUrl, model);
}

/** Makes all tables in an empty database. Loads what it needs when it is called: most processes find the tables there, and have no other use for all resources. */
export async function makeTables(url: string): Promise<void> {
  const [{ migrations }, { migrate }, { openDatabase }, { storeMigrations }] = await Promise.all([
    import('../../src/start/open-context.ts'),
    import('../../src/store/migrate.ts'),
    import('../../src/store/open-database.ts'),
    import('../../src/store/store-migrations.ts'),
  ]);
  const database = await openDatabase(url);
  await migrate(database, [...storeMigrations, ...migrations]);
  await database.close();
}
