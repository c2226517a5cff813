import type { GatewayLog, RateReport } from '../engine.ts';
import { ratePeerUnreachable } from '../errors.ts';
import { RateCounts } from './rate-counts.ts';
import { readRates, writeRates } from './rate-message.ts';
import { UntoldRates } from './untold-rates.ts';

/** A way to tell another gateway something. */
export interface RateSender {
  /** False while the other one does not take what was sent before. */
  readonly isReady: boolean;
  send(message: object): void;
}

/** The other gateways of the installation. */
export interface RatePeers {
  ids(): readonly string[];
  /** Rejects where the other one cannot be reached; else `closed` is called when nothing can be sent any more. */
  open(id: string, closed: () => void): Promise<RateSender>;
}

export interface RateObserver {
  /** So many requests of this process have been told to another, heard from another, or are not going to be told. */
  ratesShared(way: 'told' | 'heard' | 'dropped', requests: number): void;
}

export interface SharedRatesOptions {
  readonly log: GatewayLog;
  readonly observer: RateObserver;
  /** Milliseconds since 1970, for windows. */
  readonly now?: () => number;
  /** Milliseconds that no change of the clock moves, for pauses. */
  readonly elapsed?: () => number;
}

/** Delay after which others are told. */
const tellMs = 100;
/** Keys that are kept of what was let in here. */
const keysOfOwn = 200_000;
/** Keys in one message. */
const keysOfMessage = 5_000;
/** Pause before a gateway that could not be reached is tried again, at first and at most. */
const [firstPauseMs, longestPauseMs] = [500, 8_000];
/** Failures in a row, some seconds, after which it is logged: one that has just started, or just ended, is no fault. */
const loggedFailures = 5;
/** Processes of which it is remembered that they have been told everything. */
const rememberedPeers = 1_000;

/** A way that is closed sooner after it was opened is a failure: an older version refuses it so. */
const provenMs = 1_000;

/** Times are those of `elapsed`. */
interface Peer {
  readonly id: string;
  readonly untold: UntoldRates;
  /** Undefined where the gateway has to be reached first. */
  sender: RateSender | 'opening' | undefined;
  openedMs: number;
  failures: number;
  /** Not tried before this time. */
  pausedUntilMs: number;
}

/**
 * Tells the other gateways of the installation what rate limits have let in here, and counts what they tell. No request
 * waits for it: where a gateway cannot be reached, limits hold as far as is known.
 */
export class SharedRates implements Disposable {
  readonly #log: GatewayLog;
  readonly #observer: RateObserver;
  readonly #now: () => number;
  readonly #elapsed: () => number;
  /** Counts of what this gateway has let in, for gateways that start later. */
  readonly #own: RateCounts;
  readonly #met = new Set<string>();
  readonly #known = new Map<string, Peer>();
  #peers: RatePeers | undefined;
  #count: (reports: readonly RateReport[]) => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Infinity;

  constructor({ log, observer, now = Date.now, elapsed = () => performance.now() }: SharedRatesOptions) {
    this.#log = log;
    this.#observer = observer;
    this.#now = now;
    this.#elapsed = elapsed;
    this.#own = new RateCounts({ ratesCounted: () => {} }, { now, mostKeys: keysOfOwn });
  }

