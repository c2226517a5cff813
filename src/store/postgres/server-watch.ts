import pg from 'pg';

import type { PostgresServers } from '../../lib/database-url.ts';
import { StoreUnavailableError } from '../database.ts';
import { toStoreFault } from './faults.ts';
import { judgeServers } from './judge-servers.ts';
import type { Heard } from './judge-servers.ts';
import { askAddress, askServer, isSameServer } from './server-report.ts';
import type { ServerReport } from './server-report.ts';

/** Time between two checks of an address. */
const intervalMs = 1_000;
/** Limit for one check. */
const limitMs = 2_000;
/** The same for the first one of the only address, without which nothing begins. */
const firstLimitMs = 5_000;
/** A check that began longer ago counts no more: this process has stood still. */
const maxAgeMs = intervalMs + 2 * limitMs;
/** SQLSTATE of a server that has no place for another connection. */
const noPlaceCode = '53300';
/** Key, beside the URL, of the newest timeline to which the only address has led. */
const newestSeen = 'newest seen';

/** An address, and the last time it was asked. */
interface Asked {
  /** When it was asked last; the answer, or its absence, is known. */
  doneAtMs: number;
  /** When it was asked what it has answered last. */
  answeredAtMs: number;
  /** Why it has not answered the last time. */
  error: unknown;
  asking: Promise<void> | undefined;
  timer: NodeJS.Timeout | undefined;
}

/** The server that is the database. */
export interface ChosenServer {
  readonly url: string;
  readonly report: ServerReport;
}

/**
 * Asks every address of the URL each second who answers there, over a new connection, and so knows which server is the
 * database. A server that stays reachable while another is promoted does not say so itself, and an address may lead elsewhere.
 */
export class ServerWatch {
  readonly #servers: PostgresServers;
  readonly #config: (url: string) => pg.ClientConfig;
  readonly #moved: () => void;
  readonly #asked: ReadonlyMap<string, Asked>;
  readonly #heard = new Map<string, Heard>();
  #system: string | undefined;
  #chosen: ChosenServer | undefined;
  #reason: string | undefined;
  #isClosed = false;

  /** `moved` is called when the database is no longer where it was: connections that are open lead to another server. */
  constructor(servers: PostgresServers, config: (url: string) => pg.ClientConfig, moved: () => void) {
    this.#servers = servers;
    this.#config = config;
    this.#moved = moved;
    const first = {
      doneAtMs: -Infinity,
      answeredAtMs: -Infinity,
      error: undefined,
      asking: undefined,
      timer: undefined,
    };
    this.#asked = new Map(servers.urls.map((url) => [url, { ...first }]));
  }

  /** Tells why no server is the database; undefined while one is, or was when it last answered. */
  get fault(): string | undefined {
    return this.#chosen === undefined ? this.#reason : undefined;
  }

