import { FairQueue } from '../../lib/fair-queue.ts';
import { KeyCounts } from '../../lib/key-counts.ts';
import { KeySets } from '../../lib/key-sets.ts';
import type { ActiveCheckEntry, BackendEntry, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import type { HealthNote } from './health-board.ts';
import { probe } from './probe.ts';
import { formatAddress } from './target.ts';

/** Repeated check of one address: in the calendar, waiting or under way, never two of these. */
interface Check {
  readonly accountId: string;
  readonly target: UpstreamTarget;
  readonly address: string;
  readonly settings: ActiveCheckEntry;
  dueTick: number;
  streak: number;
  lastOk: boolean | undefined;
  notedAtMs: number;
}

interface Running {
  /** When it began, or, where it still waits for other accounts, when it began to wait. */
  startedMs: number;
  hasBegun: boolean;
  giveUp: () => void;
}

/** Checks that are made together cost less each; ticks that are longer than this gain nothing. */
const tickMs = 200;
/** Most checks that are under way; further ones wait for these. */
const mostRunning = 256;
/** Results that say nothing new are told this often. */
const renoteMs = 60_000;

/** Makes the active checks of all backends: one timer, and a calendar of its ticks. Accounts take turns. */
export class HealthChecker implements SnapshotFollower {
  readonly #connect: ConnectUpstream;
  readonly #report: (note: HealthNote) => void;
  readonly #now: () => number;
  readonly #checks = new Map<string, readonly Check[]>();
  /** Checks by the ticks at which they are due. */
  readonly #calendar = new KeySets<number, Check>();
  readonly #waiting = new FairQueue<Check>();
  readonly #running = new Map<Check, Running>();
  /** Numbers of checks under way. */
  readonly #runningOf = new KeyCounts<string>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #startedMs = 0;
  #isOn = false;

  constructor(
    connect: ConnectUpstream,
    report: (note: HealthNote) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#connect = connect;
    this.#report = report;
    this.#now = now;
  }

  /** Switches the checks on or off: one process of a gateway makes them. */
  run(isOn: boolean): void {
    if (this.#isOn === isOn) return;
    this.#isOn = isOn;
    if (isOn) this.#spread([...this.#checks.values()].flat());
    else this.#stop();
  }

  prepare(update: SnapshotUpdate): () => void {
    return () => {
      const coming = new Map(update.set.flatMap((entry) => (entry.kind === 'backend' ? [[entry.id, entry]] : [])));
      if (update.full) for (const id of this.#checks.keys()) if (!coming.has(id)) this.#remove(id);
      for (const { kind, id } of update.removed) if (kind === 'backend') this.#remove(id);
      const added = [...coming.values()].flatMap((entry) => this.#set(entry));
      if (this.#isOn) this.#spread(added);
    };
  }

  /** Returns the checks that are new. */
  #set(entry: BackendEntry): readonly Check[] {
    const { balance, fault, id } = entry;
    const active = balance?.active;
    const before = this.#checks.get(id) ?? [];
    const same = new Map(before.map((check) => [keyOf(check), check]));
    const addresses = active === undefined || fault !== undefined ? [] : (balance?.addresses ?? []);
    const wanted = addresses.map(({ host, port }): Check => {
      // `active` is there where addresses are.
      const check = newCheck(entry, { host, port }, active as ActiveCheckEntry);
      return same.get(keyOf(check)) ?? check;
    });
    for (const check of before) if (!wanted.includes(check)) this.#cancel(check);
    if (wanted.length > 0) this.#checks.set(id, wanted);
    else this.#checks.delete(id);
    return wanted.filter((check) => !before.includes(check));
  }

  #remove(id: string): void {
    for (const check of this.#checks.get(id) ?? []) this.#cancel(check);
    this.#checks.delete(id);
  }

  #cancel(check: Check): void {
    this.#calendar.delete(check.dueTick, check);
    this.#waiting.delete(check.accountId, check);
    this.#end(check)?.giveUp();
  }

  /** One check begins at once; many are spread over their interval, and stay so. */
  #spread(checks: readonly Check[]): void {
    if (checks.length === 0) return;
    this.#begin();
    for (const [at, check] of checks.entries())
      this.#plan(check, this.#tick + 1 + Math.floor((at * check.settings.intervalMs) / tickMs / checks.length));
  }

  #plan(check: Check, tick: number): void {
    check.dueTick = tick;
    this.#calendar.add(tick, check);
  }

  #begin(): void {
    if (this.#timer !== undefined) return;
    this.#startedMs = this.#now() - this.#tick * tickMs;
    this.#timer = setInterval(() => this.#onTick(), tickMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#calendar.clear();
    this.#waiting.clear();
    for (const check of this.#running.keys()) this.#end(check)?.giveUp();
  }

  #onTick(): void {
    const now = this.#now();
    for (const [check, { startedMs, hasBegun, giveUp }] of this.#running) {
      if (now - startedMs < check.settings.timeoutMs) continue;
      giveUp();
      if (hasBegun) this.#over(check, `it did not answer within ${check.settings.timeoutMs / 1000} s`);
      else this.#leaveOut(check);
    }
    // A timer that is late catches up.
    const last = Math.floor((now - this.#startedMs) / tickMs);
    while (this.#tick < last)
      for (const check of this.#calendar.take(++this.#tick) ?? []) this.#waiting.push(check.accountId, check);
    this.#serve();
    if (this.#checks.size === 0) this.#stop();
  }

  /**
   * Begins checks that wait. An account may have as many under way as there are free places: half of them where it is
   * the only one, and there is a place for the next account at any time.
   */
  #serve(): void {
    const mayBegin = (accountId: string): boolean => this.#runningOf.of(accountId) < mostRunning - this.#running.size;
    for (let check = this.#waiting.take(mayBegin); check; check = this.#waiting.take(mayBegin)) this.#probe(check);
  }

  #probe(check: Check): void {
    const running: Running = { startedMs: this.#now(), hasBegun: false, giveUp: () => {} };
    this.#running.set(check, running);
    this.#runningOf.add(check.accountId, 1);
    const begun = (): void => {
      running.startedMs = this.#now();
      running.hasBegun = true;
    };
    running.giveUp = probe(this.#connect, check.target, check.settings, begun, (fault) => {
      this.#over(check, fault);
      this.#serve();
    });
  }

  /** Frees the place of a check. */
  #end(check: Check): Running | undefined {
    const running = this.#running.get(check);
    if (running === undefined) return undefined;
    this.#running.delete(check);
    this.#runningOf.add(check.accountId, -1);
    return running;
  }

  /** A check that waits for the names of others says nothing about its address. */
  #leaveOut(check: Check): void {
    this.#end(check);
    this.#plan(check, this.#nextTick(check));
  }

  #over(check: Check, fault: string | undefined): void {
    const running = this.#end(check);
    if (running === undefined) return;
    this.#plan(check, this.#nextTick(check));
    const ok = fault === undefined;
    const isNews = check.lastOk !== ok;
    check.streak = isNews ? 1 : check.streak + 1;
    check.lastOk = ok;
    const now = this.#now();
    const { failures, passes } = check.settings;
    if (check.streak > Math.max(failures, passes) && now - check.notedAtMs < renoteMs) return;
    check.notedAtMs = now;
    const { address, streak, target } = check;
    const tookMs = now - running.startedMs;
    const cause = fault === undefined ? {} : { cause: fault };
    this.#report({ from: 'check', backendId: target.id, address, ok, streak, tookMs, ...cause });
  }

  /** One interval after it was due, or the first of further ones that is not over yet: spread checks stay so. */
  #nextTick({ dueTick, settings }: Check): number {
    const interval = Math.max(1, Math.round(settings.intervalMs / tickMs));
    return dueTick + interval * Math.max(1, Math.ceil((this.#tick + 1 - dueTick) / interval));
  }
}

function newCheck(
  { id, tls, accountId }: BackendEntry,
  at: Pick<UpstreamTarget, 'host' | 'port'>,
  settings: ActiveCheckEntry,
): Check {
  const target = { id, accountId, ...at, tls };
  return {
    accountId: accountId ?? '',
    target,
    address: formatAddress(at),
    settings,
    dueTick: 0,
    streak: 0,
    lastOk: undefined,
    notedAtMs: -Infinity,
  };
}

function keyOf({ target, settings }: Check): string {
  return JSON.stringify([target, settings]);
}
