import { AsyncLocalStorage } from 'node:async_hooks';

import { FairQueue } from '../../lib/fair-queue.ts';
import { nextTurn } from '../../lib/next-turn.ts';
import { Pace, runUrgently } from '../../lib/pace.ts';
import { StoreFullError, StoreUnavailableError, WritesStalledError } from '../database.ts';
import type { Connection, Database, Queries } from '../database.ts';
import { carryOut, giveWayBetween, performLogged } from './batch.ts';
import type { Batch, Carried, ExplainOverQuota, Job, Perform } from './batch.ts';
import { UnloggedChanges } from './change-log.ts';
import type { Actor, LoggedChange } from './change-log.ts';
import { newMark } from './history.ts';
import type { Point } from './history.ts';
import { appendObserved } from './observed-changes.ts';
import type { ObservedChange, ObservedStep } from './observed-changes.ts';
import { SentStatements } from './sent-statements.ts';
import type { ObservationWriter, Transaction } from './transaction.ts';

/** The changes of one transaction. */
export interface Commit {
  readonly from: Point;
  readonly to: Point;
  readonly changes: readonly LoggedChange[];
  readonly observed: ObservedStep | undefined;
}

/** Followers of what is committed. */
export interface CommitFollower {
  /** Called after each commit, in order; the writes in it are not answered before it has resolved. */
  committed(commit: Commit): Promise<void>;
  /** Resolves when what was put off of the changes of these accounts is done; undefined where nothing was. */
  settledOf(accountIds: ReadonlySet<string>): Promise<void> | undefined;
  /** False where the newest point of the database is of another history than the one followed so far. */
  ledTo(newest: Point, queries?: Queries): Promise<boolean>;
  /** Looks where the database is. */
  poll(): Promise<void>;
}

/** Limit for one statement, which may have to wait for the transaction of another process. */
const statementTimeoutMs = 15_000;
/** A transaction under way to which the database has not answered for so long is stalled. */
const stalledMs = 2_000;
/** Interval at which that is looked at. */
const lookEveryMs = 250;
/** More in one transaction would keep its first writer waiting. */
const batchLimit = 256;
/** A transaction that has lasted so long is committed; what still waits goes into the next one. */
const batchMs = 50;
/** The owner, in the queue, of writes that belong to no account. */
const noAccount = '';

