import { duplicateEntry } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/group-commit.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Referable } from './resource.ts';

/** Statements for the table that says who names a resource. The database itself refuses to delete what is named. */
export function referencesSql(table: string): string {
  return `
    CREATE TABLE ${table}_uses (
      used_id TEXT NOT NULL REFERENCES ${table} (id),
      user_id TEXT NOT NULL,
      PRIMARY KEY (user_id, used_id)
    );
    CREATE INDEX ${table}_uses_by_used ON ${table}_uses (used_id);
  `;
}

interface ReferencedResource extends Referable {
  referrersOf(queries: Queries, id: string): Promise<readonly string[]>;
}

export function createReferences<Document extends Stored>(
  table: string,
  path: string,
  documents: Table<Document>,
): ReferencedResource {
  return {
    path,
    async exists(queries, accountId, id) {
      return (await documents.find(queries, accountId, id)) !== undefined;
    },
    async setReferences(transaction: Transaction, userId, ids) {
      await transaction.run(`DELETE FROM ${table}_uses WHERE user_id = $1`, [userId]);
      for (const id of ids) {
        await transaction.run(`INSERT INTO ${table}_uses (used_id, user_id) VALUES ($1, $2)`, [id, userId]);
      }
    },
    async referrersOf(queries, id) {
      const rows = await queries.all(`SELECT user_id FROM ${table}_uses WHERE used_id = $1 ORDER BY user_id`, [id]);
      return rows.map(([user]) => String(user));
    },
  };
}

const shownUsers = 10;

/** The ids in a message; a long list is cut. */
export function listReferrers(users: readonly string[]): string {
  const shown = users.slice(0, shownUsers).join(', ');
  return users.length > shownUsers ? `${shown} and ${users.length - shownUsers} more` : shown;
}

/** Ids as a request names them in one field: each of the right kind, none twice. */
export function checkIds(
  ids: readonly string[],
  prefix: string,
  field: string,
  wrongKind: (id: string) => UserError,
): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (!hasPrefix(id, prefix)) throw wrongKind(id);
    if (seen.has(id)) throw new UserError(duplicateEntry, { field, id });
    seen.add(id);
  }
}
