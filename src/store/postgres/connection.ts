import type pg from 'pg';

import { StoreUnavailableError } from '../database.ts';
import type { Connection, Value } from '../database.ts';
import { guard } from './faults.ts';
import { closeInTime } from './primary.ts';
import type { Primary } from './primary.ts';
import { named, unnamed } from './statements.ts';

/**
 * Statements are planned once, perhaps while their table is empty, when reading it whole is cheapest. A transaction that
 * then fills it would read it whole again and again; all of them find their rows by an index.
 */
const planning = ['enable_seqscan = off', 'jit = off'] as const;
/** Limit for a statement of a transaction behind a pooler. */
const pooledStatementMs = 15_000;
/** Begins a transaction behind a pooler: whatever is set ends with it. */
export const beginPooled = [
  'BEGIN',
  ...[
    ...planning,
    `idle_in_transaction_session_timeout = ${idleLimitMs(pooledStatementMs)}`,
    `lock_timeout = ${lockLimitMs(pooledStatementMs)}`,
  ].map((each) => `SET LOCAL ${each}`),
].join('; ');

/** The function of the server that says that a commit is on this server alone: its wait for a standby was cut short. */
const standbyWait = 'SyncRepWaitForLSN';

/** Options of a connection of its own. */
export interface ConnectionOptions {
  /** A pooler stands before the server: nothing may be set for longer than a transaction. */
  readonly isPooled: boolean;
  readonly statementTimeoutMs: number | undefined;
  /** Connections that are open, by the number of their process at the server; this one is added for as long as it is. */
  readonly open: Set<number>;
}

/** Opens a connection for transactions. */
export async function connect(primary: Primary, options: ConnectionOptions): Promise<Connection> {
  const { isPooled, statementTimeoutMs, open } = options;
  const statement = isPooled ? unnamed : named;
  let isBroken = false;
  let isOnOneServer = false;
  const limits = statementTimeoutMs === undefined ? {} : bounded(statementTimeoutMs, isPooled);
  const { client, server } = await primary.open({ ...limits, pipeline: true }, (each) => {
    each.on('error', () => (isBroken = true));
    each.on('notice', ({ routine }) => (isOnOneServer ||= routine === standbyWait));
    each.on('end', () => {
      isBroken = true;
      open.delete(backendOf(each));
    });
  });
  if (!isPooled) {
    try {
      await guard(() => client.query(planning.map((each) => `SET ${each}`).join('; ')));
    } catch (error) {
      await closeInTime(client);
      throw error;
    }
    open.add(backendOf(client));
  }
  const silence = new Silence();
  return {
    get isBroken() {
      return isBroken;
    },
    get silentMs() {
      return silence.ms;
    },
    isRemote: true,
    async all(sql, parameters = [], searcher) {
      return (await silence.during(() => client.query<Value[]>(statement(sql, parameters, searcher)))).rows;
    },
    async run(sql, parameters = []) {
      return (await silence.during(() => client.query(statement(sql, parameters)))).rowCount ?? 0;
    },
    async script(sql) {
      await silence.during(() => client.query(sql));
      // The server calls it a success.
      if (isOnOneServer) throw new StoreUnavailableError('the commit did not wait for the standby');
    },
    confirm: () => primary.confirm(server),
    close: () => closeInTime(client),
  };
}

/** Measures how long a server has said nothing while statements are under way. */
class Silence {
  #underWay = 0;
  #sinceMs = 0;

  get ms(): number {
    return this.#underWay === 0 ? 0 : performance.now() - this.#sinceMs;
  }

  async during<T>(call: () => Promise<T>): Promise<T> {
    if (this.#underWay++ === 0) this.#sinceMs = performance.now();
    try {
      return await guard(call);
    } finally {
      this.#underWay -= 1;
      this.#sinceMs = performance.now();
    }
  }
}

/**
 * The server ends a transaction whose process is silent, long before those who wait for its locks give up: the process may
 * be frozen or cut off, and would keep all others from writing.
 */
function idleLimitMs(statementTimeoutMs: number): number {
  return Math.round((statementTimeoutMs * 4) / 15);
}

/**
 * The server gives up a lock before this process gives up the connection, or its process there would wait on for nobody.
 * There is no such limit for statements: it would end the wait of a commit for its standby, and leave the commit on one server.
 */
function lockLimitMs(statementTimeoutMs: number): number {
  return Math.round((statementTimeoutMs * 5) / 6);
}

/** A pooler refuses connections that bring settings. */
function bounded(statementTimeoutMs: number, isPooled: boolean): pg.ClientConfig {
  const query_timeout = statementTimeoutMs;
  if (isPooled) return { query_timeout };
  const idle_in_transaction_session_timeout = idleLimitMs(statementTimeoutMs);
  return { query_timeout, idle_in_transaction_session_timeout, lock_timeout: lockLimitMs(statementTimeoutMs) };
}

function backendOf(client: pg.Client): number {
  // The driver knows it, and its types do not.
  return (client as { readonly processID?: number }).processID ?? 0;
}
