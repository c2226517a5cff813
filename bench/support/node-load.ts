import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HttpConnection, formatRequest } from './http-connection.ts';
import { quantile } from './statistics.ts';

/** Options of this program: JSON in the file that its only argument names. */
export interface NodeLoadOptions {
  readonly port: number;
  readonly servername?: string;
  readonly method: string;
  /** Requested in turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Sent in turn. */
  readonly bodies?: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second, sent when due even if others are unanswered; without it, as fast as they are answered. */
  readonly rate?: number;
  /** Seconds at the start that do not count. */
  readonly skipSeconds?: number;
  /**
   * Answers of 503 are counted as shed, beside the latencies, and their connection is not used for the second that they
   * tell to wait. A request that is due while no connection is free is not sent at all: more load than is served would
   * otherwise wait in this program.
   */
  readonly mayShed?: boolean;
}

/** Result that this program prints as JSON. */
export interface NodeLoadResult {
  /** Without those that were shed. */
  readonly requests: number;
  readonly shed: number;
  readonly unsent: number;
  readonly seconds: number;
  /** Number of responses with a status of 400 or more. */
  readonly refused: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Time that an answer of 503 tells to wait. */
const retryMs = 1000;

/** A load generator for machines without `wrk`, and for load at a fixed rate, which `wrk` does not offer. */
class Load {
  readonly #options: NodeLoadOptions;
  readonly #latenciesMs: number[] = [];
  #refused = 0;
  #shed = 0;
  #unsent = 0;
  #next = 0;

  constructor(options: NodeLoadOptions) {
    this.#options = options;
  }

  async run(): Promise<NodeLoadResult> {
    const { connections, seconds, rate, skipSeconds = 0 } = this.#options;
    const open = await Promise.all(Array.from({ length: connections }, () => HttpConnection.open(this.#options)));
    const startMs = performance.now();
    const endMs = startMs + seconds * 1000;
    await (rate === undefined
      ? this.#asFastAsPossible(open, endMs)
      : this.#atRate(open, startMs, endMs, rate, skipSeconds));
    const elapsed = (performance.now() - startMs) / 1000;
    for (const connection of open) connection.close();
    const all = this.#latenciesMs;
    return {
      requests: all.length,
      seconds: elapsed,
      refused: this.#refused,
      shed: this.#shed,
      unsent: this.#unsent,
      p50Ms: quantile(all, 0.5),
      p99Ms: quantile(all, 0.99),
      p999Ms: quantile(all, 0.999),
      maxMs: quantile(all, 1),
    };
  }

  async #asFastAsPossible(open: readonly HttpConnection[], endMs: number): Promise<void> {
    const keepOn = async (connection: HttpConnection) => {
      while (performance.now() < endMs) await this.#exchange(connection, performance.now(), true);
    };
    await Promise.all(open.map(keepOn));
  }

  /** Measures from the time a request was due, so that a stalled server counts for every request it delays. */
  async #atRate(
    open: readonly HttpConnection[],
    startMs: number,
    endMs: number,
    rate: number,
    skipSeconds: number,
  ): Promise<void> {
    const countsFromMs = startMs + skipSeconds * 1000;
    const dueSince: number[] = [];
    const idle = [...open];
    const takeNext = (connection: HttpConnection): void => {
      const sinceMs = dueSince.shift();
      if (sinceMs === undefined) idle.push(connection);
      else void this.#exchange(connection, sinceMs, sinceMs >= countsFromMs).then(() => takeNext(connection));
    };
    let sent = 0;
    for (let now = startMs; now < endMs; now = performance.now()) {
      for (; sent < ((now - startMs) / 1000) * rate; sent++) {
        const connection = idle.pop();
        if (connection === undefined && this.#options.mayShed === true) {
          if (now >= countsFromMs) this.#unsent += 1;
          continue;
        }
        dueSince.push(now);
        if (connection !== undefined) takeNext(connection);
      }
      await sleep(1);
    }
    while (idle.length < open.length) await sleep(1);
  }

  async #exchange(connection: HttpConnection, sinceMs: number, counts: boolean): Promise<void> {
    const { status } = await connection.send(this.#nextRequest());
    const isShed = status === 503 && this.#options.mayShed === true;
    if (isShed) await sleep(retryMs);
    if (!counts) return;
    if (isShed) {
      this.#shed += 1;
      return;
    }
    if (status >= 400) this.#refused += 1;
    this.#latenciesMs.push(performance.now() - sinceMs);
  }

  #nextRequest(): string {
    const { method, paths, headers, bodies = [] } = this.#options;
    const at = this.#next++;
    return formatRequest(method, paths[at % paths.length] ?? '/', headers, bodies[at % bodies.length]);
  }
}

if (import.meta.main) {
  // Only `load.ts` and `latency.ts` start this program, with this type.
  const options = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as NodeLoadOptions;
  process.stdout.write(JSON.stringify(await new Load(options).run()));
}
