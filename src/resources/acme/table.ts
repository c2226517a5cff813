import type { Job } from '../../acme/storage.ts';
import type { ChallengeEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Migration } from '../../store/migrate.ts';

/** Keys are sealed. The lease ends at milliseconds since 1970. The id of a job is made by `jobId`; its `sealed_key` belongs to the order that is under way. */
export const migrations: readonly Migration[] = [
  {
    name: 'acme 0001',
    sql: `
      CREATE TABLE acme_lease (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        holder TEXT NOT NULL,
        ends_at TEXT NOT NULL
      );
      CREATE TABLE acme_accounts (directory TEXT PRIMARY KEY, url TEXT, sealed_key TEXT NOT NULL);
      CREATE TABLE acme_jobs (
        id TEXT PRIMARY KEY,
        hostname TEXT NOT NULL,
        document TEXT NOT NULL,
        sealed_key TEXT
      );
      CREATE TABLE acme_challenges (id TEXT PRIMARY KEY, document TEXT NOT NULL);
      CREATE TABLE acme_orders (id TEXT PRIMARY KEY, started_at TEXT NOT NULL);
    `,
  },
  { name: 'acme 0002 replaced accounts', sql: 'ALTER TABLE acme_accounts ADD COLUMN replaced_at TEXT' },
  {
    name: 'acme 0003 orders of accounts',
    sql: `
      ALTER TABLE acme_orders ADD COLUMN account_id TEXT;
      ALTER TABLE acme_orders ADD COLUMN renewal INTEGER;
    `,
  },
];

export function jobId({ accountId, hostname }: Pick<Job, 'accountId' | 'hostname'>): string {
  return `${accountId} ${hostname}`;
}

export const challengeKind = 'acme_challenge';

export async function readJobs(queries: Queries): Promise<readonly Job[]> {
  const rows = await queries.all('SELECT document FROM acme_jobs ORDER BY id');
  // Only the storage writes the column.
  return rows.map(([document]) => JSON.parse(String(document)) as Job);
}

export async function readJob(queries: Queries, accountId: string, hostname: string): Promise<Job | undefined> {
  const [row] = await queries.all('SELECT document FROM acme_jobs WHERE id = $1', [jobId({ accountId, hostname })]);
  // Only the storage writes the column.
  return row && (JSON.parse(String(row[0])) as Job);
}

export async function readChallenges(queries: Queries): Promise<readonly ChallengeEntry[]> {
  const rows = await queries.all('SELECT document FROM acme_challenges ORDER BY id');
  // Only the storage writes the column.
  return rows.map(([document]) => JSON.parse(String(document)) as ChallengeEntry);
}
