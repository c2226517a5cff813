import type { Client } from 'acme-client';

import { newId, toTimestamp } from '../lib/ids.ts';
import { hasElapsed } from '../lib/elapsed.ts';
import { openAuthority, replaceRejectedAccount } from './authority.ts';
import type { AuthoritySettings } from './authority.ts';
import { sentence } from './authority-requests.ts';
import { authorityRefused, orderFaulted, ordersUsedUp, shareUsedUp } from './errors.ts';
import { jobsLeftBehind } from './left-behind.ts';
import { carryOutOrder } from './order.ts';
import type { OrderParts } from './order.ts';
import { AuthorityFailure, OrderFault, OrderGoneError, RejectedError } from './order-fault.ts';
import { dueJobs } from './plan.ts';
import type { DueJob, PlanInput } from './plan.ts';
import { followRenewalInfo } from './renewal-times.ts';
import { retryWaitMs } from './schedule.ts';
import { divideOrders, keptForRenewals } from './shares.ts';
import type { HeldJob, ShareInput } from './shares.ts';
import { LeaseLostError } from './storage.ts';
import type { Job } from './storage.ts';

interface ManagerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ManagerOptions extends Pick<OrderParts, 'storage' | 'hook' | 'challenges'> {
  readonly ordersPerHour: number;
  /** Time for which certificates of names that are gone are kept after their end. */
  readonly keepMs: number;
  readonly authority: AuthoritySettings;
  /** The names, certificates and accounts of now. */
  readonly look: () => Promise<Pick<PlanInput, 'wanted' | 'certificates'> & Pick<ShareInput, 'accounts'>>;
  /** True for errors of the storage that pass by themselves: they say nothing about a name or an authority. */
  readonly isOutage: (error: unknown) => boolean;
  readonly log: ManagerLog;
  readonly onOrder: (outcome: 'issued' | 'failed' | 'held') => void;
}

/** Far longer than a renewal of the lease takes; a process that is silent for so long has lost it. */
const leaseMs = 30_000;
const renewEveryMs = 10_000;
/** Interval at which a process looks for work, and for a lease that nobody holds. */
const lookMs = 5_000;
const hourMs = 3_600_000;
/** Names of one account whose status says that they wait for a bound on orders. */
const toldOfBound = 100;

/** Gets and renews certificates while this process holds the lease; one process of the installation does at a time. */
export class AcmeManager implements AsyncDisposable {
  readonly #options: ManagerOptions;
  readonly #holder = newId('acme');
  readonly #stop = new AbortController();
  #wake = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #client: Client | undefined;
  /** Accounts of which a name waits for a bound on orders. */
  #heldAccounts: ReadonlySet<string> = new Set();
  #hourlyMs = 0;

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Looks for work soon: names or certificates have changed. */
  look(): void {
    this.#wake.resolve();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake.resolve();
    await this.#running;
    await this.#options.storage.releaseLease(this.#holder).catch(() => {});
  }

