import { duplicateEntry } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Stored, Table } from '../store/table.ts';

/** A resource that others name by id, and that stays while they do. */
export interface Referable {
  /** The kind that modules and resources ask for; several resources may share one, with different prefixes. */
  readonly kind: string;
  readonly prefix: string;
  /** Path of the collection. */
  readonly path: string;
  exists(queries: Queries, accountId: string, id: string): Promise<boolean>;
  /** Makes `referrerId` name exactly these, in place of those it named before; `isNew`: it named none. */
  setReferences(transaction: Transaction, referrerId: string, ids: readonly string[], isNew: boolean): Promise<void>;
  referrersOf(queries: Queries, id: string): Promise<readonly string[]>;
  /** Ids that `referrerId` names. */
  namedBy(queries: Queries, referrerId: string): Promise<readonly string[]>;
}

/**
 * Statements for the table of references to a resource: `used_id` is referenced by `user_id`, the id of the referrer. The
 * database itself refuses to delete a referenced row.
 */
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

interface ReferableDefinition<Document extends Stored> {
  readonly kind: string;
  readonly path: string;
  /** The name of the table in SQL, as given to `referencesSql`. */
  readonly table: string;
  readonly documents: Table<Document>;
}

export function createReferable<Document extends Stored>(definition: ReferableDefinition<Document>): Referable {
  const { kind, path, table, documents } = definition;
  return {
    kind,
    prefix: documents.prefix,
    path,
    async exists(queries, accountId, id) {
      return (await documents.find(queries, accountId, id)) !== undefined;
    },
    async setReferences(transaction, referrerId, ids, isNew) {
      if (!isNew) await transaction.run(`DELETE FROM ${table}_uses WHERE user_id = $1`, [referrerId]);
      for (const id of ids) {
        await transaction.run(`INSERT INTO ${table}_uses (used_id, user_id) VALUES ($1, $2)`, [id, referrerId]);
      }
    },
    async referrersOf(queries, id) {
      const rows = await queries.all(`SELECT user_id FROM ${table}_uses WHERE used_id = $1 ORDER BY user_id`, [id]);
      return rows.map(([referrer]) => String(referrer));
    },
    async namedBy(queries, referrerId) {
      const rows = await queries.all(`SELECT used_id FROM ${table}_uses WHERE user_id = $1`, [referrerId]);
      return rows.map(([used]) => String(used));
    },
  };
}

/** Every resource that others name by id. */
export class Referables {
  readonly #byKind: ReadonlyMap<string, readonly Referable[]>;

  constructor(all: readonly Referable[]) {
    this.#byKind = Map.groupBy(all, ({ kind }) => kind);
  }

  ofKind(kind: string): readonly Referable[] {
    return this.#byKind.get(kind) ?? [];
  }

  /** The resource of this kind that the id is one of, whether or not it exists. */
  find(kind: string, id: string): Referable | undefined {
    return this.ofKind(kind).find(({ prefix }) => hasPrefix(id, prefix));
  }

  async exists(queries: Queries, kind: string, accountId: string, id: string): Promise<boolean> {
    return (await this.find(kind, id)?.exists(queries, accountId, id)) === true;
  }

  /** Makes `referrerId` name exactly these of the kind. One that has named none of them yet is new. */
  async set(
    transaction: Transaction,
    kind: string,
    referrerId: string,
    ids: readonly string[],
    { isNew = false } = {},
  ): Promise<void> {
    for (const referable of this.ofKind(kind)) {
      const own = ids.filter((id) => hasPrefix(id, referable.prefix));
      await referable.setReferences(transaction, referrerId, own, isNew);
    }
  }

  /** All of the kind that `referrerId` names. */
  async namedBy(queries: Queries, kind: string, referrerId: string): Promise<readonly string[]> {
    const named: string[] = [];
    for (const referable of this.ofKind(kind)) named.push(...(await referable.namedBy(queries, referrerId)));
    return named;
  }

  /** The path of a resource that is named somewhere, and so exists. */
  pathOf(kind: string, id: string): string {
    return `${this.find(kind, id)?.path ?? ''}/${id}`;
  }

  /** Checks ids as a request names them in one field: each of the right kind, none twice. */
  check(kind: string, field: string, ids: readonly string[], wrongKind: (id: string) => UserError): void {
    const seen = new Set<string>();
    for (const id of ids) {
      if (this.find(kind, id) === undefined) throw wrongKind(id);
      if (seen.has(id)) throw new UserError(duplicateEntry, { field, id });
      seen.add(id);
    }
  }
}

/** Words of a list that a message has. */
export const shownCount = 10;

/** A list of ids or names for a message; a long one is cut. */
export function listShort(words: readonly string[]): string {
  const shown = words.slice(0, shownCount).join(', ');
  return words.length > shownCount ? `${shown} and ${words.length - shownCount} more` : shown;
}