/**
 * Writes that arrive while a commit is under way are carried out together in the next transaction, each in its own
 * savepoint, each answered after that commit: durable, in order, and many for the price of one fsync. Holding the
 * exclusive right from the first statement on makes versions commit in order across processes. Accounts take turns: one
 * that sends many writes delays those of another by one write, not by all of its own.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #follower: CommitFollower;
  readonly #explain: ExplainOverQuota;
  #connection: Connection | undefined;
  readonly #queue = new FairQueue<Job>();
  /** Writes of many callers, and what follows them, run in the context of none. */
  readonly #inNoContext = AsyncLocalStorage.snapshot();
  #running: Promise<void> | undefined;
  #isFull = false;
  #isClosed = false;

  constructor(database: Database, follower: CommitFollower, explain: ExplainOverQuota = (_, error) => error) {
    this.#database = database;
    this.#follower = follower;
    this.#explain = explain;
  }

  submit<T>(actor: Actor, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#enqueue(actor.accountId, (connection, batch) => performLogged(connection, batch, actor, work));
  }

  /** Takes its turn among the writes of the account, but leaves no trace in the change log. */
  submitUnlogged<T>(work: (writer: ObservationWriter) => Promise<T>, accountId: string = noAccount): Promise<T> {
    return this.#enqueue(accountId, async (connection) => {
      const observed: ObservedChange[] = [];
      const value = await work({
        all: (sql, parameters) => connection.all(sql, parameters),
        run: (sql, parameters) => connection.run(sql, parameters),
        record: (change) => observed.push(change),
      });
      return { value, changes: [], observed };
    });
  }

  /** The disk was full when a write was last tried that changes something. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /**
   * The database does not answer, as when its commits wait for a standby that is away. Nothing further is begun: writes that
   * wait would hold the places of their callers, who could not even read.
   */
  get isStalled(): boolean {
    return (this.#connection?.silentMs ?? 0) > stalledMs;
  }

  /** Carries out what was submitted. What comes later is refused: it would open a connection that nobody closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#dropConnection();
  }

  #enqueue<T>(accountId: string, perform: Perform<T>): Promise<T> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailableError('the database is being closed'));
    if (this.isStalled) return Promise.reject(stalled());
    return new Promise((resolve, reject) => {
      this.#queue.push(accountId, {
        async perform(connection, batch) {
          const { value, changes, observed } = await perform(connection, batch);
          return { changes, observed, answer: () => resolve(value) };
        },
        reject: (error) => {
          // Before the answer, so that whoever gets it finds the disk full.
          this.#isFull ||= error instanceof StoreFullError;
          reject(error);
        },
      });
      this.#running ??= this.#inNoContext(() => this.#run());
    });
  }

  async #run(): Promise<void> {
    const looking = setInterval(() => this.#refuseStalled(), lookEveryMs).unref();
    while (!this.#queue.isEmpty) {
      // SQLite carries out a batch with few pauses: mostly what all sockets have brought before it can be in it.
      await nextTurn();
      await this.#commitBatch();
    }
    clearInterval(looking);
    this.#running = undefined;
  }

  async #commitBatch(): Promise<void> {
    const jobs: Job[] = [];
    let batch: Batch;
    let observed: ObservedStep | undefined;
    try {
      [batch, observed] = await runUrgently(() => this.#carryOutAll(jobs));
      // Observations are small, and may find space where a change does not.
      if (!batch.isFull && batch.to.version > batch.from.version) this.#isFull = false;
    } catch (error) {
      // The state of the connection is unknown: what was not committed goes with it.
      await this.#dropConnection();
      // Callers that wait are not left to find out one after another.
      while (this.#takeNext(jobs, Infinity) !== undefined);
      for (const job of jobs) job.reject(error);
      return;
    }
    const { from, to, changes, carried } = batch;
    // Not awaited here: the next batch may commit while this one is being made known.
    const isChange = to.version > from.version || observed !== undefined;
    const published = isChange ? this.#follower.committed({ from, to, changes, observed }) : Promise.resolve();
    void published.then(
      () => {
        for (const each of carried) this.#answer(each);
      },
      // The writes are stored, but not known to every follower: their callers see an internal error, not success.
      (error: unknown) => {
        for (const job of jobs) job.reject(error);
      },
    );
  }

  /** Long work of one account, to put its changes in force, is not waited for by the writes of others. */
  #answer({ accountIds, answer, reject }: Carried): void {
    const waits = this.#follower.settledOf(accountIds);
    if (waits === undefined) answer();
    else waits.then(answer, reject);
  }

  /** Adds to `jobs` what it takes from the queue, so that the caller can refuse these if it fails. */
  async #carryOutAll(jobs: Job[]): Promise<[Batch, ObservedStep | undefined]> {
    const [connection, from] = await this.#begin(jobs);
    const sent = new SentStatements(connection.isRemote);
    const batch: Batch = {
      from,
      to: { version: from.version, mark: newMark() },
      sent,
      isFirst: true,
      unlogged: new UnloggedChanges(),
      changes: [],
      observed: [],
      carried: [],
      isFull: false,
    };
    const pace = new Pace();
    const paced = giveWayBetween(connection, pace);
    const endMs = performance.now() + batchMs;
    // The first job was taken before the transaction began.
    for (let job = jobs[0]; job !== undefined; job = this.#takeNext(jobs, endMs)) {
      await carryOut(paced, batch, job, this.#explain);
    }
    const { mark } = batch.to;
    await batch.unlogged.log(paced, sent, mark);
    const observed = batch.observed.length === 0 ? undefined : await appendObserved(connection, batch.observed, mark);
    const point = batch.to.version > from.version ? batch.to : undefined;
    // Behind a statement that has failed, it commits nothing.
    await sent.send(
      this.#database.commit(connection, { point, isSignalled: point !== undefined || observed !== undefined }),
    );
    await sent.arrived();
    return [batch, observed];
  }

  /** Returns the connection and the newest point. Takes a job first: if there is no connection, somebody has to be told. */
  async #begin(jobs: Job[]): Promise<[Connection, Point]> {
    this.#takeNext(jobs, Infinity);
    // After an outage, the first write need not be the one that finds out.
    if (this.#connection?.isBroken) await this.#dropConnection();
    const known = this.#connection;
    const connection = (this.#connection ??= await this.#database.connect(statementTimeoutMs));
    const from = await this.#database.beginExclusive(connection);
    // Callers that wait were let in by what was remembered of another history. A connection that lasts cannot lead to one.
    if (!(await this.#follower.ledTo(from, known === undefined ? connection : undefined))) {
      this.#follower.poll().catch(() => {});
      throw new StoreUnavailableError('the database has another history than before');
    }
    return [connection, from];
  }

  #takeNext(jobs: Job[], endMs: number): Job | undefined {
    if (jobs.length >= batchLimit || performance.now() >= endMs) return undefined;
    const job = this.#queue.take();
    if (job !== undefined) jobs.push(job);
    return job;
  }

  /** Jobs in the transaction wait for its end: nobody knows what becomes of them. */
  #refuseStalled(): void {
    if (!this.isStalled) return;
    for (let job = this.#queue.take(); job !== undefined; job = this.#queue.take()) job.reject(stalled());
  }

  async #dropConnection(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    try {
      await connection?.close();
    } catch {
      // The connection was broken, which is why it is dropped.
    }
  }
}

function stalled(): WritesStalledError {
  return new WritesStalledError('the database has not answered a write for a while');
}
