import { newId, newOperationId } from '../../lib/ids.ts';
import { nextTurn } from '../../lib/next-turn.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { TaskLog } from '../background-tasks.ts';
import { holdsLease, releaseLease, takeLease } from '../lease.ts';
import type { ResourceContext } from '../resource.ts';
import { firstInTurn } from './first-in-turn.ts';
import { mostFacts, readersOf } from './facts.ts';
import type { Fact, ReadFacts } from './facts.ts';
import { watchedAlerts } from './service.ts';
import type { AlertKind } from './service.ts';
import { alertTables, leaseTable } from './table.ts';
import type { Alert } from './table.ts';

/** What begins and ends between two looks is not told. */
const lookMs = 5_000;
const leaseMs = 30_000;
/** Writes of one transaction; the rest is for the next look. */
const changesAtOnce = 100;
/** Kind of the change after which somebody else is told. */
const subscriptionKind = 'event_subscription';
/** The author of alerts in the log of changes. */
const author = 'gatehouse';

type Change = (transaction: Transaction) => Promise<unknown>;

/** Compares states with open alerts, in the one process that has the lease, and writes what has changed. */
export class AlertKeeper implements AsyncDisposable {
  readonly #context: ResourceContext;
  readonly #log: TaskLog;
  readonly #holder = newId('alerts');
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isStopped = false;
  #isFaulty = false;
  /** Kinds that somebody is told of, by account; undefined once a subscription has changed. */
  #watched: ReadonlyMap<string, ReadonlySet<AlertKind>> | undefined;
  /** False: nothing is watched, and nothing is open. */
  #hasWork = true;

  constructor(context: ResourceContext, log: TaskLog) {
    this.#context = context;
    this.#log = log;
  }

  start(): void {
    const forget = (): void => {
      this.#watched = undefined;
      this.#hasWork = true;
    };
    this.#context.store.follow({
      changed: (changes) => {
        if (changes.some(({ kind }) => kind === subscriptionKind)) forget();
      },
      reset: forget,
    });
    this.#next();
  }

  #next(): void {
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => {
        if (!this.#isStopped) this.#next();
      });
    }, lookMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
    await releaseLease(this.#context.store, leaseTable, this.#holder).catch(() => {});
  }

  async #look(): Promise<void> {
    try {
      const { store, services } = this.#context;
      if (!this.#hasWork) return;
      const watched = (this.#watched ??= await services.get(watchedAlerts).read());
      const open = await this.#openAccounts();
      this.#hasWork = watched.size > 0 || open.size > 0;
      if (!this.#hasWork) return;
      const taken = await takeLease(store, leaseTable, this.#holder, leaseMs);
      if (taken === undefined) return;
      const readers = readersOf(this.#context);
      for (const accountId of new Set([...watched.keys(), ...open])) {
        if (this.#isStopped) return;
        await this.#lookAt(accountId, watched.get(accountId) ?? new Set(), readers);
        await nextTurn();
      }
      this.#isFaulty = false;
    } catch (error) {
      if (!this.#isFaulty && !this.#isStopped)
        this.#log.error({ err: error }, 'alerts cannot be written at the moment; trying again');
      this.#isFaulty = true;
    }
  }

  async #openAccounts(): Promise<ReadonlySet<string>> {
    const rows = await this.#context.store.queries.all('SELECT DISTINCT account_id FROM alerts');
    return new Set(rows.map(([accountId]) => String(accountId)));
  }

  async #lookAt(
    accountId: string,
    kinds: ReadonlySet<AlertKind>,
    readers: ReadonlyMap<AlertKind, ReadFacts>,
  ): Promise<void> {
    const { store } = this.#context;
    const open = await this.#open(accountId);
    const ended: Change[][] = [];
    const begun: Change[][] = [];
    for (const [kind, table] of alertTables) {
      const alerts = open.get(kind) ?? new Map<string, Alert>();
      const read = kinds.has(kind) ? readers.get(kind) : undefined;
      const facts = (await read?.(accountId, (about) => alerts.has(about))) ?? [];
      const now = new Map(facts.slice(0, mostFacts).map((fact) => [fact.about, fact]));
      const changes: Change[] = [];
      begun.push(changes);
      for (const fact of now.values()) {
        const alert = alerts.get(fact.about);
        if (alert === undefined)
          changes.push((transaction) => table.insert(transaction, { ...table.newDocument(accountId), ...fact }));
        else if (hasChanged(alert, fact))
          changes.push((transaction) => table.update(transaction, alert, { ...alert, ...fact }));
      }
      const over = [...alerts.values()].filter(({ about }) => !now.has(about));
      ended.push(over.map((alert) => (transaction) => table.delete(transaction, alert)));
    }
    const changes = firstInTurn([...ended, ...begun], changesAtOnce);
    if (changes.length === 0) return;
    await store.write({ id: author, accountId, operationId: newOperationId() }, async (transaction) => {
      if (!(await holdsLease(transaction, leaseTable, this.#holder))) throw new Error('another process writes alerts');
      for (const change of changes) await change(transaction);
    });
  }

  async #open(accountId: string): Promise<ReadonlyMap<string, ReadonlyMap<string, Alert>>> {
    const sql = 'SELECT kind, document FROM alerts WHERE account_id = $1 ORDER BY id';
    const rows = await this.#context.store.queries.all(sql, [accountId]);
    const open = new Map<string, Map<string, Alert>>();
    for (const [kind, document] of rows) {
      // Only this class writes the table.
      const alert = JSON.parse(String(document)) as Alert;
      const ofKind = open.get(String(kind)) ?? new Map<string, Alert>();
      open.set(String(kind), ofKind.set(alert.about, alert));
    }
    return open;
  }
}

/** Worth another event. That the same goes on, with another visitor or other counts, is not. */
function hasChanged({ facts: before }: Alert, { facts: now }: Fact): boolean {
  return before['state'] !== now['state'] || before['has_ended'] !== now['has_ended'];
}
