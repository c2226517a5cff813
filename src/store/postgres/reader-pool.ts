import pg from 'pg';

import { FairTurns } from '../../lib/fair-turns.ts';
import { StoreUnavailableError } from '../database.ts';
import type { Queries, Row, Value } from '../database.ts';
import { guard, isOfStatement, toStoreFault } from './faults.ts';
import { closeInTime } from './primary.ts';
import type { Primary } from './primary.ts';
import { named, unnamed } from './statements.ts';

const poolSize = 8;
/**
 * Searches, whose work callers choose, that run at once, of all accounts and of one: the other connections are for short reads, on
 * which writes depend too.
 */
const searchLimits = { atOnce: poolSize / 2, ofOwner: poolSize / 2 - 1, waiting: Infinity };
/** Limit for a single read; a database that does not answer counts as gone. */
const queryTimeoutMs = 5_000;
/** The server gives up before this process gives up the connection, or its process there would go on for nobody. */
const serverLimitMs = 4_000;

/** Single statements outside any transaction, at the server that takes writes. */
export class ReaderPool implements Queries {
  readonly #primary: Primary;
  readonly #isPooled: boolean;
  #url = '';
  #pool: pg.Pool | undefined;
  #isClosed = false;
  readonly #searches = new FairTurns(searchLimits);

  /** `isPooled`: a pooler stands before the server, and gives each transaction any connection. */
  constructor(primary: Primary, isPooled: boolean) {
    this.#primary = primary;
    this.#isPooled = isPooled;
    primary.onMove(() => {
      this.renew();
    });
  }

  async all(sql: string, parameters: readonly Value[] = [], searcher?: string): Promise<readonly Row[]> {
    if (searcher === undefined) return this.#read(sql, parameters);
    return this.#searches.run(searcher, () => this.#read(sql, parameters, searcher));
  }

  #read(sql: string, parameters: readonly Value[], searcher?: string): Promise<readonly Row[]> {
    return this.#with((client) =>
      this.#isPooled
        ? readWhereWritten(client, unnamed(sql, parameters))
        : client.query<Value[]>(named(sql, parameters, searcher)),
    );
  }

  /** Reads with a limit of its own. */
  async readWithin(timeoutMs: number, sql: string): Promise<readonly Row[]> {
    return this.#with((client) => {
      // The driver takes it, and its types do not say so.
      const query = { ...(this.#isPooled ? unnamed : named)(sql, []), query_timeout: timeoutMs };
      return this.#isPooled ? readWhereWritten(client, query) : client.query<Value[]>(query);
    });
  }

  /** Ends all connections: the next read opens one, wherever writes are taken then. */
  renew(): void {
    const old = this.#pool;
    this.#pool = undefined;
    if (old !== undefined) void closeInTime(old);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const last = this.#pool;
    this.#pool = undefined;
    if (last !== undefined) await closeInTime(last);
  }

  async #with(ask: (client: pg.PoolClient) => Promise<pg.QueryArrayResult<Value[]>>): Promise<readonly Row[]> {
    const client = await this.#primary.reach((url) => guard(() => this.#poolOf(url).connect()));
    let isLost = false;
    try {
      return (await ask(client)).rows;
    } catch (error) {
      const fault = toStoreFault(error);
      isLost = fault instanceof StoreUnavailableError && !isOfStatement(error);
      throw fault;
    } finally {
      client.release(isLost);
      // The others are to the same server, and would each be found lost by somebody who waits for it.
      if (isLost) this.renew();
    }
  }

  #poolOf(url: string): pg.Pool {
    if (this.#isClosed) throw new StoreUnavailableError('the database is being closed');
    if (this.#pool !== undefined && this.#url === url) return this.#pool;
    this.renew();
    const pool = new pg.Pool({
      ...this.#primary.config(url),
      query_timeout: queryTimeoutMs,
      // A pooler refuses connections that bring settings.
      ...(this.#isPooled ? {} : { lock_timeout: serverLimitMs, statement_timeout: serverLimitMs }),
      pipeline: this.#isPooled,
      max: poolSize,
      verify: (client, done) => {
        this.#primary.admit(client, url).then(() => done(), done);
      },
    });
    // A connection that breaks is replaced by the pool at the next query, which reports what is wrong.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    this.#url = url;
    this.#pool = pool;
    return pool;
  }
}

/** Begins a read behind a pooler: whatever is set ends with it. */
const beginPooled = [
  'BEGIN READ WRITE',
  `SET LOCAL lock_timeout = ${serverLimitMs}`,
  `SET LOCAL statement_timeout = ${serverLimitMs}`,
].join('; ');

/** Behind a pooler a connection may lead to another server at any time. A standby refuses this transaction. */
async function readWhereWritten(
  client: pg.PoolClient,
  query: pg.QueryArrayConfig<Value[]>,
): Promise<pg.QueryArrayResult<Value[]>> {
  const [begun, read, ended] = await Promise.allSettled([
    client.query(beginPooled),
    client.query<Value[]>(query),
    client.query('COMMIT'),
  ]);
  if (begun.status === 'rejected') throw begun.reason;
  if (ended.status === 'rejected') throw ended.reason;
  if (read.status === 'rejected') throw read.reason;
  return read.value;
}
