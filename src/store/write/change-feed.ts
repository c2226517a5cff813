import { Turns } from '../../lib/turns.ts';
import { readChanges, readVersion } from './change-log.ts';
import type { Change } from './change-log.ts';
import type { Queries } from '../database.ts';
import type { Commit } from './group-commit.ts';
import { readObserved, readObservedVersion } from './observed-changes.ts';

/** Notified of every change, in order. The write that made a change is answered after all followers are done. */
export interface Follower {
  changed(changes: readonly Change[], version: number): void | Promise<void>;
  /** Changes are missing from the log: everything may have changed. */
  reset(version: number): void | Promise<void>;
}

/** Versions read at once; more could take longer than the limit for a query. */
const versionsPerStep = 1_000;

/**
 * Leads the followers from version to version. A signal only means "poll": the changes are read from the change log, so
 * that a lost, repeated or late signal does no harm.
 */
export class ChangeFeed {
  readonly #queries: Queries;
  readonly #followers: Follower[] = [];
  #version: number;
  #observedVersion: number;
  readonly #turns = new Turns();
  #confirmedAtMs = performance.now();
  /** A poll that waits for its turn. */
  #nextPoll: Promise<void> | undefined;
  #isBehind = false;

  constructor(queries: Queries, version: number, observedVersion: number) {
    this.#queries = queries;
    this.#version = version;
    this.#observedVersion = observedVersion;
  }

  /** Milliseconds since it was certain that nothing newer exists. */
  get ageMs(): number {
    return performance.now() - this.#confirmedAtMs;
  }

  /** A poll was asked for that has not succeeded yet. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** To be called when the database has nothing newer than the last poll could see. */
  markFresh(): void {
    if (!this.#isBehind) this.#confirmedAtMs = performance.now();
  }

  /** The version up to which every follower has been notified. */
  get version(): number {
    return this.#version;
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** Calls `reset` first, in turn with the changes, so that no change comes before it and none is left out. */
  followFromStart(follower: Follower): Promise<void> {
    return this.#turns.run(async () => {
      await follower.reset(this.#version);
      this.#followers.push(follower);
    });
  }

  /** Takes changes of this process itself, without reading them back unless earlier ones are missing. */
  committed({ fromVersion, toVersion, changes, observed }: Commit): Promise<void> {
    return this.#turns.run(async () => {
      if (toVersion > this.#version) {
        if (fromVersion === this.#version) await this.#notify(changes, toVersion);
        else await this.#catchUp(toVersion);
      }
      if (observed === undefined || observed.to <= this.#observedVersion) return;
      if (observed.from === this.#observedVersion) await this.#notifyObserved(observed.changes, observed.to);
      else await this.#catchUpObserved(observed.to);
    });
  }

  /** Catches up with what other processes have committed. */
  poll(): Promise<void> {
    this.#isBehind = true;
    // A poll that has not begun sees whatever a new one would.
    return (this.#nextPoll ??= this.#turns.run(async () => {
      this.#nextPoll = undefined;
      const askedAtMs = performance.now();
      await this.#catchUp(await readVersion(this.#queries));
      await this.#catchUpObserved(await readObservedVersion(this.#queries));
      this.#confirmedAtMs = askedAtMs;
      this.#isBehind = this.#nextPoll !== undefined;
    }));
  }

  async #catchUp(newest: number): Promise<void> {
    while (this.#version < newest) {
      const upTo = Math.min(newest, this.#version + versionsPerStep);
      const changes = await readChanges(this.#queries, this.#version, upTo);
      if (changes === undefined) return this.#notifyReset(newest);
      await this.#notify(changes, upTo);
    }
  }

  async #catchUpObserved(newest: number): Promise<void> {
    if (this.#observedVersion >= newest) return;
    const changes = await readObserved(this.#queries, this.#observedVersion, newest);
    if (changes !== undefined) return this.#notifyObserved(changes, newest);
    await this.#notifyReset(this.#version);
    this.#observedVersion = newest;
  }

  /** Observed changes leave the version of the configuration as it is. */
  async #notifyObserved(changes: readonly Change[], observedVersion: number): Promise<void> {
    await this.#notify(changes, this.#version);
    this.#observedVersion = observedVersion;
  }

  #notifyReset(version: number): Promise<void> {
    return this.#notifyAll(version, (follower) => follower.reset(version));
  }

  #notify(changes: readonly Change[], version: number): Promise<void> {
    return this.#notifyAll(version, (follower) => follower.changed(changes, version));
  }

  async #notifyAll(version: number, notify: (follower: Follower) => void | Promise<void>): Promise<void> {
    for (const follower of this.#followers) await notify(follower);
    this.#version = version;
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.#turns.settled();
  }
}
