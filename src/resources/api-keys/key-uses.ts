import { ready } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Queries } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';
import type { ApiKey } from './table.ts';

/** Shortest interval between two writes for one key, over all processes. */
const writeEveryMs = 60_000;
const flushEveryMs = 1_000;
/** How long a time that was read is shown without reading it again. */
const shownForMs = 1_000;
const rememberedKeys = 20_000;
/** Keys that wait to be written; more are dropped, and come again with their next use. */
const pendingLimit = 10_000;
const keysInStatement = 100;
/** Statements in one flush, so that configuration writes never wait long for it. */
const statementsAtOnce = 5;

interface Shown {
  readonly lastUsedAt: string | undefined;
  readonly readAtMs: number;
}

/** When keys were last used: noted in memory, written in batches, as an observation. A call never waits for it. */
export class KeyUses {
  readonly #store: Store;
  readonly #notedAtMs = new BoundedCache<string, number>(rememberedKeys);
  readonly #shown = new BoundedCache<string, Shown>(rememberedKeys);
  readonly #pending = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Cheap: called for every call. */
  note(keyId: string): void {
    const nowMs = performance.now();
    const notedAtMs = this.#notedAtMs.get(keyId);
    if (notedAtMs !== undefined && nowMs - notedAtMs < writeEveryMs) return;
    if (this.#pending.size >= pendingLimit) return;
    this.#notedAtMs.set(keyId, nowMs);
    this.#pending.add(keyId);
    this.#schedule();
  }

  /** Names a key that is just being created, so that showing it takes no query. */
  created(keyId: string): void {
    this.#shown.set(keyId, { lastUsedAt: undefined, readAtMs: performance.now() });
  }

  /** Writes what is only in memory so far. */
  async flush(): Promise<void> {
    // A timer that fires after the store is closed would open it again.
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#flushing;
    while (this.#pending.size > 0) await this.#flushSome();
  }

  /** The last use of each of these keys, in their order, which follow each other in the account by id. */
  read(queries: Queries, keys: readonly ApiKey[]): Awaitable<readonly (string | undefined)[]> {
    const nowMs = performance.now();
    const lastUses: (string | undefined)[] = [];
    for (const { id } of keys) {
      const shown = this.#shown.get(id);
      if (shown === undefined || nowMs - shown.readAtMs >= shownForMs) return this.#load(queries, keys, nowMs);
      lastUses.push(shown.lastUsedAt);
    }
    return ready(lastUses);
  }

  #load(queries: Queries, keys: readonly ApiKey[], readAtMs: number): Awaitable<readonly (string | undefined)[]> {
    const [first, last] = [keys[0], keys.at(-1)];
    if (first === undefined || last === undefined) return ready([]);
    const sql = 'SELECT key_id, last_used_at FROM api_key_uses WHERE account_id = $1 AND key_id >= $2 AND key_id <= $3';
    // Lists are newest first.
    const rows = queries.all(sql, [first.account_id, last.id, first.id]);
    return rows.then((found) => {
      const known = new Map(found.map(([id, at]) => [String(id), String(at)] as const));
      return keys.map(({ id }) => {
        const lastUsedAt = known.get(id);
        this.#shown.set(id, { lastUsedAt, readAtMs });
        return lastUsedAt;
      });
    });
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flushing = this.#flushSome()
        // Uses that were not written are pending again.
        .catch(() => {})
        .finally(() => {
          if (this.#pending.size > 0) this.#schedule();
        });
    }, flushEveryMs).unref();
  }

  async #flushSome(): Promise<void> {
    const keyIds = [...this.#pending].slice(0, keysInStatement * statementsAtOnce);
    if (keyIds.length === 0) return;
    for (const id of keyIds) this.#pending.delete(id);
    try {
      await this.#store.writeUnlogged(async (notes) => {
        for (let at = 0; at < keyIds.length; at += keysInStatement) {
          await writeUses(notes, keyIds.slice(at, at + keysInStatement));
        }
      });
    } catch (error) {
      for (const id of keyIds) this.#pending.add(id);
      throw error;
    }
  }
}

const places = Array.from({ length: keysInStatement }, (_, at) => `$${at + 3}`).join(', ');
/** Keys that are gone meanwhile are left out, and so are those that another process has written within the interval. */
const writeSql = `
  INSERT INTO api_key_uses (account_id, key_id, last_used_at)
  SELECT account_id, id, $1 FROM api_keys WHERE id IN (${places})
  ON CONFLICT (account_id, key_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE api_key_uses.last_used_at <= $2`;

async function writeUses(notes: ObservationWriter, keyIds: readonly string[]): Promise<void> {
  const nowMs = Date.now();
  // The statement has one length, so that it is prepared once; repeated ids change nothing.
  const ids = Array.from({ length: keysInStatement }, (_, at) => keyIds[at] ?? keyIds[0] ?? '');
  await notes.run(writeSql, [toTimestamp(nowMs), toTimestamp(nowMs - writeEveryMs), ...ids]);
}
