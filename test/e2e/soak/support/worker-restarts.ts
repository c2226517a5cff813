import { setTimeout as sleep } from 'node:timers/promises';

import { childrenOf } from '../../gateway/support/child-processes.ts';
import { until } from '../../gateway/support/until.ts';

/** Time after the start of a worker in which clients notice what the one before has taken along. */
const noticeMs = 1_000;

/** Kills the youngest worker again and again; the oldest one lives through it all, so that what it leaks adds up. */
export class WorkerRestarts {
  count = 0;
  /** Failures of clients whose worker was killed while it served them. They are taken off the lists. */
  brokenOff = 0;
  readonly #parent: number;
  /** The lists of failures of the clients. */
  readonly #failures: readonly string[][];

  constructor(parent: number, failures: readonly string[][]) {
    this.#parent = parent;
    this.#failures = failures;
  }

  async restartOne(): Promise<void> {
    const workers = await childrenOf(this.#parent);
    const victim = Math.max(...workers);
    const failedBefore = this.#failures.map(({ length }) => length);
    process.kill(victim, 'SIGKILL');
    await until(async () => {
      const now = await childrenOf(this.#parent);
      return now.length === workers.length && !now.includes(victim);
    }, 'another worker');
    await sleep(noticeMs);
    this.count += 1;
    for (const [at, list] of this.#failures.entries()) this.brokenOff += list.splice(failedBefore[at] ?? 0).length;
  }
}
