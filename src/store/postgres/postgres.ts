import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { ConstraintError, StoreFullError, StoreUnavailableError } from '../database.ts';
import type { Connection, Database, Queries, Row, Value } from '../database.ts';
import { NotificationWatch, notifySql } from './notifications.ts';
import { postgresJson } from './postgres-json.ts';

const readPoolSize = 8;
const connectTimeoutMs = 5_000;
/** Limit for a single read; a database that does not answer counts as gone. */
const queryTimeoutMs = 5_000;
/** Limit for closing; a connection that is silent does not confirm its end either. */
const closeTimeoutMs = 2_000;
/** SQLSTATE of a full disk. */
const fullCode = '53100';
/** Message of the driver where the server asks for a password and the URL has none, or an empty one. */
const passwordMissing = /^SASL: .*client password must be/;
const passwordAsked =
  'PostgreSQL asks for a password, and none was given: put it into the URL (postgres://user:password@host/database) ' +
  'or into the environment variable PGPASSWORD';
/** An arbitrary number, which nothing else in the database may use. */
const migrationLock = 4_804_821;

/**
 * Statements are planned once, perhaps while their table is empty, when reading it whole is cheapest. A transaction that
 * then fills it would read it whole again and again; all of them find their rows by an index.
 */
const planning = 'SET enable_seqscan = off; SET jit = off';

/** Reads 64-bit integers (versions, counts) as numbers: they stay far below 2⁵³ here. */
const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: Parameters<typeof pg.types.getTypeParser>[0], format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

export async function openPostgres(url: string): Promise<Database> {
  const config = { connectionString: url, connectionTimeoutMillis: connectTimeoutMs, keepAlive: true, types };
  const readerConfig = { ...config, query_timeout: queryTimeoutMs };
  const pool = new pg.Pool({ ...readerConfig, max: readPoolSize });
  // An idle connection that breaks is replaced by the pool at the next query, which reports what is wrong.
  pool.on('error', () => {});
  const ownBackends = new Set<number>();
  return {
    reader: queriesOf(pool),
    connect: (statementTimeoutMs) =>
      connect(statementTimeoutMs === undefined ? config : { ...config, ...bounded(statementTimeoutMs) }, ownBackends),
    async beginExclusive(connection) {
      const [, [row]] = await Promise.all([
        connection.script('BEGIN'),
        connection.all('SELECT version FROM store_version FOR UPDATE'),
      ]);
      return Number(row?.[0]);
    },
    commit(connection, { version, isSignalled }) {
      // Together: each statement that travels by itself costs as much as its work.
      const statements = [
        ...(version === undefined ? [] : [`UPDATE store_version SET version = ${version}`]),
        ...(isSignalled ? [notifySql] : []),
        'COMMIT',
      ];
      return connection.script(statements.join('; '));
    },
    beginSnapshot: (connection) => connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    async beginMigration(connection) {
      await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(${migrationLock})`);
    },
    json: postgresJson,
    // Ids sort by their bytes, whatever the database's language.
    translateSchema: (sql) => sql.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"').replaceAll(/\bINTEGER\b/g, 'BIGINT'),
    async watch({ poll }) {
      const watch = await guard(() =>
        NotificationWatch.start(readerConfig, poll, (backend) => ownBackends.has(backend)),
      );
      return () => {
        watch.stop();
      };
    },
    close: () => closeInTime(pool),
  };
}

/**
 * The server ends a transaction whose process is silent, before those who wait for its locks give up: the process may be
 * frozen or cut off, and would keep all others from writing.
 */
function bounded(statementTimeoutMs: number): pg.ClientConfig {
  return {
    query_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: Math.round((statementTimeoutMs * 2) / 3),
  };
}

async function closeInTime(client: pg.Pool | pg.Client): Promise<void> {
  await Promise.race([client.end(), sleep(closeTimeoutMs, undefined, { ref: false })]);
}

/** Adds the connection, by the number of its process at the server, to `open` for as long as it is. */
async function connect(config: pg.ClientConfig, open: Set<number>): Promise<Connection> {
  const client = new pg.Client({ ...config, pipeline: true });
  let isBroken = false;
  // Without a listener a lost connection would end the process.
  client.on('error', () => (isBroken = true));
  client.on('end', () => {
    isBroken = true;
    open.delete(backendOf(client));
  });
  try {
    await guard(() => client.connect());
    await guard(() => client.query(planning));
  } catch (error) {
    // A server that waits for the rest of a sign-in would hold the process.
    await closeInTime(client);
    throw error;
  }
  open.add(backendOf(client));
  return {
    ...queriesOf(client),
    get isBroken() {
      return isBroken;
    },
    isRemote: true,
    async run(sql, parameters = []) {
      const result = await guard(() => client.query(prepared(sql, parameters)));
      return result.rowCount ?? 0;
    },
    async script(sql) {
      await guard(() => client.query(sql));
    },
    close: () => closeInTime(client),
  };
}

function backendOf(client: pg.Client): number {
  // The driver knows it, and its types do not.
  return (client as { readonly processID?: number }).processID ?? 0;
}

function queriesOf(client: pg.Pool | pg.Client): Queries {
  return {
    async all(sql, parameters = [], keep): Promise<readonly Row[]> {
      const query = keep === 'once' ? unprepared(sql, parameters) : prepared(sql, parameters);
      const result = await guard(() => client.query<Value[]>(query));
      return result.rows;
    },
  };
}

const statementNames = new Map<string, string>();

/** A named statement is parsed and planned once in each connection. */
function prepared(sql: string, parameters: readonly Value[]): pg.QueryArrayConfig<Value[]> {
  let name = statementNames.get(sql);
  if (name === undefined) {
    name = `s${statementNames.size}`;
    statementNames.set(sql, name);
  }
  return { name, text: sql, values: [...parameters], rowMode: 'array' };
}

function unprepared(sql: string, parameters: readonly Value[]): pg.QueryArrayConfig<Value[]> {
  return { text: sql, values: [...parameters], rowMode: 'array' };
}

async function guard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = 'code' in error ? String(error.code) : '';
    // oxlint-disable-next-line preserve-caught-error -- the words of the driver explain nothing.
    if (passwordMissing.test(error.message)) throw new Error(passwordAsked);
    if (code.startsWith('23')) throw new ConstraintError(error.message, { cause: error });
    if (code === fullCode) throw new StoreFullError('the disk of the database is full', { cause: error });
    if (isUnreachable(code, error.message)) {
      throw new StoreUnavailableError('the database cannot be reached', { cause: error });
    }
    throw error;
  }
}

/** Connection faults: SQLSTATE of lost and refused connections, errors of the socket, and messages of the driver. */
function isUnreachable(code: string, message: string): boolean {
  return (
    /^(08|57P|53300|25P0[34])/.test(code) ||
    /^(ECONN|EPIPE|ENOTFOUND|EHOST|ETIMEDOUT|EAI_)/.test(code) ||
    /connection (terminated|timeout)|timeout (exceeded|expired)|query read timeout|not queryable|client was closed|connection error/i.test(
      message,
    )
  );
}
