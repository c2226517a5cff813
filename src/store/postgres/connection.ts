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
/** Limit for a transaction behind a pooler that sends nothing. */
const pooledIdleMs = 10_000;
/** Begins a transaction behind a pooler: whatever is set ends with it. */
export const beginPooled = [
  'BEGIN',
  ...[...planning, `idle_in_transaction_session_timeout = ${pooledIdleMs}`].map((each) => `SET LOCAL ${each}`),
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
  const client = await primary.open({ ...limits, pipeline: true }, (each) => {
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
  return {
    get isBroken() {
      return isBroken;
    },
    isRemote: true,
    async all(sql, parameters = [], keep) {
      return (await guard(() => client.query<Value[]>(statement(sql, parameters, keep)))).rows;
    },
    async run(sql, parameters = []) {
      return (await guard(() => client.query(statement(sql, parameters)))).rowCount ?? 0;
    },
    async script(sql) {
      await guard(() => client.query(sql));
      // The server calls it a success.
      if (isOnOneServer) throw new StoreUnavailableError('the commit did not wait for the standby');
    },
    close: () => closeInTime(client),
  };
}

/**
 * The server ends a transaction whose process is silent, before those who wait for its locks give up: the process may be
 * frozen or cut off, and would keep all others from writing.
 */
function idleLimitMs(statementTimeoutMs: number): number {
  return Math.round((statementTimeoutMs * 2) / 3);
}

/** A pooler refuses connections that bring settings. */
function bounded(statementTimeoutMs: number, isPooled: boolean): pg.ClientConfig {
  const query_timeout = statementTimeoutMs;
  return isPooled
    ? { query_timeout }
    : { query_timeout, idle_in_transaction_session_timeout: idleLimitMs(statementTimeoutMs) };
}

function backendOf(client: pg.Client): number {
  // The driver knows it, and its types do not.
  return (client as { readonly processID?: number }).processID ?? 0;
}
