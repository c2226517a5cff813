import type { WorkerPlan } from './plan-workers.ts';

/** How a worker did since it was last looked at. */
export interface WorkerLoad {
  /** Share of the time in which it was not waiting, 0 to 1. */
  readonly busy: number;
  /** Open connections of clients. */
  readonly clients: number;
  readonly memoryBytes: number;
}

export interface Advice<Worker> {
  /** True: another worker is needed. */
  readonly add: boolean;
  /** A worker that has more than its share, and how many of its clients should come again. */
  readonly relieve?: { readonly worker: Worker; readonly clients: number };
}

const defaultBusyAbove = 0.7;
/** Looks in a row, of a second each: a burst is over before another worker would be of use. */
const looksBeforeAdding = 3;
/** Below this load nobody gains by an even share. */
const evenAbove = 0.4;
/** The least busy worker may be so much below the busiest. */
const tolerance = 0.15;
/** Connections that are moved at once: each costs a handshake. */
const mostMoved = 50;

/** Decides, once a second, whether the workers are enough, and whether they have even shares. */
export class Balance<Worker> {
  readonly #plan: WorkerPlan;
  #highLooks = 0;

  constructor(plan: WorkerPlan) {
    this.#plan = plan;
  }

  /** `coming`: workers that are being started, or have not reported yet. */
  look(loads: ReadonlyMap<Worker, WorkerLoad>, coming: number): Advice<Worker> {
    let busiest: [Worker, WorkerLoad] | undefined;
    let least = Infinity;
    for (const entry of loads) {
      if (busiest === undefined || entry[1].busy > busiest[1].busy) busiest = entry;
      least = Math.min(least, entry[1].busy);
    }
    if (busiest === undefined) return { add: false };
    const [worker, { busy, clients }] = busiest;
    const { busyAbove = defaultBusyAbove } = this.#plan;
    this.#highLooks = busy > busyAbove ? this.#highLooks + 1 : 0;
    const add = this.#highLooks >= looksBeforeAdding && loads.size + coming < this.#plan.most;
    if (add) this.#highLooks = 0;
    const excess = busy > evenAbove && least < busy * (1 - tolerance) ? (busy - least) / (2 * busy) : 0;
    // Half of what it has more should go. The system spreads those that come again over all workers, this one too.
    const returning = loads.size / Math.max(1, loads.size - 1);
    const moved = Math.min(mostMoved, Math.floor(Math.floor(clients * excess) * returning));
    return moved > 0 ? { add, relieve: { worker, clients: moved } } : { add };
  }
}
