import { after, before, describe } from 'node:test';

import { isLong } from './long-form.ts';
import { createMigratedDatabase } from './migrated-database.ts';
import { createDatabase, startPostgres } from './postgres.ts';
import type { PostgresServer } from './postgres.ts';
import { someOf } from './sample.ts';
import { newSqlite } from './scratch.ts';

/** URL of the server that `npm test` starts for all files; a file that runs alone starts its own. */
const sharedServer = process.env['TEST_POSTGRES_URL'];

type Suite = (newDatabase: () => Promise<string>, newEmpty: () => Promise<string>) => void;

/** Runs the suite on each kind of database: whatever guards access, money or data. `newDatabase` returns the URL of one that may have its tables already, which saves half of a start; `newEmpty` that of an empty one. */
export function onEachDatabase(name: string, suite: Suite): void {
  onSqlite(name, suite);
  onPostgres(name, suite);
}

/**
 * Runs a suite over SQL that other suites meet on each database too: in a whole run on one of them, which its name decides;
 * on each in its long form, and where its file is named.
 */
export function onDatabasesInTurn(name: string, suite: Suite): void {
  for (const run of someOf([onSqlite, onPostgres], 1, 'database', name)) run(name, suite);
}

/** Runs a suite that does not depend on the kind of database: on SQLite, and in its long form on each. */
export function onAnyDatabase(name: string, suite: Suite): void {
  if (isLong) onEachDatabase(name, suite);
  else onSqlite(name, suite);
}

function onSqlite(name: string, suite: Suite): void {
  describe(`${name} (SQLite)`, () => {
    const newFile = async () => newSqlite();
    suite(newFile, newFile);
  });
}

function onPostgres(name: string, suite: Suite): void {
  describe(`${name} (PostgreSQL)`, () => {
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
