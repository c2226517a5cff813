import { KeyCounts } from '../../lib/key-counts.ts';
import type { RateLimit } from '../../modules/step.ts';
import type { RateReport, TrafficObserver } from '../engine.ts';
import { windowMsOf } from './rate-message.ts';

/** Keys that one rule counts apart in one window; those beyond share one count, so that no number of them escapes. */
const keysOfRule = 100_000;
/** The same for all rules of a process together: memory is bounded by it. An account may have as many as are left for others. */
const keysOfProcess = 1_000_000;
/** Delay after which others are told what was counted here. */
const reportMs = 50;
/** Interval at which rules that are not asked any more are forgotten. */
const sweepMs = 60_000;
/** The key of those that are not counted apart. */
const others = '';

/** One rule's counts in the window that runs and in the one before. */
interface Counts {
  readonly account: string;
  /** Number of the window since 1970. */
  window: number;
  current: Map<string, number>;
  previous: Map<string, number>;
  unreported: Map<string, number>;
  refused: number;
  warned: number;
}

/** True: let in, though a rule that is not enforced would refuse it. A number: refused, for so many seconds. */
type Outcome = number | true | undefined;

/**
 * Counts by sliding windows: the window before counts by the part of it that the window still covers. Each process counts
 * what it lets in and hears from the others what they do; without them it goes on with its own counts.
 */
export class RateCounts implements Disposable {
  readonly #observer: Pick<TrafficObserver, 'ratesCounted'>;
  readonly #now: () => number;
  readonly #mostKeys: number;
  readonly #rules = new Map<string, Counts>();
  #keys = 0;
  readonly #keysOfAccounts = new KeyCounts<string>();
  #reporting: NodeJS.Timeout | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(
    observer: Pick<TrafficObserver, 'ratesCounted'>,
    { now = Date.now, mostKeys = keysOfProcess }: { readonly now?: () => number; readonly mostKeys?: number } = {},
  ) {
    this.#observer = observer;
    this.#now = now;
    this.#mostKeys = mostKeys;
  }

  /** Counts a request of `key` unless that is refused. `owner` is the edge or route of the account that has the rule. */
  take(accountId: string, owner: string, rule: RateLimit, key: string): Outcome {
    const { limit, windowMs, by, header, enforced } = rule;
    const now = this.#now();
    const counts = this.#counts(`${accountId} ${owner} ${by} ${header} ${windowMs}`, windowMs, now);
    const slot = this.#slot(counts, counts.current, key);
    const current = counts.current.get(slot) ?? 0;
    const previous = Math.max(counts.previous.get(key) ?? 0, counts.previous.get(slot) ?? 0);
    const elapsed = (now % windowMs) / windowMs;
    const isOver = previous * (1 - elapsed) + current + 1 > limit;
    this.#reporting ??= setTimeout(() => this.report(), reportMs).unref();
    if (isOver && enforced) {
      counts.refused += 1;
      return retrySeconds(limit, windowMs, elapsed, current, previous);
    }
    if (isOver) counts.warned += 1;
    this.#add(counts, counts.current, slot, 1);
    counts.unreported.set(slot, (counts.unreported.get(slot) ?? 0) + 1);
    return isOver ? true : undefined;
  }

  /** Counts what others have let in. */
  add(reports: readonly RateReport[]): void {
    const now = this.#now();
    for (const { rule, window, counted } of reports) {
      const counts = this.#counts(rule, windowMsOf(rule), now);
      const map =
        window === counts.window ? counts.current : window === counts.window - 1 ? counts.previous : undefined;
      if (map === undefined) continue;
      for (const [key, requests] of counted) this.#add(counts, map, this.#slot(counts, map, key), requests);
    }
  }

  /** Returns all counts of the windows that matter, for somebody who knows of none. */
  all(): readonly RateReport[] {
    const reports: RateReport[] = [];
    for (const [rule, { window, current, previous }] of this.#rules) {
      for (const [number, map] of [
        [window - 1, previous],
        [window, current],
      ] as const)
        if (map.size > 0) reports.push({ rule, window: number, counted: [...map], refused: 0, warned: 0 });
    }
    return reports;
  }

  /** Tells what was counted since the last time. */
  report(): void {
    clearTimeout(this.#reporting);
    this.#reporting = undefined;
    const reports: RateReport[] = [];
    for (const [rule, counts] of this.#rules) {
      const { window, unreported, refused, warned } = counts;
      if (unreported.size === 0 && refused === 0 && warned === 0) continue;
      reports.push({ rule, window, counted: [...unreported], refused, warned });
      counts.unreported = new Map();
      counts.refused = 0;
      counts.warned = 0;
    }
    if (reports.length > 0) this.#observer.ratesCounted(reports);
  }

  [Symbol.dispose](): void {
    this.report();
    clearTimeout(this.#reporting);
    clearInterval(this.#sweeping);
  }

  #counts(rule: string, windowMs: number, now: number): Counts {
    const window = Math.floor(now / windowMs);
    const found = this.#rules.get(rule);
    if (found === undefined) {
      const none = new Map<string, number>();
      const [account = ''] = rule.split(' ', 1);
      const made = {
        account,
        window,
        current: none,
        previous: new Map(),
        unreported: new Map(),
        refused: 0,
        warned: 0,
      };
      this.#rules.set(rule, made);
      this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref();
      return made;
    }
    if (found.window !== window) this.#slide(found, window);
    return found;
  }

  /** A clock that was set, to any side, begins anew: nobody may be refused for hours by it. */
  #slide(counts: Counts, window: number): void {
    // Counts that are told later would be of another window.
    if (counts.unreported.size > 0) this.report();
    const isNext = window === counts.window + 1;
    this.#countKeys(counts, -(counts.previous.size + (isNext ? 0 : counts.current.size)));
    counts.previous = isNext ? counts.current : new Map();
    counts.current = new Map();
    counts.window = window;
  }

  #slot({ account }: Counts, map: ReadonlyMap<string, number>, key: string): string {
    if (map.has(key)) return key;
    const left = this.#mostKeys - this.#keys;
    // However many keys one account makes up, some are left for the next.
    return map.size < keysOfRule && this.#keysOfAccounts.of(account) < left ? key : others;
  }

  #add(counts: Counts, map: Map<string, number>, key: string, requests: number): void {
    const count = map.get(key);
    if (count === undefined) this.#countKeys(counts, 1);
    map.set(key, (count ?? 0) + requests);
  }

  #countKeys({ account }: Counts, keys: number): void {
    this.#keys += keys;
    this.#keysOfAccounts.add(account, keys);
  }

  #sweep(): void {
    const now = this.#now();
    for (const [rule, counts] of this.#rules) {
      const { window, current, previous } = counts;
      if (Math.abs(Math.floor(now / windowMsOf(rule)) - window) < 2) continue;
      this.#countKeys(counts, -(current.size + previous.size));
      this.#rules.delete(rule);
    }
  }
}

/** Time until one more fits, if nothing else comes. */
function retrySeconds(limit: number, windowMs: number, elapsed: number, current: number, previous: number): number {
  const room = limit - 1 - current;
  // In this window, once enough of the one before has slid out; else in the next, when this one slides out.
  const wait =
    room >= 0 ? 1 - room / previous - elapsed : 1 - elapsed + Math.max(0, 1 - (limit - 1) / Math.max(1, current));
  return Math.max(1, Math.ceil((wait * windowMs) / 1000));
}
