import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe } from 'node:test';

import { createDatabase, startPostgres } from './postgres.ts';
import type { PostgresServer } from './postgres.ts';

/** URL of the server that `npm test` starts for all files; a file that runs alone starts its own. */
const sharedServer = process.env['TEST_POSTGRES_URL'];

/** Runs the suite once for each kind of database. `newDatabase` returns the URL of an empty one. */
export function onEachDatabase(name: string, suite: (newDatabase: () => Promise<string>) => void): void {
  describe(`${name} (SQLite)`, () => {
    const folders: string[] = [];
    after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));
    suite(async () => {
      const folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
      folders.push(folder);
      return `sqlite:${join(folder, 'gatehouse.db')}`;
    });
  });
  describe(`${name} (PostgreSQL)`, () => {
    let own: PostgresServer | undefined;
    before(async () => {
      if (sharedServer === undefined) own = await startPostgres();
    });
    after(() => own?.[Symbol.asyncDispose]());
    suite(() => createDatabase(sharedServer ?? own?.url ?? ''));
  });
}
