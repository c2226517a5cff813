import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { DuckDBInstance } from '@duckdb/node-api';

import type { StoreOptions } from './messages.ts';

/** How long a start waits for a lock that another process has. */
const lockMs = 4_000;

/** DuckDB in one thread with bounded memory, which reads and writes this folder only. Its file is the lock of the folder. */
export async function openEngine({ folder, archive }: StoreOptions): Promise<DuckDBInstance> {
  const { DuckDBInstance: Instance } = await import('@duckdb/node-api').catch((cause: unknown) => {
    throw new Error(
      'GATEHOUSE_DECISIONS is set, but the package that keeps decisions is not installed: run "npm install --no-save @duckdb/node-api@1.5.5-r.5" in the folder of Gatehouse, or unset GATEHOUSE_DECISIONS',
      { cause },
    );
  });
  const create = () =>
    Instance.create(join(folder, 'lock'), {
      threads: '1',
      memory_limit: '128MB',
      temp_directory: join(folder, 'temporary'),
      max_temp_directory_size: '256MB',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
  const instance = await whenFree(create).catch((cause: unknown) => {
    if (!isLocked(cause)) throw cannotUse(folder, cause);
    const setting = `GATEHOUSE_DECISIONS ${JSON.stringify(folder)}`;
    throw new Error(`${setting} is in use by another process: give each gateway a folder of its own`, { cause });
  });
  const connection = await instance.connect();
  const allowed = [folder, ...(archive === undefined ? [] : [archive])].map((each) => quoted(`${each}/`)).join(', ');
  await connection.run(`SET allowed_directories = [${allowed}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}

export function cannotUse(folder: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`GATEHOUSE_DECISIONS ${JSON.stringify(folder)} cannot be used: ${why}`, { cause });
}

/** Waits a little for a lock: the keeper of a gateway that was killed ends when it notices. */
async function whenFree<Result>(open: () => Promise<Result>): Promise<Result> {
  const untilMs = performance.now() + lockMs;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!isLocked(error) || performance.now() > untilMs) throw error;
    }
    await sleep(lockMs / 20);
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Could not set lock');
}

/** A text as SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
