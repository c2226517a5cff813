import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import type { PostgresServers } from '../../lib/database-url.ts';
import { StoreUnavailableError } from '../database.ts';
import { guard } from './faults.ts';

const connectTimeoutMs = 5_000;
/** The same where another host may answer: a server that is frozen takes connections and says nothing. */
const connectTimeoutOfSeveralMs = 2_000;
/** Limit for closing; a connection that is silent does not confirm its end either. */
const closeTimeoutMs = 2_000;

/** Reads 64-bit integers (versions, counts) as numbers: they stay far below 2⁵³ here. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

/**
 * The server that takes writes, among those that the URL names. Nothing is read anywhere else: a standby may be behind,
 * and would honour a key that was deleted. A server that becomes a standby ends all its connections, so that each is
 * checked when it is new.
 */
export class Primary {
  readonly #urls: readonly string[];
  readonly #checkSql: string;
  #current: string;
  #locating: Promise<string> | undefined;

  constructor({ urls, target }: PostgresServers) {
    this.#urls = urls;
    this.#current = urls[0] ?? '';
    const isReadOnly = target === 'read-write' ? " OR current_setting('transaction_read_only') = 'on'" : '';
    this.#checkSql = `SELECT pg_is_in_recovery()${isReadOnly}`;
  }

  /** Options of a connection to the server at the URL. */
  config(connectionString: string): pg.ClientConfig {
    const connectionTimeoutMillis = this.#urls.length === 1 ? connectTimeoutMs : connectTimeoutOfSeveralMs;
    return { connectionString, connectionTimeoutMillis, keepAlive: true, types };
  }

  /** Calls `connect` with the server that was right the last time and, if that fails, with the one that is right now. */
  async reach<T>(connect: (url: string) => Promise<T>): Promise<T> {
    const tried = this.#current;
    try {
      return await connect(tried);
    } catch (error) {
      if (this.#urls.length === 1 || !(error instanceof StoreUnavailableError)) throw error;
    }
    // Another caller may have found it meanwhile.
    if (tried === this.#current) {
      this.#current = await (this.#locating ??= this.#locate().finally(() => (this.#locating = undefined)));
    }
    return connect(this.#current);
  }

  /** Opens a connection that no pool manages. `prepare` is called before the connection is, and may watch it. */
  open(options: pg.ClientConfig, prepare: (client: pg.Client) => void): Promise<pg.Client> {
    return this.reach(async (url) => {
      const client = new pg.Client({ ...this.config(url), ...options });
      // Without a listener a lost connection would end the process.
      client.on('error', () => {});
      prepare(client);
      try {
        await guard(() => client.connect());
        await this.check(client);
      } catch (error) {
        // A server that waits for the rest of a sign-in would hold the process.
        await closeInTime(client);
        throw error;
      }
      return client;
    });
  }

  /** Throws unless the server takes writes. */
  async check(client: pg.ClientBase): Promise<void> {
    const { rows } = await guard(() => client.query({ text: this.#checkSql, rowMode: 'array' }));
    if (rows[0]?.[0] !== false) throw new StoreUnavailableError('the database is a standby, or read-only');
  }

  /** Asks all at once, because one that is frozen would hold up the others. */
  async #locate(): Promise<string> {
    try {
      return await Promise.any(this.#urls.map((url) => this.#probe(url)));
    } catch (error) {
      throw new StoreUnavailableError('no server of the database takes writes', { cause: error });
    }
  }

  async #probe(url: string): Promise<string> {
    const client = new pg.Client({ ...this.config(url), query_timeout: connectTimeoutOfSeveralMs });
    client.on('error', () => {});
    try {
      await guard(() => client.connect());
      await this.check(client);
      return url;
    } finally {
      void closeInTime(client);
    }
  }
}

export async function closeInTime(client: { end(): Promise<void> }): Promise<void> {
  await Promise.race([client.end(), sleep(closeTimeoutMs, undefined, { ref: false })]).catch(() => {});
}
