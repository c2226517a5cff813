import { Turns } from '../../lib/turns.ts';
import { readChanges } from './change-log.ts';
import type { Change, LoggedChange } from './change-log.ts';
import type { Database, Queries } from '../database.ts';
import type { Commit } from './group-commit.ts';
import { isSame, Trail } from './history.ts';
import type { Head, HistoryChange, Point } from './history.ts';
import { readObserved } from './observed-changes.ts';
import type { ObservedStep } from './observed-changes.ts';

/** Notified of every change, in order. The write that made a change is answered after all followers are done. */
export interface Follower {
  changed(changes: readonly Change[], at: Point): void | Promise<void>;
  /** Changes are missing from the log, or the database has another history: everything may have changed. */
  reset(at: Point): void | Promise<void>;
  /**
   * Resolves when the follower is done with changes of these accounts, or of all, that it has put off, so that others do not
   * wait for them, and rejects where it could not be; undefined where there are none.
   */
  settled?(accountIds: ReadonlySet<string> | undefined): Promise<void> | undefined;
}

/** Told when the database has another history than before, and when every follower goes by that one. */
export interface HistoryWatcher {
  changed(change: HistoryChange): void;
  rebuilt(): void;
}

/** Versions read at once; more could take longer than the limit for a query. */
const versionsPerStep = 1_000;

/**
 * Leads the followers from version to version. A signal only means "poll": the changes are read from the change log, so
 * that a lost, repeated or late signal does no harm. The last point that was seen must be in the database: if it is not,
 * the history is another one, and everybody starts over with what the database has now.
 */
export class ChangeFeed {
  readonly #database: Pick<Database, 'reader' | 'readHead'>;
  readonly #historyWatcher: HistoryWatcher | undefined;
  readonly #followers: Follower[] = [];
  #logged: Point;
  #observed: Point;
  readonly #trail = new Trail();
  readonly #turns = new Turns();
  #confirmedAtMs = performance.now();
  /** A poll that waits for its turn. */
  #nextPoll: Promise<void> | undefined;
  #isBehind = false;
  #isRebuilding = false;

  constructor(database: Pick<Database, 'reader' | 'readHead'>, head: Head, historyWatcher?: HistoryWatcher) {
    this.#database = database;
    this.#logged = head.logged;
    this.#observed = head.observed;
    this.#historyWatcher = historyWatcher;
  }

  /** Milliseconds since it was certain that nothing newer exists. */
  get ageMs(): number {
    return performance.now() - this.#confirmedAtMs;
  }

  /** A poll was asked for that has not succeeded yet. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** The history of the database has changed, and not every follower goes by it yet. */
  get isRebuilding(): boolean {
    return this.#isRebuilding;
  }

