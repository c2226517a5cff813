import type { Pace } from '../../lib/pace.ts';
import { StoreFullError, StoreUnavailableError } from '../database.ts';
import type { Connection, Queries } from '../database.ts';
import { OverQuota, readUsage } from '../usage.ts';
import type { Usage } from '../usage.ts';
import { readAccountChanges } from './change-log.ts';
import type { Actor, Change, LoggedChange, UnloggedChanges } from './change-log.ts';
import { forEachItem } from './for-each-item.ts';
import type { Point } from './history.ts';
import type { ObservedChange } from './observed-changes.ts';
import type { SentStatements } from './sent-statements.ts';
import type { Transaction } from './transaction.ts';

interface Done<T> {
  readonly value: T;
  readonly changes: readonly Change[];
  readonly observed: readonly ObservedChange[];
}

/** Does the work of one write; the changes that it records have the next version. */
export type Perform<T> = (connection: Connection, batch: Batch) => Promise<Done<T>>;

export interface Job {
  /** `answer` is to be called once the transaction is durable and its changes are known to all followers. */
  perform(connection: Connection, batch: Batch): Promise<Omit<Done<unknown>, 'value'> & { answer: () => void }>;
  readonly reject: (error: unknown) => void;
}

/** A write that was carried out. */
export interface Carried {
  /** Accounts whose changes it made. */
  readonly accountIds: ReadonlySet<string>;
  readonly answer: () => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction under way. */
export interface Batch {
  readonly from: Point;
  /** Version of its last change; the mark is that of the transaction. */
  to: Point;
  readonly sent: SentStatements;
  /** No job has a savepoint yet. The next one releases that of the one before, and the commit that of the last. */
  isFirst: boolean;
  readonly unlogged: UnloggedChanges;
  readonly changes: LoggedChange[];
  readonly observed: ObservedChange[];
  readonly carried: Carried[];
  /** A write of it found the disk full. */
  isFull: boolean;
}

/** Turns the fault of the database into one for the caller, with what is used without the write that was refused. */
export type ExplainOverQuota = (usage: Usage, error: OverQuota) => Error;

/** Lets others have their turn between statements that run in this thread. Those that travel keep their order, and wait anyway. */
export function giveWayBetween(connection: Connection, pace: Pace): Connection {
  if (connection.isRemote) return connection;
  return {
    get isBroken() {
      return connection.isBroken;
    },
    isRemote: false,
    all: (sql, parameters) =>
      pace.isDue ? pace.giveWay().then(() => connection.all(sql, parameters)) : connection.all(sql, parameters),
    run: (sql, parameters) =>
      pace.isDue ? pace.giveWay().then(() => connection.run(sql, parameters)) : connection.run(sql, parameters),
    script: (sql) => connection.script(sql),
    close: () => connection.close(),
  };
}

export async function carryOut(
  connection: Connection,
  batch: Batch,
  job: Job,
  explain: ExplainOverQuota,
): Promise<void> {
  const { sent } = batch;
  await sent.send(connection.script(batch.isFirst ? 'SAVEPOINT job' : 'RELEASE job; SAVEPOINT job'));
  batch.isFirst = false;
  try {
    const { changes, observed, answer } = await job.perform(connection, batch);
    if (changes.length > 0) batch.to = { version: batch.to.version + 1, mark: batch.to.mark };
    for (const change of changes) batch.changes.push({ ...change, at: batch.to });
    for (const change of observed) batch.observed.push(change);
    const accountIds = new Set([...changes, ...observed].map(({ accountId }) => accountId));
    batch.carried.push({ accountIds, answer, reject: job.reject });
  } catch (error) {
    // Statements that were sent before are carried out by now. If one of them has failed, that is the fault, of all jobs.
    await sent.arrived();
    await undo(connection, error);
    batch.isFull ||= error instanceof StoreFullError;
    job.reject(error instanceof OverQuota ? await toCallersFault(connection, error, explain) : error);
  }
}

async function toCallersFault(queries: Queries, error: OverQuota, explain: ExplainOverQuota): Promise<Error> {
  const usage = (await readUsage(queries, error.accountId)).find(({ quota }) => quota === error.quota);
  return usage === undefined ? error : explain(usage, error);
}

async function undo(connection: Connection, error: unknown): Promise<void> {
  try {
    await connection.script('ROLLBACK TO job');
  } catch (failure) {
    // SQLite may end the whole transaction when its disk is full: the batch then fails for that reason.
    throw error instanceof StoreUnavailableError ? error : failure;
  }
}

export async function performLogged<T>(
  connection: Connection,
  { to: { version }, unlogged }: Batch,
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
    isNew: (id) => changes.some((change) => change.id === id && change.before === null),
    forEach: (items, each) => forEachItem(connection, changes, items, each),
    async changesAfter(earlier, kinds, limit) {
      const logged = await readAccountChanges(connection, actor.accountId, earlier, kinds, limit);
      return [...logged, ...unlogged.ofAccount(actor.accountId, earlier, kinds)].slice(0, limit);
    },
  });
  if (changes.length > 0) unlogged.add(version + 1, actor, changes);
  else if (ranStatements) throw new Error('a write ran statements but recorded no change');
  return { value, changes, observed: [] };
}
