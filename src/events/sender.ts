import { newId } from '../lib/ids.ts';
import { FairTurns } from '../lib/fair-turns.ts';
import { nextTurn } from '../lib/next-turn.ts';
import type { Send } from './targets.ts';
import { attemptMs } from './targets.ts';
import { LeaseLostError } from './storage.ts';
import type { EventStorage } from './storage.ts';
import { DestinationWorker } from './worker.ts';
import type { WorkerParts } from './worker.ts';

export interface SenderOptions {
  readonly storage: EventStorage;
  readonly send: Send;
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** What the sender is told of a change. */
interface SeenChange {
  readonly accountId: string;
  readonly kind: string;
  readonly id: string;
}

/** Far longer than a renewal takes; a process that is silent for so long has lost the lease. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
/** Interval at which a process looks for a lease that nobody holds. */
const lookMs = 5_000;
/** Attempts at once: a receiver that hangs holds one of them, and each account has a share. */
const turns = { atOnce: 200, ofOwner: 20, waiting: 10_000 };
/** Reads of the database at once: an account may have hundreds of subscriptions, and each of them looks at every change. */
const readTurns = { atOnce: 2, ofOwner: 1, waiting: Infinity };
/** Questions to gateways at once: one that hangs must not hold up reads of the database. */
const gatewayTurns = { atOnce: 16, ofOwner: 1, waiting: Infinity };
/** Kinds of changes after which something else is sent, or to somewhere else. */
const [destinationKind, subscriptionKind] = ['event_destination', 'event_subscription'];

/** Sends events while this process holds the lease; one process of the installation does at a time. */
export class EventSender implements AsyncDisposable {
  readonly #options: SenderOptions;
  readonly #holder = newId('sender');
  readonly #stop = new AbortController();
  readonly #turns = new FairTurns(turns);
  readonly #readTurns = new FairTurns(readTurns);
  readonly #gatewayTurns = new FairTurns(gatewayTurns);
  readonly #byAccount = new Map<string, Map<string, DestinationWorker>>();
  readonly #ending = new Set<Promise<void>>();
  /** Accounts whose subscriptions have changed. */
  readonly #changed = new Set<string>();
  #lease: AbortController | undefined;
  #leasedMs = 0;
  #faultMs = -Infinity;
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Called with every change. */
  changed(changes: readonly SeenChange[]): void {
    for (const { accountId, kind, id } of changes) {
      if (kind === destinationKind || kind === subscriptionKind) {
        this.#changed.add(accountId);
        this.#wake.resolve();
      }
      for (const [destinationId, worker] of this.#byAccount.get(accountId) ?? []) {
        const isOfIt = kind === destinationKind && id === destinationId;
        if (isOfIt || kind === subscriptionKind) worker.restart(isOfIt);
        else worker.look();
      }
    }
  }

