import { nextTurn } from '../lib/next-turn.ts';
import { appendChanges, readVersion } from './change-log.ts';
import type { Actor, Change } from './change-log.ts';
import type { Awaitable, Connection, Database, Queries, Value } from './database.ts';

/** What a write works with. What it does is in force, and seen by others, only when the write has been answered. */
export interface Transaction extends Queries {
  readonly actor: Actor;
  run(sql: string, parameters?: readonly Value[]): Awaitable<number>;
  /** Names what happened; a write without any is a mistake unless it changed nothing. */
  record(change: Change): void;
}

/** What `note` works with: observations, such as counts, that are no change of the configuration. */
export type ObservationWriter = Pick<Transaction, 'all' | 'run'>;

interface Job {
  /** Undefined: notes, which leave no trace in the change log. */
  readonly actor: Actor | undefined;
  readonly work: (transaction: Transaction) => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction under way: how far it has come, and whom to answer once it is durable. */
interface Batch {
  readonly fromVersion: number;
  version: number;
  readonly changes: Change[];
  readonly answers: (() => void)[];
}

/** Called after each commit, in order, with all that it brought; the writes in it are answered when it has resolved. */
export type Committed = (fromVersion: number, toVersion: number, changes: readonly Change[]) => Promise<void>;

/** Of one statement, which may have to wait for the transaction of another process. */
const statementTimeoutMs = 15_000;
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

  submit<T>(actor: Actor | undefined, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      // `value` is what this very `work` resolved to.
      this.#queue.push({ actor, work, resolve: (value) => resolve(value as T), reject });
      this.#running ??= this.#run();
    });
  }

  async close(): Promise<void> {
    await this.#running;
    await this.#dropConnection();
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
    for (const job of jobs) await carryOut(connection, batch, job);
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

const nobody: Actor = { id: '', accountId: '', operationId: '' };

async function carryOut(connection: Connection, batch: Batch, job: Job): Promise<void> {
  const recorded: Change[] = [];
  let ranStatements = false;
  await connection.script('SAVEPOINT job');
  try {
    const value = await job.work({
      actor: job.actor ?? nobody,
      all: (sql, parameters) => connection.all(sql, parameters),
      run: (sql, parameters) => {
        ranStatements = true;
        return connection.run(sql, parameters);
      },
      record: (change) => recorded.push(change),
    });
    if (recorded.length > 0) await appendChanges(connection, batch.version + 1, job.actor ?? nobody, recorded);
    else if (ranStatements && job.actor !== undefined) throw new Error('a write ran statements but recorded no change');
    await connection.script('RELEASE job');
    if (recorded.length > 0) batch.version += 1;
    batch.changes.push(...recorded);
    batch.answers.push(() => {
      job.resolve(value);
    });
  } catch (error) {
    await connection.script('ROLLBACK TO job; RELEASE job');
    job.reject(error);
  }
}