  /** Gateways that could not be told at the last attempt. */
  get unreachable(): number {
    return [...this.#known.values()].filter(({ failures }) => failures > 0).length;
  }

  /** Shares from now on. `count` takes what others have let in. */
  open(peers: RatePeers, count: (reports: readonly RateReport[]) => void): void {
    this.#peers = peers;
    this.#count = count;
    this.follow();
  }

  /** Takes notice that other gateways have come, gone or changed. */
  follow(): void {
    const ids = new Set(this.#peers?.ids());
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    for (const id of ids) if (!this.#known.has(id)) this.#meet(id);
    // One that could not be reached may have another address now.
    for (const peer of this.#known.values()) peer.pausedUntilMs = 0;
    this.#schedule();
  }

  /** Takes what was counted here. */
  ratesCounted(reports: readonly RateReport[]): void {
    const counted = reports.filter((report) => report.counted.length > 0);
    if (counted.length === 0) return;
    this.#own.add(counted);
    for (const peer of this.#known.values()) this.#add(peer, counted);
    this.#schedule();
  }

  /** Takes a message of another gateway; throws over one that cannot be read. */
  hear(message: unknown): void {
    const reports = readRates(message, this.#now());
    if (reports === undefined) return;
    this.#count(reports);
    this.#observer.ratesShared('heard', requestsOf(reports));
  }

  /** Tells all others what they have not been told. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#dueMs = Infinity;
    for (const peer of this.#known.values()) {
      peer.untold.forgetOld(this.#now());
      if (!peer.untold.isEmpty) this.#tellOne(peer);
    }
    this.#schedule();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#peers = undefined;
    this.#known.clear();
    this.#own[Symbol.dispose]();
  }

  #meet(id: string): void {
    const untold = new UntoldRates();
    const peer: Peer = { id, untold, sender: undefined, openedMs: 0, failures: 0, pausedUntilMs: 0 };
    this.#known.set(id, peer);
    // The same process, which was forgotten for a while, has been told.
    if (this.#met.has(id)) return;
    this.#met.add(id);
    const [oldest = id] = this.#met;
    if (this.#met.size > rememberedPeers) this.#met.delete(oldest);
    this.#add(peer, this.#own.all());
  }

  #add({ untold }: Peer, reports: readonly RateReport[]): void {
    const dropped = untold.add(reports);
    if (dropped > 0) this.#observer.ratesShared('dropped', dropped);
  }

  #tellOne(peer: Peer): void {
    const { sender, untold } = peer;
    const nowMs = this.#elapsed();
    if (sender === undefined && nowMs >= peer.pausedUntilMs) void this.#reach(peer);
    if (sender === undefined || sender === 'opening' || !sender.isReady) return;
    if (peer.failures > 0 && nowMs - peer.openedMs > provenMs) this.#recovered(peer);
    // One time for both: a window that is of use to the one is to the other.
    const now = this.#now();
    const reports = untold.take(keysOfMessage, now);
    sender.send(writeRates(reports, now));
    this.#observer.ratesShared('told', requestsOf(reports));
  }

  async #reach(peer: Peer): Promise<void> {
    peer.sender = 'opening';
    let isClosed = false;
    try {
      const sender = await this.#peers?.open(peer.id, () => {
        isClosed = true;
        const isProven = this.#elapsed() - peer.openedMs > provenMs;
        if (typeof peer.sender === 'object') this.#lost(peer, isProven ? undefined : new Error('it was refused'));
      });
      if (sender === undefined || isClosed) throw new Error('it was refused');
      peer.openedMs = this.#elapsed();
      peer.sender = sender;
      if (!peer.untold.isEmpty) this.#tellOne(peer);
    } catch (error) {
      this.#lost(peer, error);
    }
    this.#schedule();
  }

  /** Without an error the way was open for a while: it is opened anew. */
  #lost(peer: Peer, error: unknown): void {
    peer.sender = undefined;
    peer.pausedUntilMs = this.#elapsed() + Math.min(longestPauseMs, firstPauseMs * 2 ** peer.failures);
    if (error === undefined) return;
    peer.failures += 1;
    if (peer.failures !== loggedFailures || this.#known.get(peer.id) !== peer) return;
    const { code, message } = ratePeerUnreachable;
    this.#log.warn({ process: peer.id, code, err: error }, message);
  }

  #recovered(peer: Peer): void {
    if (peer.failures >= loggedFailures)
      this.#log.info({ process: peer.id }, 'the other gateway counts rate limits together with this one again');
    peer.failures = 0;
  }

  /** Looks again soon while somebody can be told something, and later while somebody is only waited for. */
  #schedule(): void {
    if (this.#peers === undefined) return;
    const nowMs = this.#elapsed();
    let dueMs = Infinity;
    for (const { untold, pausedUntilMs } of this.#known.values())
      if (!untold.isEmpty) dueMs = Math.min(dueMs, Math.max(nowMs + tellMs, pausedUntilMs));
    if (dueMs >= this.#dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(() => this.tell(), dueMs - nowMs).unref();
  }
}

function requestsOf(reports: readonly RateReport[]): number {
  let requests = 0;
  for (const { counted } of reports) for (const [, each] of counted) requests += each;
  return requests;
}
