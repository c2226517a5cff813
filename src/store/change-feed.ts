import { readChanges, readVersion } from './change-log.ts';
import type { Change } from './change-log.ts';
import type { Awaitable, Queries } from './database.ts';

/** Told of every change, in order. What it does is done before the write that made the change is answered. */
export interface Follower {
  changed(changes: readonly Change[], version: number): Awaitable<void>;
  /** What happened since is no longer in the log: everything may have changed. */
  lost(version: number): Awaitable<void>;
}

/**
 * Leads the followers from version to version. A signal only says "look again": what happened is read from the change
 * log, so that a lost, repeated or late signal does no harm.
 */
export class ChangeFeed {
  readonly #queries: Queries;
  readonly #followers: Follower[] = [];
  #version: number;
  #turn: Promise<void> = Promise.resolve();
  #confirmedAtMs = performance.now();

  constructor(queries: Queries, version: number) {
    this.#queries = queries;
    this.#version = version;
  }

  /** How long ago it was sure that nothing newer exists. */
  get ageMs(): number {
    return performance.now() - this.#confirmedAtMs;
  }

  /** The database was asked and has nothing newer. */
  confirm(): void {
    this.#confirmedAtMs = performance.now();
  }

  /** The version up to which every follower has been told. */
  get version(): number {
    return this.#version;
  }

  follow(follower: Follower): void {
    this.#followers.push(follower);
  }

  /** This process committed the changes itself; they are used as they are if nothing is missing before them. */
  committed(fromVersion: number, toVersion: number, changes: readonly Change[]): Promise<void> {
    return this.#inTurn(async () => {
      if (toVersion <= this.#version) return;
      if (fromVersion === this.#version) await this.#tell(changes, toVersion);
      else await this.#catchUp(toVersion);
    });
  }

  /** Catches up with what other processes have committed. */
  look(): Promise<void> {
    return this.#inTurn(async () => {
      const askedAtMs = performance.now();
      const version = await readVersion(this.#queries);
      if (version > this.#version) await this.#catchUp(version);
      this.#confirmedAtMs = askedAtMs;
    });
  }

  async #catchUp(upTo: number): Promise<void> {
    const changes = await readChanges(this.#queries, this.#version, upTo);
    if (changes !== undefined) {
      await this.#tell(changes, upTo);
      return;
    }
    for (const follower of this.#followers) await follower.lost(upTo);
    this.#version = upTo;
  }

  async #tell(changes: readonly Change[], version: number): Promise<void> {
    for (const follower of this.#followers) await follower.changed(changes, version);
    this.#version = version;
  }

  #inTurn(step: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(step);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}
