import { createMigratedDatabase } from './migrated-database.ts';
import { startPostgres } from './postgres.ts';

/**
 * Creates a database that has all tables, on the server that `npm test` starts for all files; a file that runs alone starts its
 * own. For tests that stop no server, and end no connections but those to their database.
 */
export async function usePostgres(owner: AsyncDisposableStack): Promise<string> {
  const shared = process.env['TEST_POSTGRES_URL'];
  return createMigratedDatabase(shared ?? owner.use(await startPostgres()).url);
}
