import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { migrate } from '../store/migrate.ts';
import type { Migration } from '../store/migrate.ts';
import { openSqlite } from '../store/sqlite/sqlite.ts';

/**
 * Names triggers and views of a SQLite file that its migrations do not make: they would run with the writes of the service,
 * or stand in the place of its tables.
 */
export async function foreignPrograms(
  file: string,
  applied: ReadonlySet<string>,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-schema-'));
  try {
    const model = join(folder, 'model.db');
    const database = openSqlite(model);
    try {
      await migrate(
        database,
        migrations.filter(({ name }) => applied.has(name)),
      );
    } finally {
      await database.close();
    }
    const own = new Set(programsOf(model).map(({ text }) => text));
    return programsOf(file)
      .filter(({ text }) => !own.has(text))
      .map(({ label }) => label);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function programsOf(file: string): readonly { readonly label: string; readonly text: string }[] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const rows = database
      .prepare("SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view') ORDER BY name")
      .all();
    return rows.map(({ type, name, sql }) => ({
      label: `${String(type)} ${String(name)}`,
      // Quotes come and go as tables are renamed.
      text: `${String(type)} ${String(name)} ${String(sql).replaceAll(/[\s"]+/g, ' ')}`,
    }));
  } finally {
    database.close();
  }
}
