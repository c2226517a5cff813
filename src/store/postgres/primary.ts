import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import type { PostgresServers } from '../../lib/database-url.ts';
import { StoreUnavailableError } from '../database.ts';
import { guard } from './faults.ts';
import { destroy } from './server-report.ts';
import type { ServerReport } from './server-report.ts';
import { ServerWatch } from './server-watch.ts';

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
 * The server that is the database, among those to which the URL leads, and all connections to it. Nothing is read anywhere
 * else: a standby or an old primary may be behind, and would honour a key that was deleted. When the database moves, all
 * connections that are open end.
 */
export class Primary {
  readonly #watch: ServerWatch;
  readonly #connectTimeoutMs: number;
  readonly #isAlone: boolean;
  readonly #open = new Set<pg.ClientBase>();
  readonly #moveListeners: (() => void)[] = [];

  constructor(servers: PostgresServers) {
    this.#isAlone = servers.urls.length === 1;
    this.#connectTimeoutMs = this.#isAlone ? connectTimeoutMs : connectTimeoutOfSeveralMs;
    this.#watch = new ServerWatch(
      servers,
      (url) => this.config(url),
      () => {
        this.#endAll();
      },
    );
  }

  /** Tells why no server is the database; undefined while one is. */
  get fault(): string | undefined {
    return this.#watch.fault;
  }

  /** The listener is called when the database has moved: all that is known of it is in doubt. */
  onMove(listener: () => void): void {
    this.#moveListeners.push(listener);
  }

  /** Options of a connection to the server at the URL. */
  config(connectionString: string): pg.ClientConfig {
    return { connectionString, connectionTimeoutMillis: this.#connectTimeoutMs, keepAlive: true, types };
  }

  /** Calls `connect` with the server that is the database and, if that cannot be reached, with the one that is then. */
  async reach<T>(connect: (url: string) => Promise<T>): Promise<T> {
    const { url } = await this.#watch.find();
    try {
      return await connect(url);
    } catch (error) {
      if (this.#isAlone || !(error instanceof StoreUnavailableError)) throw error;
    }
    return connect((await this.#watch.findAgain()).url);
  }

  /** Opens a connection that no pool manages. `prepare` is called before the connection is, and may watch it. */
  open(
    options: pg.ClientConfig,
    prepare: (client: pg.Client) => void,
  ): Promise<{ readonly client: pg.Client; readonly server: ServerReport }> {
    return this.reach(async (url) => {
      const client = new pg.Client({ ...this.config(url), ...options });
      // Without a listener a lost connection would end the process.
      client.on('error', () => {});
      prepare(client);
      try {
        await guard(() => client.connect());
        return { client, server: await this.admit(client, url) };
      } catch (error) {
        // A server that waits for the rest of a sign-in would hold the process.
        await closeInTime(client);
        throw error;
      }
    });
  }

  /** Throws unless the server at the other end of the connection is the database. */
  async admit(client: pg.ClientBase, url: string): Promise<ServerReport> {
    const server = await this.#watch.admit(client, url);
    this.#open.add(client);
    client.once('end', () => this.#open.delete(client));
    return server;
  }

  /** Throws unless the server is still the database, as far as was known lately. */
  confirm(server: ServerReport): Promise<void> {
    return this.#watch.confirm(server);
  }

  close(): void {
    this.#watch.close();
  }

  #endAll(): void {
    for (const listener of this.#moveListeners) listener();
    for (const client of this.#open) destroy(client);
    this.#open.clear();
  }
}

export async function closeInTime(client: { end(): Promise<void> }): Promise<void> {
  await Promise.race([client.end(), sleep(closeTimeoutMs, undefined, { ref: false })]).catch(() => {});
}