  async #run(): Promise<void> {
    const { storage, log } = this.#options;
    while (!this.#stop.signal.aborted) {
      this.#wake = Promise.withResolvers();
      try {
        const lease = await storage.takeLease(this.#holder, leaseMs);
        // Nobody works on them: a process that held the lease left them behind.
        if (lease === 'taken') await storage.withdraw(this.#holder, undefined);
        if (lease !== undefined) {
          await this.#doHourly();
          while (await this.#doNext());
        }
      } catch (error) {
        if (!(error instanceof LeaseLostError))
          log.error({ err: error }, 'public certificates could not be checked and renewed');
      }
      await this.#pause();
    }
  }

  async #doHourly(): Promise<void> {
    const { storage, look, authority, log } = this.#options;
    const nowMs = Date.now();
    const { signal } = this.#stop;
    if (signal.aborted || !hasElapsed(this.#hourlyMs, hourMs, nowMs)) return;
    this.#hourlyMs = nowMs;
    const seen = await look();
    await this.#tidy(seen, nowMs);
    const { directory } = authority;
    const { certificates } = seen;
    await this.#underLease(() =>
      followRenewalInfo({ storage, holder: this.#holder, directory, certificates, log, signal }, nowMs),
    );
  }

  /** Deletes what is left of names that are gone. */
  async #tidy(seen: Awaited<ReturnType<ManagerOptions['look']>>, nowMs: number): Promise<void> {
    const { storage, keepMs, log } = this.#options;
    const jobs = await storage.loadJobs();
    for (const job of jobsLeftBehind({ ...seen, jobs, nowMs, keepMs })) {
      if (!(await storage.forget(this.#holder, job, nowMs - keepMs))) continue;
      const { hostname: name, certificateId } = job;
      log.info({ name, certificateId }, 'nothing has this host name any more: its expired certificate was deleted');
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

  /** False if nothing is due. */
  async #doNext(): Promise<boolean> {
    if (this.#stop.signal.aborted) return false;
    const { storage, look, hook, ordersPerHour } = this.#options;
    const { accounts, ...seen } = await look();
    const jobs = await storage.loadJobs();
    const nowMs = Date.now();
    const due = await dueJobs({ ...seen, jobs, nowMs, hasDns: hook !== undefined });
    const orders = due.length === 0 ? [] : await storage.loadOrders(nowMs - hourMs);
    const { next, held } = divideOrders({ due, orders, ordersPerHour, accounts });
    await this.#tellHeld(held, nowMs);
    if (next === undefined) return false;
    await this.#attempt(next);
    return true;
  }

  /** Tells of names that wait for a bound on orders: in their status, and in the log once for each account. */
  async #tellHeld(held: readonly HeldJob[], nowMs: number): Promise<void> {
    const { storage, ordersPerHour, log, onOrder } = this.#options;
    const known = this.#heldAccounts;
    this.#heldAccounts = new Set(held.map(({ job }) => job.accountId));
    const values = { limit: ordersPerHour, kept: keptForRenewals(ordersPerHour) };
    const faults = { all: new OrderFault(ordersUsedUp, values), share: new OrderFault(shareUsedUp, values) };
    const startedAt = toTimestamp(nowMs);
    for (const [accountId, waiting] of Map.groupBy(held, ({ job }) => job.accountId)) {
      if (!known.has(accountId)) {
        const { code, message } = faults[waiting[0]?.by ?? 'all'];
        log.warn({ accountId, waiting: waiting.length, code }, message);
      }
      for (const { job, by } of waiting.slice(0, toldOfBound)) {
        const { code, message } = faults[by];
        if (job.error?.code === code) continue;
        await storage.saveJob(this.#holder, { startedAt, ...job, error: { code, message } });
        onOrder('held');
      }
    }
  }

  async #attempt(due: DueJob): Promise<void> {
    const { storage, isOutage, log, onOrder } = this.#options;
    const { error: _error, retriesAt: _retriesAt, ...rest } = due.job;
    const job: Job = { ...rest, startedAt: toTimestamp(Date.now()) };
    const name = job.hostname;
    await storage.saveJob(this.#holder, job);
    log.info(
      { name },
      job.orderUrl === undefined ? 'ordering a certificate' : 'going on with the order of a certificate',
    );
    try {
      const certificateId = await this.#underLease((signal) => this.#carryOut(job, due.isRenewal, signal));
      onOrder('issued');
      log.info({ name, certificateId }, 'a certificate was issued and is in force');
    } catch (error) {
      if (error instanceof LeaseLostError || isOutage(error) || this.#stop.signal.aborted) throw error;
      if (error instanceof OrderGoneError) await storage.saveJob(this.#holder, withoutOrder(job));
      else await this.#fail(job, error);
    }
  }

  async #carryOut(job: Job, isRenewal: boolean, signal: AbortSignal): Promise<string> {
    const { storage, authority } = this.#options;
    this.#client ??= await openAuthority(storage, this.#holder, authority);
    const parts = { ...this.#options, holder: this.#holder, isRenewal, signal };
    try {
      return await carryOutOrder({ ...parts, client: this.#client }, job);
    } catch (error) {
      const mayBeAccount = error instanceof RejectedError || error instanceof AuthorityFailure;
      if (!mayBeAccount || !(await this.#replaceAccount(this.#client))) throw error;
    }
    return carryOutOrder({ ...parts, client: this.#client }, withoutOrder(job));
  }

  /** False if the account is in order. */
  async #replaceAccount(client: Client): Promise<boolean> {
    const { storage, authority, log } = this.#options;
    const replaced = await replaceRejectedAccount(client, storage, this.#holder, authority);
    if (replaced === undefined) return false;
    this.#client = replaced.client;
    const { reason } = replaced;
    if (reason === undefined) return true;
    const { directory } = authority;
    log.warn({ directory, reason }, 'the authority did not accept its account any more; a new one was made');
    // Orders belong to an account.
    const begun = (await storage.loadJobs()).filter(({ orderUrl }) => orderUrl !== undefined);
    for (const job of begun) await storage.saveJob(this.#holder, withoutOrder(job));
    return true;
  }

  async #fail(attempted: Job, error: unknown): Promise<void> {
    const { storage, log, onOrder } = this.#options;
    // The order may have begun meanwhile.
    const isSame = (each: Job) => each.accountId === attempted.accountId && each.hostname === attempted.hostname;
    const job = (await storage.loadJobs()).find(isSame) ?? attempted;
    const name = job.hostname;
    const fault = toFault(error, name);
    const failures = job.failures + 1;
    const waitMs = retryWaitMs(failures, fault.askedWaitMs, Math.random());
    const retriesAt = toTimestamp(Date.now() + waitMs);
    const { code, message } = fault;
    await storage.saveJob(this.#holder, { ...job, failures, retriesAt, error: { code, message } });
    onOrder('failed');
    const cause = error === fault ? {} : { err: error };
    log.warn({ name, failures, retriesAt, ...cause }, `no certificate: ${message}`);
  }

  /** Renews the lease while the work goes on, and breaks the work off once the lease is lost. */
  async #underLease<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { storage } = this.#options;
    const lost = new AbortController();
    const timer = setInterval(() => {
      const renewal = storage.takeLease(this.#holder, leaseMs);
      renewal.then(
        (lease) => {
          if (lease === undefined) lost.abort(new LeaseLostError());
        },
        // The database may be back before the lease ends; every write checks it.
        () => {},
      );
    }, renewEveryMs);
    try {
      return await work(AbortSignal.any([this.#stop.signal, lost.signal]));
    } catch (error) {
      throw lost.signal.aborted ? new LeaseLostError() : error;
    } finally {
      clearInterval(timer);
    }
  }
}

function toFault(error: unknown, name: string): OrderFault {
  if (error instanceof OrderFault) return error;
  if (error instanceof RejectedError)
    return new OrderFault(authorityRefused, { name, reason: sentence(error.message) });
  return new OrderFault(orderFaulted, { name });
}

function withoutOrder({ orderUrl: _orderUrl, ...job }: Job): Job {
  return job;
}
