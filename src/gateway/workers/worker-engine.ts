import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Awaitable } from '../../lib/awaitable.ts';
import { SharedCache } from '../../lib/shared-cache.ts';
import { Turns } from '../../lib/turns.ts';
import { openNothing } from '../../links/stream-request.ts';
import type { OpenStream } from '../../links/stream-request.ts';
import { noKeptLogins } from '../../sign-in/kept-logins.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import type { SnapshotUpdate } from '../../snapshot/contract.ts';
import { openTemporaryFile } from '../../snapshot/temporary-file.ts';
import type { SnapshotFile } from '../../snapshot/snapshot-file.ts';
import type { GatewayBounds } from '../bounds/bound.ts';
import { RateCounts } from '../bounds/rate-counts.ts';
import type {
  Engine,
  GatewayLog,
  InspectionTerms,
  RateReport,
  ReplayOutcome,
  ReplayRequest,
  TrafficObserver,
  WrongPassword,
} from '../engine.ts';
import { HealthBoard } from '../health/health-board.ts';
import type { HealthObserver } from '../health/health-board.ts';
import { endedHereLimit } from '../sign-in/visitor-keys.ts';
import type { EndedHere } from '../sign-in/visitor-keys.ts';
import { Arrivals } from '../upstream/arrivals.ts';
import { OwnAddresses } from '../upstream/own-addresses.ts';
import { UpstreamSockets } from '../upstream/upstream-sockets.ts';
import type { Arrival } from '../upstream/upstream-sockets.ts';
import { Balance } from './balance.ts';
import type { WorkerLoad } from './balance.ts';
import { EventRelay } from './event-relay.ts';
import type { EngineCall, Question, SingleEvent, WorkerStart } from './messages.ts';
import type { WorkerPlan } from './plan-workers.ts';
import { Restarts } from './restarts.ts';
import { WorkerLinks } from './worker-links.ts';
import { WorkerGone, WorkerProcess } from './worker-process.ts';
import type { WorkerSettings } from './worker-process.ts';

export interface WorkerEngineParts extends WorkerStart {
  readonly workers: WorkerPlan;
  /** The bounds of each worker, where there are so many and it is this one of them, from 0; default: those of the options. */
  readonly boundsOf?: (workers: number, index: number) => GatewayBounds;
  /** The way to agents; without it, what they serve is offline. */
  readonly openStream?: OpenStream;
  /** As in `NodeEngineParts`. */
  readonly logins?: KeptLogins | undefined;
  /** Keeps the snapshot in force, which new workers read; default: one in a temporary folder. */
  readonly file?: SnapshotFile | undefined;
  readonly observer: TrafficObserver;
  /** Told what is decided about addresses of backends. */
  readonly health?: HealthObserver | undefined;
  readonly log: GatewayLog;
}

export interface WorkersState {
  /** Workers that carry traffic now, with what they have reported last, by their numbers. */
  readonly loads: ReadonlyMap<number, WorkerLoad | undefined>;
  /** Workers that have ended by themselves since the start. */
  readonly lost: number;
}

const lookMs = 1000;
/** Keys of rate limits that a new worker is told of. */
const keysOfNewWorker = 200_000;
/** Extra time that a worker has to answer after the limit of a drain. */
const drainGraceMs = 5000;

/** Resolves when the first workers can be given updates. */
export async function createWorkerEngine(parts: WorkerEngineParts): Promise<WorkerEngine> {
  const engine = new WorkerEngine(parts);
  await engine.start();
  return engine;
}

/**
 * An engine over several processes that share their listeners.
 *
 * An update is built in all workers before it is put in force in any, so that one which cannot be built changes
 * nothing anywhere. The workers then swap one by one within moments of each other, and `apply` resolves after the last.
 * A worker that dies over an update does not hold it up: its successor starts with the snapshot then in force.
 */