  /**
   * Returns the server that is the database. If not all were asked lately, they are asked first. One that does not answer
   * goes on being it while no other is: connections that are open may still be of use.
   */
  async find(): Promise<ChosenServer> {
    if (!this.#isConfirmed) await this.#askAll(() => false);
    if (this.#chosen !== undefined) return this.#chosen;
    throw this.#outage();
  }

  /** Returns the server that is the database and answers, after the one before could not be reached. */
  async findAgain(): Promise<ChosenServer> {
    const sinceMs = performance.now() - limitMs;
    const isFound = () =>
      this.#chosen !== undefined && (this.#asked.get(this.#chosen.url)?.answeredAtMs ?? 0) > sinceMs;
    await this.#askAll(isFound);
    if (this.#chosen !== undefined && isFound()) return this.#chosen;
    throw this.#outage();
  }

  /** Asks the server at the other end of a new connection. Throws unless it is the database. */
  async admit(client: pg.ClientBase, url: string): Promise<ServerReport> {
    const askedAtMs = performance.now();
    const report = await askServer(client, this.#servers.target);
    this.#hear(url, askedAtMs, report);
    if (this.#chosen !== undefined && isSameServer(this.#chosen.report, report)) return report;
    throw new StoreUnavailableError(this.#describe(report));
  }

  /** Throws unless the server is still the database, as far as was known lately. */
  async confirm(server: ServerReport): Promise<void> {
    const { report } = await this.find();
    if (!isSameServer(report, server)) throw new StoreUnavailableError(this.#describe(server));
  }

  close(): void {
    this.#isClosed = true;
    for (const { timer } of this.#asked.values()) clearTimeout(timer);
  }

  get #isConfirmed(): boolean {
    const oldestMs = performance.now() - maxAgeMs;
    return this.#chosen !== undefined && this.#asked.values().every(({ doneAtMs }) => doneAtMs >= oldestMs);
  }

  #outage(): unknown {
    const errors = [...this.#asked.values()].flatMap(({ error }) => (error === undefined ? [] : [error]));
    const [cause] = errors;
    // A password that is refused, say, is no outage.
    const isSaid = this.#asked.size === 1 || !errors.some((error) => error instanceof StoreUnavailableError);
    if (isSaid && cause !== undefined && errors.length === this.#asked.size) return cause;
    const reason = this.#reason ?? 'no server of it answers';
    return new StoreUnavailableError(`the database cannot be used: ${reason}`, { cause });
  }

  /** Resolves when all have answered or let their time pass, or `isEnough`. */
  #askAll(isEnough: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    let left = this.#asked.size;
    for (const url of this.#asked.keys()) {
      void this.#ask(url).then(() => {
        left -= 1;
        if (left === 0 || isEnough()) resolve();
      });
    }
    return promise;
  }

  /** Asks one server and, from then on, each second again. Callers share the answer that is under way. */
  #ask(url: string): Promise<void> {
    const asked = this.#asked.get(url);
    if (asked === undefined || this.#isClosed) return Promise.resolve();
    clearTimeout(asked.timer);
    return (asked.asking ??= this.#askNow(url, asked).finally(() => {
      asked.asking = undefined;
      if (!this.#isClosed) asked.timer = setTimeout(() => void this.#ask(url), intervalMs).unref();
    }));
  }

  async #askNow(url: string, asked: Asked): Promise<void> {
    const askedAtMs = performance.now();
    try {
      const isFirst = this.#asked.size === 1 && this.#chosen === undefined;
      const allowedMs = isFirst ? firstLimitMs : limitMs;
      const report = await askAddress(this.#config(url), this.#servers.target, allowedMs);
      asked.error = undefined;
      this.#hear(url, askedAtMs, report);
    } catch (error) {
      asked.error = toStoreFault(error);
      const heard = this.#heard.get(url);
      // One that has no place for a connection has answered: what it said before stands.
      if (heard?.isSilent === false && error instanceof pg.DatabaseError && error.code === noPlaceCode)
        this.#hear(url, askedAtMs, heard.report);
      else this.#judge(url, heard && { ...heard, isSilent: true });
    } finally {
      asked.doneAtMs = askedAtMs;
    }
  }

  #hear(url: string, askedAtMs: number, report: ServerReport): void {
    const asked = this.#asked.get(url);
    // An answer that comes late is older than what is known.
    if (asked === undefined || askedAtMs < asked.answeredAtMs) return;
    asked.answeredAtMs = askedAtMs;
    this.#judge(url, { report, isSilent: false });
  }

  #judge(url: string, heard: Heard | undefined): void {
    if (heard !== undefined) this.#heard.set(url, heard);
    // While some have not been heard of for the first time, one of them may be the newest.
    if (this.#chosen === undefined && this.#isStillAsking(url)) return;
    const verdict = judgeServers(this.#heard, this.#system);
    const before = this.#chosen;
    if ('url' in verdict) {
      this.#chosen = verdict;
      this.#reason = undefined;
      this.#system = verdict.report.system;
      if (this.#asked.size === 1) this.#remember(verdict.report);
    } else {
      this.#reason = verdict.reason;
      if (!verdict.isSilence) this.#chosen = undefined;
    }
    const isSame =
      before !== undefined && this.#chosen !== undefined && isSameServer(before.report, this.#chosen.report);
    if (before !== undefined && !isSame) this.#moved();
  }

  #isStillAsking(url: string): boolean {
    return this.#asked
      .entries()
      .some(([each, { doneAtMs }]) => each !== url && doneAtMs === -Infinity && !this.#heard.has(each));
  }

  /** The servers behind one address cannot be asked: it may lead to one on a higher timeline, never to a lower one. */
  #remember(report: ServerReport): void {
    this.#heard.set(newestSeen, { report: { ...report, takesWrites: false }, isSilent: true });
  }

  #describe({ takesWrites, timeline }: ServerReport): string {
    if (!takesWrites) return 'the database is a standby, or read-only';
    return `the server on timeline ${timeline} is not the database: ${this.#reason ?? 'another one is'}`;
  }
}
