import { ready } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Database } from '../database.ts';
import type { Page, Stored, Table } from '../table.ts';

/** Pages whose ids are kept in memory. */
const cacheSize = 1_000;

/** Reads the ids of pages; those read before are kept for as long as nothing is committed, by whatever process. */
export class PageIds {
  readonly #database: Pick<Database, 'reader' | 'commitCounter'>;
  readonly #kept = new BoundedCache<string, readonly string[]>(cacheSize);
  /** Value of the counter when the kept ones were read. */
  #counter: number | undefined;

  constructor(database: Pick<Database, 'reader' | 'commitCounter'>) {
    this.#database = database;
  }

  read(table: Pick<Table<Stored>, 'kind' | 'pageIds'>, accountId: string, page: Page): Awaitable<readonly string[]> {
    const { reader, commitCounter } = this.#database;
    if (commitCounter === undefined) return table.pageIds(reader, accountId, page);
    const counter = commitCounter();
    if (counter !== this.#counter) {
      this.#kept.clear();
      this.#counter = counter;
    }
    const key = `${table.kind} ${accountId} ${page.limit} ${page.beforeId ?? ''}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return ready(kept);
    const ticket = this.#kept.ticket();
    return table.pageIds(reader, accountId, page).then((ids) => {
      this.#kept.fill(ticket, key, ids);
      return ids;
    });
  }
}
