import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectPostgres } from './postgres-client.ts';

/** Whether somebody holds the right to write just now. Looks without waiting for it, and rests a little. */
export async function isBeingWritten(databaseUrl: string): Promise<boolean> {
  await sleep(1);
  return databaseUrl.startsWith('sqlite:')
    ? isSqliteBusy(databaseUrl.slice('sqlite:'.length))
    : isPostgresBusy(databaseUrl);
}

function isSqliteBusy(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}

async function isPostgresBusy(connectionString: string): Promise<boolean> {
  await using client = await connectPostgres(connectionString);
  try {
    await client.query('BEGIN; SELECT version FROM store_version FOR UPDATE NOWAIT; ROLLBACK');
    return false;
  } catch {
    return true;
  }
}
