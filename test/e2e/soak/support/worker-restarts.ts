import { childrenOf } from '../../gateway/support/child-processes.ts';
import { until } from '../../gateway/support/until.ts';

interface Clients {
  readonly failures: string[];
  /** Resolves when what a worker has taken along is among the failures. */
  untilNoticed(): Promise<void>;
}

/** Kills the youngest worker again and again; the oldest one lives through it all, so that what it leaks adds up. */
export class WorkerRestarts {
  count = 0;
  /** Failures of clients whose worker was killed while it served them. They are taken off the lists. */
  brokenOff = 0;
  readonly #parent: number;
  readonly #clients: readonly Clients[];

  constructor(parent: number, clients: readonly Clients[]) {
    this.#parent = parent;
    this.#clients = clients;
  }

  async restartOne(): Promise<void> {
    const workers = await childrenOf(this.#parent);
    const victim = Math.max(...workers);
    const failedBefore = this.#clients.map(({ failures }) => failures.length);
    process.kill(victim, 'SIGKILL');
    await until(async () => {
      const now = await childrenOf(this.#parent);
      return now.length === workers.length && !now.includes(victim);
    }, 'another worker');
    // Of what has happened, a busy process may hear late.
    await Promise.all(this.#clients.map((each) => each.untilNoticed()));
    this.count += 1;
    for (const [at, { failures }] of this.#clients.entries())
      this.brokenOff += failures.splice(failedBefore[at] ?? 0).length;
  }
}
