import type { LeftSession, VisitorSession } from '../../modules/sign-in.ts';
import { StoreUnavailableError } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { BackgroundTask, TaskLog } from '../background-tasks.ts';
import { Pending } from './pending.ts';
import type { Visitors } from './service.ts';
import { writeLeft, writeSeen } from './sessions.ts';
import { sweep } from './sweep.ts';

const flushEveryMs = 200;
/** Pause after a write that failed, with the database away. */
const retryMs = 2_000;
const sweepEveryMs = 60_000;
/** Uses of sessions in memory; further ones are dropped, and come again with the next use of their session. */
const seenOfEachAccount = 5_000;
/** Sign-outs in memory, with the database away: whoever sends a flood of them can lose those of the own account only. */
const leftOfEachAccount = 20_000;
/** Sessions that are handed to the database at once: a flood of them makes no other write wait. */
const sessionsAtOnce = 100;

/** Collects what gateways tell of sessions, and writes it a few times a second. */
export class VisitorKeeper implements Visitors {
  readonly #store: Store;
  readonly #seen = new Pending<VisitorSession>(seenOfEachAccount);
  readonly #left = new Pending<LeftSession>(leftOfEachAccount);
  #log: TaskLog | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushing = Promise.resolve();

  constructor(store: Store) {
    this.#store = store;
  }

  visitorSeen(session: VisitorSession): void {
    if (this.#seen.add(session)) this.#schedule(flushEveryMs);
  }

  visitorLeft(session: LeftSession): void {
    if (!this.#left.add(session))
      this.#log?.error(
        { account: session.accountId },
        'a sign-out is lost: too many of the account wait for the database',
      );
    this.#schedule(flushEveryMs);
  }

  /** Resolves when the end of a session is written, or waits in memory for the database. */
  async leave(session: LeftSession): Promise<void> {
    if ((await this.#writeOne(session, writeLeft)) === 'away') this.visitorLeft(session);
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#flushing = this.#flushing.then(() => this.#write());
    return this.#flushing;
  }

  /** Sweeps now and then, and writes at the end what is in memory. */
  task(everyMs = sweepEveryMs): BackgroundTask {
    return {
      ofApi: false,
      start: async (log) => {
        this.#log = log;
        const timer = setInterval(() => {
          sweep(this.#store).catch((error: unknown) => {
            log.warn({ err: error }, 'sessions of visitors that are over could not be deleted; trying again');
          });
        }, everyMs).unref();
        return {
          [Symbol.asyncDispose]: () => {
            clearInterval(timer);
            return this.flush();
          },
        };
      },
    };
  }

  #schedule(afterMs: number): void {
    this.#timer ??= setTimeout(() => void this.flush(), afterMs).unref();
  }

  /** Sign-outs come first: whatever becomes of the rest, who has left stays out. */
  async #write(): Promise<void> {
    if (await this.#writeAll(this.#left, writeLeft)) await this.#writeAll(this.#seen, writeSeen);
  }

  /** False where the database is away: what is not written stays for later. */
  async #writeAll<Event extends LeftSession>(
    pending: Pending<Event>,
    write: (writer: ObservationWriter, event: Event) => Promise<void>,
  ): Promise<boolean> {
    while (pending.size > 0) {
      const events = pending.take(sessionsAtOnce);
      const results = await Promise.all(events.map((event) => this.#writeOne(event, write)));
      const missed = events.filter((_, at) => results[at] === 'away');
      if (missed.length === 0) continue;
      // An event that came meanwhile is newer.
      for (const event of missed) if (!pending.has(event.id)) pending.add(event);
      this.#schedule(retryMs);
      return false;
    }
    return true;
  }

  /** Each is a write of its own: one that cannot be stored holds up no other, and is dropped. */
  async #writeOne<Event extends LeftSession>(
    event: Event,
    write: (writer: ObservationWriter, event: Event) => Promise<void>,
  ): Promise<'written' | 'dropped' | 'away'> {
    try {
      await this.#store.writeUnlogged((writer) => write(writer, event), event.accountId);
      return 'written';
    } catch (error) {
      if (error instanceof StoreUnavailableError) return 'away';
      const fields = { err: error, session: event.id, account: event.accountId };
      this.#log?.error(fields, 'what a gateway said about a session of a visitor could not be stored');
      return 'dropped';
    }
  }
}
