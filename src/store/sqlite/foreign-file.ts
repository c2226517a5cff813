import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

import { ledger } from '../migrate.ts';
import { guard } from './sqlite.ts';

const busyTimeoutMs = 10_000;

/** Throws for a file that another program keeps its data in, before anything in it is changed. */
export function refuseForeignFile(path: string): void {
  if (!existsSync(path)) return;
  const tables = readTables(path);
  // A database that another process is creating has no tables yet, or all of them.
  if (tables.length === 0 || tables.includes(ledger)) return;
  throw new Error(
    `the database ${path} belongs to another program: it has the table ${JSON.stringify(tables[0])}, and none of ` +
      "Gatehouse's. Name a file of its own with --database-url; nothing in this one was changed.",
  );
}

function readTables(path: string): readonly string[] {
  using database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  const statement = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  return guard(() => statement.all()).map(({ name }) => String(name));
}
