import pg from 'pg';

import { ConstraintError, StoreUnavailableError } from './database.ts';
import type { Connection, Database, Queries, Row, Value } from './database.ts';

const readPoolSize = 8;
/** A lost signal is repaired by looking this often. */
const lookEveryMs = 1_000;
const connectTimeoutMs = 5_000;
/** Of single reads; a database that does not answer is as good as gone. */
const queryTimeoutMs = 10_000;
const channel = 'gatehouse_changes';
/** Any number will do, as long as nothing else in the database takes the same one. */
const migrationLock = 4_804_821;

/** 64-bit numbers (versions, counts) stay far below 2⁵³ here. */
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
};

export async function openPostgres(url: string): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: readPoolSize,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    types,
  });
  // An idle connection that breaks is replaced by the pool at the next query, which reports what is wrong.
  pool.on('error', () => {});
  return {
    reader: queriesOf(pool),
    connect: () => connect(url),
    async beginExclusive(connection) {
      await connection.script('BEGIN');
      await connection.all('SELECT version FROM store_version FOR UPDATE');
    },
    async announce(connection) {
      await connection.all(`SELECT pg_notify('${channel}', '')`);
    },
    beginSnapshot: (connection) => connection.script('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'),
    async beginMigration(connection) {
      await connection.script(`BEGIN; SELECT pg_advisory_xact_lock(${migrationLock})`);
    },
    async hasTable(connection, name) {
      const rows = await connection.all('SELECT 1 WHERE to_regclass($1) IS NOT NULL', [name]);
      return rows.length > 0;
    },
    // Ids sort by their bytes, whatever the database's language.
    translateSchema: (sql) => sql.replaceAll(/\bTEXT\b/g, 'TEXT COLLATE "C"').replaceAll(/\bINTEGER\b/g, 'BIGINT'),
    watch: ({ look }) => watchNotifications(url, look),
    close: () => pool.end(),
  };
}

async function connect(url: string): Promise<Connection> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs, types });
  // Without a listener a lost connection would end the process; the next query on it fails and says so.
  client.on('error', () => {});
  await guard(() => client.connect());
  return {
    ...queriesOf(client),
    async run(sql, parameters = []) {
      const result = await guard(() => client.query(prepared(sql, parameters)));
      return result.rowCount ?? 0;
    },
    async script(sql) {
      await guard(() => client.query(sql));
    },
    close: () => client.end(),
  };
}

function queriesOf(client: pg.Pool | pg.Client): Queries {
  return {
    async all(sql, parameters = []): Promise<readonly Row[]> {
      const result = await guard(() => client.query<Value[]>(prepared(sql, parameters)));
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

async function guard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = 'code' in error ? String(error.code) : '';
    if (code.startsWith('23')) throw new ConstraintError(error.message, { cause: error });
    if (isUnreachable(code, error.message)) {
      throw new StoreUnavailableError('the database cannot be reached', { cause: error });
    }
    throw error;
  }
}

/** Connection faults: classes 08 and 57 of SQLSTATE, errors of the socket, and the driver's own words for them. */
function isUnreachable(code: string, message: string): boolean {
  return (
    /^(08|57P|53300)/.test(code) ||
    /^(ECONN|EPIPE|ENOTFOUND|EHOST|ETIMEDOUT|EAI_)/.test(code) ||
    /connection (terminated|timeout)|timeout exceeded|query read timeout|not queryable|client was closed|connection error/i.test(message)
  );
}

async function watchNotifications(url: string, look: () => void): Promise<() => Promise<void>> {
  let client: pg.Client | undefined;
  const listen = async () => {
    const fresh = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
    client = fresh;
    fresh.on('error', () => {});
    fresh.on('end', () => {
      if (client === fresh) client = undefined;
    });
    fresh.on('notification', look);
    await fresh.connect();
    await fresh.query(`LISTEN ${channel}`);
  };
  const timer = setInterval(() => {
    look();
    if (client === undefined) listen().catch(() => (client = undefined));
  }, lookEveryMs);
  timer.unref();
  await listen();
  return async () => {
    clearInterval(timer);
    const open = client;
    client = undefined;
    await open?.end();
  };
}