export class WorkerEngine implements Engine {
  readonly #log: GatewayLog;
  readonly #settings: WorkerSettings;
  readonly #relay: EventRelay;
  readonly #links: WorkerLinks;
  readonly #file: SnapshotFile;
  readonly #ownFile: AsyncDisposable | undefined;
  #version = 0;
  readonly #live = new Set<WorkerProcess>();
  /** The live ones and those that are being brought up, which have sockets as soon as they commit. */
  readonly #all = new Set<WorkerProcess>();
  readonly #ending = new AbortController();
  /** Updates and new workers wait for each other. */
  readonly #turns = new Turns();
  /** For listeners of this process, such as the API: it has no sockets to upstreams of its own. */
  readonly #arrivals = new Arrivals(new UpstreamSockets(), new OwnAddresses(), (arrival) => this.#wasMade(arrival));
  readonly #plan: WorkerPlan;
  readonly #boundsOf: (workers: number, index: number) => GatewayBounds;
  readonly #balance: Balance<WorkerProcess>;
  readonly #health: HealthBoard;
  /** Counts of rate limits in all workers and gateways, for workers that start later. */
  readonly #rates = new RateCounts({ ratesCounted: ignore }, { mostKeys: keysOfNewWorker });
  /** Sign-outs that the snapshot may not have yet, for workers that start later. */
  readonly #ended = new SharedCache<true>(endedHereLimit);
  /** For workers that start later. */
  #inspected: readonly InspectionTerms[] = [];
  /** The worker that makes the active checks. */
  #checking: WorkerProcess | undefined;
  #looking: NodeJS.Timeout | undefined;
  readonly #restarts = new Restarts();
  #lost = 0;
  /** Workers that are being added, or started in place of others. */
  #coming = 0;

  constructor(parts: WorkerEngineParts) {
    const { observer, log, options, localCa, errorPrefix, openStream = openNothing, workers, boundsOf } = parts;
    const { logins = noKeptLogins } = parts;
    this.#log = log;
    if (parts.file === undefined) {
      const temporary = openTemporaryFile((error) => {
        log.error({ err: error }, 'the configuration in force could not be written for gateway workers to come');
      });
      this.#file = temporary.file;
      this.#ownFile = temporary;
    } else this.#file = parts.file;
    this.#plan = workers;
    this.#boundsOf = boundsOf ?? (() => options.bounds);
    this.#balance = new Balance(workers);
    this.#relay = new EventRelay(observer);
    this.#health = new HealthBoard((states) => void this.#tellAll(['setHealth', states]), parts.health);
    const noted: WorkerSettings['noted'] = (notes) => {
      this.#health.note(notes);
    };
    this.#links = new WorkerLinks({ openStream, unreadMib: options.bounds.linkUnreadMib, observer, log });
    const observed: WorkerSettings['observed'] = (worker, sent) => {
      this.#relay.relay(worker.number, sent);
      const { events } = sent;
      this.#tellPasswords(worker, events);
      this.#tellRates(worker, events);
    };
    const start = { options, localCa, ...(errorPrefix && { errorPrefix }) };
    const questioned: WorkerSettings['questioned'] = (asking, question) => void this.#answer(asking, question);
    const linked: WorkerSettings['linked'] = (worker, socket) => {
      this.#links.serve(worker, socket);
    };
    this.#settings = { start, log, logins: this.#tellingAll(logins), observed, noted, questioned, linked };
  }

  get version(): number {
    return this.#version;
  }

