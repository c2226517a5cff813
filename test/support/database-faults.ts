import { DatabaseSync, StatementSync } from 'node:sqlite';

import pg from 'pg';

/** `lost`: the statement is not carried out. `unanswered`: it is, and its answer is lost. */
export type Fault = 'lost' | 'unanswered';

interface Armed {
  /** Statements until the fault. */
  left: number;
  /** Texts of the statements so far. */
  readonly met: string[];
  readonly fault: Fault;
  /** Later statements fail as well, until the end. */
  readonly isOutage: boolean;
  readonly onStatement: (() => void) | undefined;
  readonly counts: (sql: string) => boolean;
  /** Texts of the statements that have failed. */
  readonly failed: string[];
}

let armed: Armed | undefined;

/** Begins statements of a test itself. */
export const ofTest = '/* of the test */';
/**
 * Statements of timers and of what is sent in the background, which come at any time and would make every count another
 * one. They fail in an outage only.
 */
const uncounted =
  /^(\/\* of the test|PRAGMA|LISTEN|SET |SELECT NOT \(pg_is_in_recovery|SELECT (1|subscription_id|DISTINCT destination_id)\b[^]*FROM event_deliveries|SELECT version, position FROM undelivered_events|SELECT document, sealed_secrets FROM event_destinations|SELECT holder(, ends_at)? FROM event_lease|INSERT INTO event_lease|UPDATE event_deliveries SET version|SELECT MIN\(version\) FROM change_log)/;

interface Counting {
  readonly onStatement?: () => void;
  /** Statements of which the fault's is one; the others fail in an outage only. */
  readonly counts?: (sql: string) => boolean;
}

/**
 * Makes the statements of this process fail, below all of our own code: SQLite's calls throw what the binding throws for a
 * disk that cannot be read, and PostgreSQL's connections are closed under the driver.
 */
export function failAt(
  statement: number,
  fault: Fault,
  isOutage: boolean,
  { onStatement, counts = () => true }: Counting = {},
) {
  const faults: Armed = { left: statement, met: [], fault, isOutage, onStatement, counts, failed: [] };
  armed = faults;
  return {
    /** Texts of the statements that have failed so far. */
    failed: faults.failed as readonly string[],
    /** Texts of the statements so far. */
    met: faults.met as readonly string[],
    end: (): readonly string[] => {
      armed = undefined;
      return faults.failed;
    },
    [Symbol.dispose]() {
      armed = undefined;
    },
  };
}

/** Counts a statement. Returns how it fails, if it does. */
function meet(sql: string): Fault | undefined {
  if (armed === undefined) return undefined;
  if (!uncounted.test(sql) && armed.counts(sql)) {
    armed.left -= 1;
    armed.met.push(sql);
    armed.onStatement?.();
  } else if (!armed.isOutage || armed.left > 0) return undefined;
  if (armed.left > 0 || (armed.left < 0 && !armed.isOutage)) return undefined;
  armed.failed.push(sql);
  return armed.left < 0 ? 'lost' : armed.fault;
}

function failSqlite<T>(sql: string, call: () => T): T {
  const fault = meet(sql);
  if (fault === undefined) return call();
  if (fault === 'unanswered') call();
  throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 10 });
}

// oxlint-disable-next-line typescript/unbound-method -- it is called with the database it belongs to.
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function execOrFail(sql) {
  return failSqlite(sql, () => exec.call(this, sql));
};
for (const name of ['all', 'run'] as const) {
  const original = StatementSync.prototype[name] as (...values: unknown[]) => unknown;
  Object.defineProperty(StatementSync.prototype, name, {
    value(this: StatementSync, ...values: unknown[]) {
      return failSqlite(this.sourceSQL, () => original.apply(this, values));
    },
  });
}

/** The part of a client that its types do not name. */
interface OpenClient {
  readonly connection: { readonly stream: { destroy(): void } };
}

// oxlint-disable-next-line typescript/unbound-method -- it is called with the client it belongs to.
const query = pg.Client.prototype.query as (...given: unknown[]) => Promise<unknown>;
Object.defineProperty(pg.Client.prototype, 'query', {
  value(this: OpenClient, ...given: unknown[]) {
    const [first] = given;
    const sql = typeof first === 'string' ? first : String((first as { readonly text?: string }).text);
    const fault = meet(sql);
    if (fault === undefined) return query.apply(this, given);
    const { stream } = this.connection;
    // The pool asks with a callback, and only for what it reads.
    if (fault === 'lost' || typeof given.at(-1) === 'function') {
      stream.destroy();
      return query.apply(this, given);
    }
    return query.apply(this, given).then(() => {
      stream.destroy();
      throw new Error('Connection terminated unexpectedly');
    });
  },
});
