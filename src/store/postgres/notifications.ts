import type pg from 'pg';

import type { Watcher } from '../database.ts';
import { guard } from './faults.ts';
import type { Primary } from './primary.ts';

/** A lost signal is repaired by polling this often. */
const pollEveryMs = 1_000;
/** Interval where no signal comes. */
const pollOftenEveryMs = 200;
/** Limit for a statement here; a database that does not answer counts as gone. */
const queryTimeoutMs = 5_000;
const channel = 'gatehouse_changes';

export const notifySql = `SELECT pg_notify('${channel}', '')`;
const listenSql = `LISTEN ${channel}`;

/**
 * Polls when another process signals that it has written, and on a timer. The timer also repeats LISTEN, because a
 * connection that the network has forgotten receives nothing and does not fail by itself.
 */
export class NotificationWatch {
  readonly #primary: Primary;
  readonly #watcher: Pick<Watcher, 'poll' | 'doubt'>;
  readonly #isOwn: (backend: number) => boolean;
  #listener: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #isBusy = false;

  private constructor(primary: Primary, watcher: Pick<Watcher, 'poll' | 'doubt'>, isOwn: (backend: number) => boolean) {
    this.#primary = primary;
    this.#watcher = watcher;
    this.#isOwn = isOwn;
  }

  /** `isOwn` knows the connections of this process, by the number of the server's process: what they signal is known here. */
  static async start(
    primary: Primary,
    watcher: Pick<Watcher, 'poll' | 'doubt'>,
    isOwn: (backend: number) => boolean,
  ): Promise<NotificationWatch> {
    const watch = new NotificationWatch(primary, watcher, isOwn);
    await watch.#listen();
    watch.#timer = setInterval(() => {
      watcher.poll();
      void watch.#keepListening();
    }, pollEveryMs).unref();
    return watch;
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
    const last = this.#listener;
    this.#listener = undefined;
    if (last !== undefined) drop(last);
  }

  async #listen(): Promise<void> {
    const { client } = await this.#primary.open({ query_timeout: queryTimeoutMs }, (each) => {
      each.on('notification', ({ processId }) => {
        // One may still come while the connection ends.
        if (!this.#isStopped && !this.#isOwn(processId)) this.#watcher.poll();
      });
      each.on('end', () => {
        if (each !== this.#listener) return;
        this.#listener = undefined;
        // Whoever answers next may be another server.
        if (!this.#isStopped) this.#watcher.doubt();
        void this.#keepListening();
      });
    });
    try {
      await guard(() => client.query(listenSql));
    } catch (error) {
      drop(client);
      throw error;
    }
    if (this.#isStopped) drop(client);
    else this.#listener = client;
  }

  async #keepListening(): Promise<void> {
    if (this.#isBusy || this.#isStopped) return;
    this.#isBusy = true;
    const asked = this.#listener;
    try {
      if (asked === undefined) {
        await this.#listen();
        // Signals that came while nothing listened are lost.
        if (!this.#isStopped) this.#watcher.poll();
      } else {
        await asked.query(listenSql);
      }
    } catch {
      // The timer tries again.
      if (this.#listener === asked) this.#listener = undefined;
      if (asked !== undefined) drop(asked);
    } finally {
      this.#isBusy = false;
    }
  }
}

/** Polls in place of signals. Returns a function that stops it. */
export function pollOften({ poll }: Pick<Watcher, 'poll'>): () => void {
  const timer = setInterval(poll, pollOftenEveryMs).unref();
  return () => {
    clearInterval(timer);
  };
}

/** Does not wait for the end: a connection that is silent would not confirm it either. */
function drop(client: pg.Client): void {
  client.end().catch(() => {});
}