  /** Anything may have changed. */
  reset(): void {
    this.#drop();
    this.#wake.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
    this.#drop();
    await Promise.all(this.#ending);
    await this.#options.storage.releaseLease(this.#holder).catch(() => {});
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = Promise.withResolvers();
      try {
        await this.#keepLease();
        await this.#followChanged();
      } catch (error) {
        this.#tellFault(error);
      }
      if (!this.#holds()) this.#drop();
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const timer = setTimeout(() => {
      this.#wake.resolve();
    }, lookMs);
    if (this.#stop.signal.aborted) this.#wake.resolve();
    await this.#wake.promise;
    clearTimeout(timer);
  }

  /** An attempt that begins now is over before the lease is. */
  #holds(): boolean {
    return this.#lease !== undefined && performance.now() - this.#leasedMs < leaseMs - attemptMs;
  }

  async #keepLease(): Promise<void> {
    const { storage } = this.#options;
    const nowMs = performance.now();
    if (this.#lease !== undefined && nowMs - this.#leasedMs < renewEveryMs) return;
    if (this.#lease === undefined && !(await storage.hasDeliveries())) return;
    // Workers of a former lease would write beside those of the next one.
    if (this.#lease === undefined) await Promise.all(this.#ending);
    const taken = await storage.takeLease(this.#holder, leaseMs);
    if (taken !== 'renewed') this.#drop();
    if (taken === undefined) return;
    this.#leasedMs = nowMs;
    if (this.#lease !== undefined) return;
    this.#lease = new AbortController();
    this.#changed.clear();
    try {
      await this.#findDestinations();
    } catch (error) {
      // Some would be left out for as long as the lease is renewed.
      this.#drop();
      throw error;
    }
  }

  async #followChanged(): Promise<void> {
    for (const accountId of this.#changed) {
      // Another change may come meanwhile.
      this.#changed.delete(accountId);
      const found = await this.#findDestinations(accountId).catch((error: unknown) => {
        this.#changed.add(accountId);
        throw error;
      });
      const workers = this.#byAccount.get(accountId);
      for (const [id, worker] of workers ?? []) {
        if (found.has(id)) continue;
        workers?.delete(id);
        this.#end(worker);
      }
      if (workers?.size === 0) this.#byAccount.delete(accountId);
    }
  }

  /** Returns the ids of those that a subscription of the account names. */
  async #findDestinations(ofAccount?: string): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const lease = this.#lease;
    if (lease === undefined) return found;
    for (let afterId: string | undefined = ''; afterId !== undefined;) {
      const some = await this.#options.storage.destinations(afterId, ofAccount);
      if (lease.signal.aborted) return found;
      for (const { id, accountId } of some) {
        this.#workerOf(accountId, id, lease.signal).look();
        if (ofAccount !== undefined) found.add(id);
      }
      afterId = some.at(-1)?.id;
    }
    return found;
  }

  #workerOf(accountId: string, id: string, signal: AbortSignal): DestinationWorker {
    const workers = this.#byAccount.get(accountId) ?? new Map<string, DestinationWorker>();
    this.#byAccount.set(accountId, workers);
    const known = workers.get(id);
    if (known !== undefined) return known;
    const worker = new DestinationWorker(id, this.#partsOf(accountId, signal));
    workers.set(id, worker);
    return worker;
  }

  #partsOf(accountId: string, signal: AbortSignal): WorkerParts {
    const { storage, send, log } = this.#options;
    const inTurn = <Result>(read: () => Promise<Result>) =>
      this.#readTurns.run(accountId, async () => {
        // Reads of SQLite are over at once: a long row of them would hold the turn of the event loop.
        await nextTurn();
        return read();
      });
    return {
      storage: {
        load: (id) => inTurn(() => storage.load(id)),
        next: (delivery, ...given) => {
          const next = () => storage.next(delivery, ...given);
          return delivery.source === '' ? inTurn(next) : this.#gatewayTurns.run(accountId, next);
        },
        againOf: (...given) => inTurn(() => storage.againOf(...given)),
        read: (delivery, place) => {
          const read = () => storage.read(delivery, place);
          return delivery.source === '' ? inTurn(read) : this.#gatewayTurns.run(accountId, read);
        },
        save: (...given) => storage.save(...given),
      },
      holder: this.#holder,
      signal,
      send: (target, read, ended) =>
        this.#turns.run(accountId, async () => {
          if (!this.#holds()) this.#drop();
          ended.throwIfAborted();
          const [first, ...others] = await read();
          ended.throwIfAborted();
          // The log was shortened meanwhile.
          return first === undefined ? { kind: 'sent' } : send(accountId, target, [first, ...others], ended);
        }),
      warn: (fields, message) => {
        log.warn(fields, message);
      },
      onFault: (error) => {
        if (error instanceof LeaseLostError) this.#drop();
        else if (!signal.aborted) this.#tellFault(error);
      },
    };
  }

  /** Many workers meet the same fault, each of them once in a second. */
  #tellFault(error: unknown): void {
    if (performance.now() - this.#faultMs < lookMs) return;
    this.#faultMs = performance.now();
    this.#options.log.error({ err: error }, 'events cannot be sent at the moment; trying again');
  }

  /** Ends all that is under way: the next look begins afresh. */
  #drop(): void {
    this.#lease?.abort();
    this.#lease = undefined;
    for (const workers of this.#byAccount.values()) for (const worker of workers.values()) this.#end(worker);
    this.#byAccount.clear();
  }

  #end(worker: DestinationWorker): void {
    worker.stop();
    const ending = worker.done.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}