  get workers(): WorkersState {
    return { loads: new Map([...this.#live].map(({ number, load }) => [number, load])), lost: this.#lost };
  }

  /** Process ids of the workers that carry traffic now. */
  get pids(): readonly number[] {
    return [...this.#live].flatMap(({ pid }) => pid ?? []);
  }

  async start(): Promise<void> {
    const started = await Promise.allSettled(Array.from({ length: this.#plan.least }, () => this.#startOne()));
    const failed = started.find((result) => result.status === 'rejected');
    if (failed === undefined) {
      if (this.#plan.most > 1) this.#looking = setInterval(() => void this.#look(), lookMs).unref();
      return;
    }
    await this.drain(0);
    throw failed.reason;
  }

  apply(update: SnapshotUpdate): Promise<void> {
    return this.#turns.run(async () => {
      this.#arrivals.prepare(update)();
      await this.#stage(update);
      this.#version = update.version;
      this.#file.follow(update);
      await this.#commit();
      this.#health.prepare(update)();
    });
  }

  /** Clients are those of the workers. */
  get clientCount(): number {
    return 0;
  }

  isOurs(arrived: Socket, port: number): Awaitable<boolean> {
    return this.#arrivals.isOurs(arrived, port);
  }

  countRates(reports: readonly RateReport[]): void {
    this.#countRates(reports);
  }

  /** By any of the workers: they serve the same. */
  async replay(request: ReplayRequest): Promise<ReplayOutcome> {
    const [worker] = this.#live;
    const reply = await worker?.ask({ task: 'replay', request }).catch(nothing);
    return reply?.replayed ?? { state: 'gone' };
  }

  inspect(terms: readonly InspectionTerms[]): void {
    this.#inspected = terms;
    void this.#tellAll(['inspect', terms]);
  }

  async drain(limitMs: number): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#looking);
    const drained = [...this.#live].map(async (worker) => {
      await worker.ask({ task: 'drain', limitMs }, limitMs + drainGraceMs).catch(ignore);
      worker.kill();
      await worker.gone;
    });
    await Promise.all(drained);
    await this.#ownFile?.[Symbol.asyncDispose]();
    this.#rates[Symbol.dispose]();
    this.#links[Symbol.dispose]();
  }

  async #answer(asking: WorkerProcess, { question, arrival }: Question): Promise<void> {
    const madeByOthers = await this.#wasMade(arrival, asking);
    await asking.ask({ task: 'answer', question, madeByOthers }).catch(ignore);
  }

  /** A worker that is gone has taken its sockets along. */
  async #wasMade(arrival: Arrival, except?: WorkerProcess): Promise<boolean> {
    const others = [...this.#all].filter((worker) => worker !== except);
    const replies = await Promise.all(
      others.map((worker) => worker.ask({ task: 'made', arrival }).catch(() => undefined)),
    );
    return replies.some((reply) => reply?.made === true);
  }

  /** Visitors come to any worker: each counts the wrong passwords of all, those of others a moment later. */
  #tellPasswords(from: WorkerProcess, events: readonly SingleEvent[]): void {
    const wrong: WrongPassword[] = [];
    for (const event of events) if (event[0] === 'passwordRefused' && event[2] === 'checked') wrong.push(event[1]);
    if (wrong.length > 0) void this.#tellAll(['countPasswords', wrong], from);
  }

  /** As with passwords. What a worker has refused is of no use to the others. */
  #tellRates(from: WorkerProcess, events: readonly SingleEvent[]): void {
    const reports: RateReport[] = [];
    for (const event of events)
      if (event[0] === 'ratesCounted')
        for (const report of event[1]) if (report.counted.length > 0) reports.push(report);
    if (reports.length > 0) this.#countRates(reports, from);
  }

  #countRates(reports: readonly RateReport[], from?: WorkerProcess): void {
    this.#rates.add(reports);
    void this.#tellAll(['countRates', reports], from);
  }