  /** To be called when the database has nothing newer than the last poll could see. */
  markFresh(): void {
    if (!this.#isBehind) this.#confirmedAtMs = performance.now();
  }

  /** To be called when the database may be another one: nothing is certain until the next poll. */
  doubt(): void {
    this.#confirmedAtMs = -Infinity;
  }

  /** The point up to which every follower has been notified; another object after each change. */
  get point(): Point {
    return this.#logged;
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** Calls `reset` first, in turn with the changes, so that no change comes before it and none is left out. */
  followFromStart(follower: Follower): Promise<void> {
    return this.#turns.run(async () => {
      await follower.reset(this.#logged);
      this.#followers.push(follower);
    });
  }

  /**
   * True if what this process has seen led to the point, as far as that can be told. The queries must be of a transaction
   * that has found it to be the newest; without them, only what is known here counts.
   */
  async ledTo(newest: Point, queries?: Queries): Promise<boolean> {
    const seen = this.#logged;
    if (newest.version <= seen.version) return isSame(newest, seen);
    return queries === undefined || seen.version === 0 || this.#hasMark(seen.version, seen.mark, queries);
  }

  /** Tells the watcher if the database does not have a point that this process has seen before it began to follow. */
  async compare(seen: Pick<Point, 'version'> & Partial<Point>): Promise<void> {
    const { version } = this.#logged;
    if (seen.version <= version && (seen.mark === undefined || (await this.#hasMark(seen.version, seen.mark)))) return;
    this.#historyWatcher?.changed({ atMs: Date.now(), seenVersion: seen.version, version, lost: [] });
  }

  /** True also if the log has forgotten the version. */
  async #hasMark(version: number, mark: number, queries = this.#database.reader): Promise<boolean> {
    const [row] = await queries.all('SELECT mark FROM change_log WHERE version = $1 AND position = 0', [version]);
    return row === undefined || row[0] === mark;
  }

  /** Takes changes of this process itself, without reading them back unless earlier ones are missing. */
  committed({ from, to, changes, observed }: Commit): Promise<void> {
    return this.#turns.run(async () => {
      if (to.version > from.version && !(await this.#takeLogged(from, to, changes))) await this.#look();
      if (observed !== undefined && !(await this.#takeObserved(observed))) await this.#look();
    });
  }

  /** Catches up with what other processes have committed. */
  poll(): Promise<void> {
    this.#isBehind = true;
    // A poll that has not begun sees whatever a new one would.
    return (this.#nextPoll ??= this.#turns.run(async () => {
      this.#nextPoll = undefined;
      const askedAtMs = performance.now();
      await this.#look();
      this.#confirmedAtMs = askedAtMs;
      this.#isBehind = this.#nextPoll !== undefined;
    }));
  }

  async #look(): Promise<void> {
    const head = await this.#database.readHead();
    const isSameHistory = (await this.#reach(head.logged)) && (await this.#reachObserved(head.observed));
    if (!isSameHistory) await this.#startOver(head);
  }

  /** False where it cannot be told that they are of the history that was seen. */
  async #takeLogged(from: Point, to: Point, changes: readonly LoggedChange[]): Promise<boolean> {
    if (isSame(from, this.#logged)) {
      await this.#notifyLogged(changes, to);
      return true;
    }
    return this.#trail.has(to) || (to.version > this.#logged.version && (await this.#reach(to)));
  }

  async #takeObserved(step: ObservedStep): Promise<boolean> {
    if (isSame(step.from, this.#observed)) {
      await this.#notifyObserved(step);
      return true;
    }
    // A poll that came before has led there, or the next one finds that it has not.
    return step.to.version <= this.#observed.version || this.#reachObserved(step.to);
  }

  /** Leads the followers to the point; false where it is of another history. */
  async #reach(newest: Point): Promise<boolean> {
    while (this.#logged.version < newest.version) {
      const upTo = Math.min(newest.version, this.#logged.version + versionsPerStep);
      const changes = await readChanges(this.#database.reader, this.#logged, upTo);
      if (changes === 'another history') return false;
      if (changes === 'no longer known') await this.#notifyReset(newest);
      else await this.#notifyLogged(changes, changes.at(-1)?.at ?? newest);
    }
    return isSame(this.#logged, newest);
  }

  async #reachObserved(newest: Point): Promise<boolean> {
    if (this.#observed.version < newest.version) {
      const step = await readObserved(this.#database.reader, this.#observed, newest.version);
      if (step === 'another history') return false;
      if (step === 'no longer known') {
        await this.#notifyReset(this.#logged);
        this.#observed = newest;
      } else await this.#notifyObserved(step);
    }
    return isSame(this.#observed, newest);
  }

  /** Until it succeeds, every poll tries again: the last point that was seen stays one that the database does not have. */
  async #startOver(head: Head): Promise<void> {
    this.doubt();
    this.#isBehind = true;
    const lost = await this.#trail.takeLost(this.#database.reader, head.logged.version);
    if (!this.#isRebuilding) {
      const { version: seenVersion } = this.#logged;
      this.#historyWatcher?.changed({ atMs: Date.now(), seenVersion, version: head.logged.version, lost });
    }
    this.#isRebuilding = true;
    await this.#notifyReset(head.logged);
    this.#observed = head.observed;
    this.#isRebuilding = false;
    this.#historyWatcher?.rebuilt();
  }

  /** Observed changes leave the version of the configuration as it is. */
  async #notifyObserved({ changes, to }: ObservedStep): Promise<void> {
    for (const follower of this.#followers) await follower.changed(changes, this.#logged);
    this.#observed = to;
  }

  async #notifyReset(to: Point): Promise<void> {
    for (const follower of this.#followers) await follower.reset(to);
    this.#logged = to;
  }

  async #notifyLogged(changes: readonly LoggedChange[], to: Point): Promise<void> {
    for (const follower of this.#followers) await follower.changed(changes, to);
    this.#trail.add(changes);
    this.#logged = to;
  }

  /** Resolves when changes of these accounts, of all if none are named, are done with that followers, but for one, have put off. */
  settledOf(accountIds?: ReadonlySet<string>, but?: Follower): Promise<void> | undefined {
    const waits = this.#followers.flatMap((each) => (each === but ? [] : (each.settled?.(accountIds) ?? [])));
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }
}
