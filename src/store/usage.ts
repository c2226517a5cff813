import type { Queries } from './database.ts';
import type { Transaction } from './write/transaction.ts';

/**
 * How many rows each account has, kept by the database itself: triggers count every row that is added or removed, in the
 * transaction that does it, and refuse one beyond the quota. So the count costs the same however many rows there are,
 * and holds for all processes. A table that gets thousands of rows at once is counted by `countRows`, since a trigger for
 * each row costs a fifth of that. A migration that makes a counted table anew has to give it its triggers again.
 */
export interface CountedTable {
  /** A table with a column `account_id`. */
  readonly table: string;
  /** The quota under which its rows count. */
  readonly quota: string;
  /** Rows without a value in this column do not count. */
  readonly column?: string;
  /** A column with a number, which counts in place of each row. */
  readonly sum?: string;
}

/** Tables of the counts. Triggers fill them while others are filled, so that a copy of a database copies them last. */
export const usageTables: readonly string[] = ['default_quotas', 'account_usage'];

/** `used` may be more than `most` where the operator has lowered it. `is_own`: not the default. */
export const usageSql = `
  CREATE TABLE default_quotas (quota TEXT PRIMARY KEY, most INTEGER NOT NULL);
  CREATE TABLE account_usage (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    quota TEXT NOT NULL,
    used INTEGER NOT NULL,
    most INTEGER NOT NULL,
    is_own INTEGER NOT NULL,
    PRIMARY KEY (account_id, quota)
  );
`;

/** Begins the message of the triggers, which a space and the id of the account, one and the name of the quota follow. */
export const overQuotaMessage = 'over quota';

/** A row was refused because its account has as many as its quota allows. */
export class OverQuota extends Error {
  override readonly name = 'OverQuota';
  readonly accountId: string;
  readonly quota: string;

  constructor(message: string, options: ErrorOptions) {
    super(message, options);
    const [accountId = '', quota = ''] = message.slice(overQuotaMessage.length + 1).split(' ');
    this.accountId = accountId;
    this.quota = quota;
  }
}

/** Counts rows of a table without triggers, after the statement that has added them or, with a negative `change`, removed them. */
export async function countRows(
  writer: Pick<Transaction, 'run'>,
  accountId: string,
  quota: string,
  change: number,
): Promise<void> {
  const sql = 'UPDATE account_usage SET used = used + $3 WHERE account_id = $1 AND quota = $2';
  if (change !== 0) await writer.run(sql, [accountId, quota, change]);
}

export interface Usage {
  readonly quota: string;
  readonly used: number;
  readonly most: number;
}

export async function readUsage(queries: Queries, accountId: string): Promise<readonly Usage[]> {
  const rows = await queries.all('SELECT quota, used, most FROM account_usage WHERE account_id = $1', [accountId]);
  return rows.map(([quota, used, most]) => ({ quota: String(quota), used: Number(used), most: Number(most) }));
}
