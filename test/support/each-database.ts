import { after, before, describe } from 'node:test';

import { isLong, turn } from './long-form.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { createDatabase, startPostgres } from './postgres.ts';
import type { PostgresServer } from './postgres.ts';
import { newSqlite } from './scratch.ts';

/** URL of the server that `npm test` starts for all files; a file that runs alone starts its own. */
const sharedServer = process.env['TEST_POSTGRES_URL'];

type Suite = (newDatabase: () => Promise<string>, newEmpty: () => Promise<string>) => void;

/** Runs the suite once for each kind of database. `newDatabase` returns the URL of one that may have its tables already, which saves half of a start; `newEmpty` that of an empty one. */
export function onEachDatabase(name: string, suite: Suite): void {
  onSqlite(`${name} (SQLite)`, suite);
  onPostgres(`${name} (PostgreSQL)`, suite);
}

/**
 * Runs a suite over SQL that other suites meet on each database too: in a whole run on one of them, on the other in that of
 * another commit; on each in its long form, and where its file is named.
 */
export function onDatabasesInTurn(name: string, suite: Suite): void {
  if (isLong || turn === undefined) onEachDatabase(name, suite);
  else if ((turn + sumOf(name)) % 2 === 0) onSqlite(`${name} (SQLite)`, suite);
  else onPostgres(`${name} (PostgreSQL)`, suite);
}

/** Runs a suite that does not depend on the kind of database: on SQLite, and in its long form on each. */
export function onAnyDatabase(name: string, suite: Suite): void {
  if (isLong) onEachDatabase(name, suite);
  else onSqlite(name, suite);
}

function sumOf(text: string): number {
  return Buffer.from(text).reduce((sum, byte) => sum + byte, 0);
}

function onSqlite(name: string, suite: Suite): void {
  describe(name, () => {
    const newFile = async () => newSqlite();
    suite(newFile, newFile);
  });
}

function onPostgres(name: string, suite: Suite): void {
  describe(name, () => {
    let own: PostgresServer | undefined;
    before(async () => {
      if (sharedServer === undefined) own = await startPostgres();
    });
    after(() => own?.[Symbol.asyncDispose]());
    const server = () => sharedServer ?? own?.url ?? '';
    suite(
      () => createMigratedDatabase(server()),
      () => createDatabase(server()),
    );
  });
}
