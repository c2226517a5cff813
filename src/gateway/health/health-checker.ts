import type { ActiveCheckEntry, BackendEntry, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import type { HealthNote } from './health-board.ts';
import { probe } from './probe.ts';
import { formatAddress } from './target.ts';

interface Check {
  readonly target: UpstreamTarget;
  readonly address: string;
  readonly settings: ActiveCheckEntry;
  /** False once the backend or the address is gone, or has other settings. */
  isWanted: boolean;
  streak: number;
  lastOk: boolean | undefined;
  notedAtMs: number;
}

interface Running {
  readonly check: Check;
  readonly startedMs: number;
  readonly giveUp: () => void;
}

/** Checks that are made together cost less each; ticks that are longer than this gain nothing. */
const tickMs = 200;
/** Most checks that are under way; further ones wait for these. */
const mostRunning = 256;
/** Results that say nothing new are told this often. */
const renoteMs = 60_000;

/** Makes the active checks of all backends: one timer, and a calendar of its ticks. */
export class HealthChecker implements SnapshotFollower {
  readonly #connect: ConnectUpstream;
  readonly #report: (note: HealthNote) => void;
  readonly #checks = new Map<string, readonly Check[]>();
  /** Checks by the number of the tick at which they are due. */
  readonly #calendar = new Map<number, Check[]>();
  readonly #waiting: Check[] = [];
  readonly #running = new Set<Running>();
  #timer: NodeJS.Timeout | undefined;
  #tick = 0;
  #startedMs = 0;
  #isOn = false;

  constructor(connect: ConnectUpstream, report: (note: HealthNote) => void) {
    this.#connect = connect;
    this.#report = report;
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
    const { balance, fault, id, tls } = entry;
    const active = balance?.active;
    const before = this.#checks.get(id) ?? [];
    const same = new Map(before.map((check) => [keyOf(check), check]));
    const addresses = active === undefined || fault !== undefined ? [] : (balance?.addresses ?? []);
    const wanted = addresses.map(({ host, port }): Check => {
      const target = { id, host, port, tls };
      // `active` is there where addresses are.
      const check = newCheck(target, active as ActiveCheckEntry);
      return same.get(keyOf(check)) ?? check;
    });
    for (const check of before) check.isWanted = wanted.includes(check);
    if (wanted.length > 0) this.#checks.set(id, wanted);
    else this.#checks.delete(id);
    return wanted.filter((check) => !before.includes(check));
  }

  #remove(id: string): void {
    for (const check of this.#checks.get(id) ?? []) check.isWanted = false;
    this.#checks.delete(id);
  }

  /** One check begins at once; many are spread over their interval, and stay so. */
  #spread(checks: readonly Check[]): void {
    if (checks.length === 0) return;
    this.#begin();
    for (const [at, check] of checks.entries())
      this.#schedule(check, this.#tick + 1 + Math.floor((at * check.settings.intervalMs) / tickMs / checks.length));
  }

  #begin(): void {
    if (this.#timer !== undefined) return;
    this.#startedMs = performance.now() - this.#tick * tickMs;
    this.#timer = setInterval(() => this.#onTick(), tickMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#calendar.clear();
    this.#waiting.length = 0;
    for (const { giveUp } of this.#running) giveUp();
    this.#running.clear();
  }

  #schedule(check: Check, tick: number): void {
    const due = this.#calendar.get(tick);
    if (due === undefined) this.#calendar.set(tick, [check]);
    else due.push(check);
  }

  #onTick(): void {
    const now = performance.now();
    for (const running of this.#running) {
      const { check, startedMs, giveUp } = running;
      if (now - startedMs < check.settings.timeoutMs) continue;
      giveUp();
      this.#over(running, `it did not answer within ${check.settings.timeoutMs / 1000} s`);
    }
    // A timer that is late catches up.
    const last = Math.floor((now - this.#startedMs) / tickMs);
    while (this.#tick < last) {
      const due = this.#calendar.get(++this.#tick) ?? [];
      this.#calendar.delete(this.#tick);
      for (const check of due) {
        if (!check.isWanted) continue;
        this.#schedule(check, this.#tick + Math.max(1, Math.round(check.settings.intervalMs / tickMs)));
        this.#waiting.push(check);
      }
    }
    this.#serve();
    if (this.#calendar.size === 0 && this.#running.size === 0) this.#stop();
  }

  #serve(): void {
    while (this.#running.size < mostRunning) {
      const check = this.#waiting.shift();
      if (check === undefined) return;
      if (check.isWanted) this.#probe(check);
    }
  }

  #probe(check: Check): void {
    const giveUp = probe(this.#connect, check.target, check.settings, (fault) => {
      this.#over(running, fault);
      this.#serve();
    });
    const running: Running = { check, startedMs: performance.now(), giveUp };
    this.#running.add(running);
  }

  #over(running: Running, fault: string | undefined): void {
    const { check, startedMs } = running;
    if (!this.#running.delete(running) || !check.isWanted) return;
    const ok = fault === undefined;
    const isNews = check.lastOk !== ok;
    check.streak = isNews ? 1 : check.streak + 1;
    check.lastOk = ok;
    const now = performance.now();
    const { failures, passes } = check.settings;
    if (!isNews && check.streak > Math.max(failures, passes) && now - check.notedAtMs < renoteMs) return;
    check.notedAtMs = now;
    const { address, streak, target } = check;
    const cause = fault === undefined ? {} : { cause: fault };
    this.#report({ from: 'check', backendId: target.id, address, ok, streak, tookMs: now - startedMs, ...cause });
  }
}

function newCheck(target: UpstreamTarget, settings: ActiveCheckEntry): Check {
  return {
    target,
    address: formatAddress(target),
    settings,
    isWanted: true,
    streak: 0,
    lastOk: undefined,
    notedAtMs: -Infinity,
  };
}

function keyOf({ target, settings }: Check): string {
  return JSON.stringify([target, settings]);
}