  /** Whoever signs out at one worker has signed out at all, also while the database is away. */
  #tellingAll(logins: KeptLogins): KeptLogins {
    return {
      keep: (...login) => logins.keep(...login),
      claim: (claim) => logins.claim(claim),
      release: (...outcome) => logins.release(...outcome),
      leave: async (left) => {
        const ended: EndedHere = [left.accountId, left.id];
        this.#ended.set(...ended, true);
        await Promise.all([this.#tellAll(['endSessions', [ended]]), logins.leave(left)]);
      },
    };
  }

  async #stage(update: SnapshotUpdate): Promise<void> {
    const results = await this.#askAll({ task: 'stage', update });
    const refusal = results.find((error) => error !== undefined && !(error instanceof WorkerGone));
    if (refusal === undefined && (results.includes(undefined) || this.#ending.signal.aborted)) return;
    await this.#askAll({ task: 'abandon' });
    throw (
      refusal ?? new Error(`snapshot version ${update.version} cannot be put in force: no gateway worker is running`)
    );
  }

  /** Kills a worker that cannot commit what it has built: its successor starts with the update. During a drain there may be none left. */
  async #commit(): Promise<void> {
    const workers = [...this.#live];
    const results = await this.#askAll({ task: 'commit' });
    for (const [at, error] of results.entries()) if (error !== undefined) workers[at]?.kill();
    if (!results.includes(undefined) && !this.#ending.signal.aborted)
      throw results[0] ?? new Error('no gateway worker is running');
  }

  /** Returns the error of each worker, or undefined if it did the task. */
  #askAll(task: Parameters<WorkerProcess['ask']>[0]): Promise<readonly (Error | undefined)[]> {
    const asked = [...this.#live].map((worker) => worker.ask(task).then(nothing, asError));
    return Promise.all(asked);
  }

  async #startOne(): Promise<void> {
    const worker = await WorkerProcess.start(this.#settings);
    this.#all.add(worker);
    // At the same moment: what others count from now on it is told with them.
    const counted = this.#rates.all();
    if (counted.length > 0) void tell(worker, ['countRates', counted]);
    if (this.#inspected.length > 0) void tell(worker, ['inspect', this.#inspected]);
    const sessions = [...this.#ended.keys()];
    if (sessions.length > 0) void tell(worker, ['endSessions', sessions]);
    void worker.gone.then(() => this.#all.delete(worker));
    // Before it has sockets of its own: a worker that is alone does not ask whether another one made a connection.
    await this.#shareBounds();
    try {
      await this.#turns.run(() => this.#bringUp(worker));
    } catch (error) {
      worker.kill();
      throw error;
    }
    void this.#watch(worker);
  }

  async #watch(worker: WorkerProcess): Promise<void> {
    const startedMs = performance.now();
    const why = await worker.gone;
    this.#live.delete(worker);
    if (this.#checking === worker) this.#chooseChecking();
    this.#relay.forget(worker.number);
    if (this.#ending.signal.aborted) return;
    void this.#shareBounds();
    this.#lost++;
    const again = this.#restarts.ended(startedMs)
      ? 'gateway workers end again and again, soon after their start; starting another after a pause'
      : undefined;
    this.#log.error({ worker: worker.number, why }, again ?? 'a gateway worker is gone; starting another');
    this.#coming++;
    await this.#replace();
    this.#coming--;
  }

  async #bringUp(worker: WorkerProcess): Promise<void> {
    this.#ending.signal.throwIfAborted();
    if (this.#version > 0) {
      await this.#file.confirm();
      await worker.ask({ task: 'stageAll', ...this.#file.source() });
      await worker.ask({ task: 'commit' });
    }
    const states = this.#health.states();
    if (states.length > 0) await worker.ask({ task: 'tell', call: ['setHealth', states] });
    this.#live.add(worker);
    if (this.#checking === undefined) this.#chooseChecking();
    void this.#shareBounds();
  }

  /** The oldest makes the checks: it is the one that stays longest. */
  #chooseChecking(): void {
    [this.#checking] = this.#live;
    if (this.#checking !== undefined) void tell(this.#checking, ['runChecks']);
  }

  /** Tells all but one, also those that are being brought up, which may have been told what was so before. */
  #tellAll(call: EngineCall, except?: WorkerProcess): Promise<unknown> {
    return Promise.all([...this.#all].filter((worker) => worker !== except).map((worker) => tell(worker, call)));
  }

  /** A bound holds for all workers together: each has its part of it, and less when another joins. */
  async #shareBounds(): Promise<void> {
    const workers = [...this.#live];
    const isAlone = this.#all.size === 1;
    const told = workers.map((worker, index) =>
      worker.ask({ task: 'share', bounds: this.#boundsOf(workers.length, index), isAlone }),
    );
    // One that is gone needs none.
    await Promise.allSettled(told);
  }

  /** Starts another worker where there are too few, and moves clients where one has more than its share. */
  async #look(): Promise<void> {
    const loads = new Map<WorkerProcess, WorkerLoad>();
    for (const worker of this.#live) if (worker.load !== undefined) loads.set(worker, worker.load);
    const silent = this.#live.size - loads.size;
    const { add, relieve } = this.#balance.look(loads, silent + this.#coming);
    if (relieve !== undefined) void tell(relieve.worker, ['relieve', relieve.clients]);
    if (!add) return;
    this.#coming++;
    try {
      await this.#startOne();
      this.#log.info({ workers: this.#live.size }, 'a gateway worker was added: those before were busy');
    } catch (error) {
      if (!this.#ending.signal.aborted) this.#log.error({ err: error }, 'another gateway worker cannot be started');
    } finally {
      this.#coming--;
    }
  }

  async #replace(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      try {
        await sleep(this.#restarts.nextPauseMs(), undefined, { signal: this.#ending.signal });
        await this.#startOne();
        return;
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        const { tries } = this.#restarts;
        this.#log.error({ err: error, failures: tries }, 'a gateway worker cannot be started; trying again');
      }
    }
  }
}

/** A worker that is gone need not know. */
async function tell(worker: WorkerProcess, call: EngineCall): Promise<void> {
  await worker.ask({ task: 'tell', call }).catch(ignore);
}

function ignore(): void {}

function nothing(): undefined {}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
