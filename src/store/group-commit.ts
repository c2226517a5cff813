import { nextTurn } from '../lib/next-turn.ts';
import { appendChanges, readVersion } from './change-log.ts';
import type { Actor, Change } from './change-log.ts';
import type { Awaitable, Connection, Database, Queries, Value } from './database.ts';

/** The transaction of one write. Its effects are in force, and seen by others, once the write has been answered. */
export interface Transaction extends Queries {
  readonly actor: Actor;
  run(sql: string, parameters?: readonly Value[]): Awaitable<number>;
  /** Names a change that the write made. A write that ran statements must record at least one. */
  record(change: Change): void;
}

/** Writes observations, such as counts, that are no change of the configuration. */
export type ObservationWriter = Pick<Transaction, 'all' | 'run'>;

interface Done<T> {
  readonly value: T;
  readonly changes: readonly Change[];
}

/** Does the work of one write; the changes that it records have this version. */
type Perform<T> = (connection: Connection, version: number) => Promise<Done<T>>;

interface Job {
  /** `answer` is to be called once the transaction is durable and known to all followers. */
  perform(connection: Connection, version: number): Promise<{ changes: readonly Change[]; answer: () => void }>;
  readonly reject: (error: unknown) => void;
}

/** A transaction under way. */
interface Batch {
  readonly fromVersion: number;
  version: number;
  readonly changes: Change[];
  readonly answers: (() => void)[];
}

/** Called after each commit, in order, with all its changes; the writes in it are answered when it has resolved. */
export type Committed = (fromVersion: number, toVersion: number, changes: readonly Change[]) => Promise<void>;

/** Limit for one statement, which may have to wait for the transaction of another process. */
const statementTimeoutMs = 15_000;
/** Time after which a batch lets traffic through the gateway of this process have its turn. */
const stretchMs = 4;
/** More in one transaction would keep its first writer waiting. */
const batchLimit = 256;

/**
 * Writes that arrive while a commit is under way are carried out together in the next transaction, each in its own
 * savepoint, each answered after that commit: durable, in order, and many for the price of one fsync. Holding the
 * exclusive right from the first statement on makes versions commit in order across processes.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #committed: Committed;
  #connection: Connection | undefined;
  #queue: Job[] = [];
  #running: Promise<void> | undefined;

  constructor(database: Database, committed: Committed) {
    this.#database = database;
    this.#committed = committed;
  }

  submit<T>(actor: Actor, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#enqueue((connection, version) => performLogged(connection, version, actor, work));
  }

  /** Takes its turn among the writes, but leaves no trace in the change log. */
  submitUnlogged<T>(work: (writer: ObservationWriter) => Promise<T>): Promise<T> {
    return this.#enqueue(async (connection) => ({ value: await work(connection), changes: [] }));
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#dropConnection();
  }

  #enqueue<T>(perform: Perform<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push({
        async perform(connection, version) {
          const { value, changes } = await perform(connection, version);
          return { changes, answer: () => resolve(value) };
        },
        reject,
      });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // SQLite carries out a batch without a pause: only what all sockets have brought before it can be in it.
      await nextTurn();
      await this.#commitBatch(this.#queue.splice(0, batchLimit));
    }
    this.#running = undefined;
  }

  async #commitBatch(jobs: readonly Job[]): Promise<void> {
    let batch: Batch;
    try {
      batch = await this.#carryOutAll(jobs);
    } catch (error) {
      // The state of the connection is unknown: what was not committed goes with it.
      await this.#dropConnection();
      for (const job of jobs) job.reject(error);
      return;
    }
    const { fromVersion, version, changes, answers } = batch;
    // Not awaited here: the next batch may commit while this one is being made known.
    const published = version > fromVersion ? this.#committed(fromVersion, version, changes) : Promise.resolve();
    void published.then(
      () => {
        for (const answer of answers) answer();
      },
      // The writes are stored, but not known to every follower: their callers see an internal error, not success.
      (error: unknown) => {
        for (const job of jobs) job.reject(error);
      },
    );
  }

  async #carryOutAll(jobs: readonly Job[]): Promise<Batch> {
    // After an outage, the first write need not be the one that finds out.
    if (this.#connection?.isBroken) await this.#dropConnection();
    const connection = (this.#connection ??= await this.#database.connect(statementTimeoutMs));
    await this.#database.beginExclusive(connection);
    const fromVersion = await readVersion(connection);
    const batch: Batch = { fromVersion, version: fromVersion, changes: [], answers: [] };
    let pausedMs = performance.now();
    for (const job of jobs) {
      await carryOut(connection, batch, job);
      if (performance.now() - pausedMs < stretchMs) continue;
      // SQLite leaves the thread to nobody by itself; the transaction stays open meanwhile, as on PostgreSQL.
      await nextTurn();
      pausedMs = performance.now();
    }
    if (batch.version > fromVersion) {
      await connection.run('UPDATE store_version SET version = $1', [batch.version]);
      await this.#database.announce(connection);
    }
    await connection.script('COMMIT');
    return batch;
  }

  async #dropConnection(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      await connection?.close();
    } catch {
      // It was broken, which is why it is dropped.
    }
  }
}

async function carryOut(connection: Connection, batch: Batch, job: Job): Promise<void> {
  await connection.script('SAVEPOINT job');
  try {
    const { changes, answer } = await job.perform(connection, batch.version + 1);
    await connection.script('RELEASE job');
    if (changes.length > 0) batch.version += 1;
    batch.changes.push(...changes);
    batch.answers.push(answer);
  } catch (error) {
    await connection.script('ROLLBACK TO job; RELEASE job');
    job.reject(error);
  }
}

async function performLogged<T>(
  connection: Connection,
  version: number,
  actor: Actor,
  work: (transaction: Transaction) => Promise<T>,
): Promise<Done<T>> {
  const changes: Change[] = [];
  let ranStatements = false;
  const value = await work({
    actor,
    all: (sql, parameters) => connection.all(sql, parameters),
    run: (sql, parameters) => {
      ranStatements = true;
      return connection.run(sql, parameters);
    },
    record: (change) => changes.push(change),
  });
  if (changes.length > 0) await appendChanges(connection, version, actor, changes);
  else if (ranStatements) throw new Error('a write ran statements but recorded no change');
  return { value, changes };
}
