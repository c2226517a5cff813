import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { migrate } from '../store/migrate.ts';
import type { Migration } from '../store/migrate.ts';
import { openSqlite } from '../store/sqlite/sqlite.ts';

/** Triggers and views of a file, beside those that its migrations make. */
interface ComparedPrograms {
  /** Made by somebody else: they would run with the writes of the service, or stand in the place of its tables. */
  readonly foreign: readonly string[];
  /** Not there: what they keep, such as quotas, would hold no more. */
  readonly missing: readonly string[];
}

/** Compares triggers and views of a SQLite file with those that its migrations make. */
export async function comparePrograms(
  file: string,
  applied: ReadonlySet<string>,
  migrations: readonly Migration[],
): Promise<ComparedPrograms> {
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
    const [own, present] = [programsOf(model), programsOf(file)];
    return { foreign: labelsBeside(present, own), missing: labelsBeside(own, present) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface StoredProgram {
  readonly label: string;
  readonly text: string;
}

/** Names those that are not among the others. */
function labelsBeside(programs: readonly StoredProgram[], others: readonly StoredProgram[]): readonly string[] {
  const texts = new Set(others.map(({ text }) => text));
  return programs.filter(({ text }) => !texts.has(text)).map(({ label }) => label);
}

function programsOf(file: string): readonly StoredProgram[] {
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
