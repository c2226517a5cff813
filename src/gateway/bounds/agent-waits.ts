import { KeyCounts } from '../../lib/key-counts.ts';
import { KeySets } from '../../lib/key-sets.ts';
import { limitOf } from './bound.ts';
import type { GatewayBoundReports, GatewayBounds } from './bound.ts';

/** A visitor whose agent is on its way back. One of its methods is called, once, unless it leaves. */
export interface AgentWaiter {
  readonly accountId: string;
  /** `performance.now()` until which it waits. */
  readonly untilMs: number;
  /** Something has changed about the backend: an agent may have come, or is expected no longer. */
  retry(): void;
  /** No agent came in time. */
  giveUp(): void;
}

/** `full`: as many wait as may. `late`: its time is over. */
export type Waiting = { readonly leave: () => void } | 'full' | 'late';

interface Entered {
  readonly waiter: AgentWaiter;
  readonly timer: NodeJS.Timeout;
}

/** Visitors that wait for agents, by the backend; refuses those beyond the bound. */
export class AgentWaits {
  readonly limitMs: number;
  readonly #limits: GatewayBounds;
  readonly #reports: GatewayBoundReports;
  readonly #byBackend = new KeySets<string, Entered>();
  readonly #byAccount = new KeyCounts<string>();
  #count = 0;

  constructor(limits: GatewayBounds, reports: GatewayBoundReports) {
    this.limitMs = limits.agentWaitMs;
    this.#limits = limits;
    this.#reports = reports;
    reports.watch('agent_waiting', limitOf(limits, 'agentWaiting'), () => this.#count);
  }

  /** `retryMs`: it is called after this time even if nothing has changed. */
  enter(backendId: string, waiter: AgentWaiter, retryMs = Infinity): Waiting {
    const { accountId, untilMs } = waiter;
    const leftMs = untilMs - performance.now();
    if (this.limitMs === 0 || leftMs <= 0) return 'late';
    const { agentWaiting } = this.#limits;
    // Visitors of one account must not take the places of all others.
    const accountLimit = Math.ceil(agentWaiting / 4);
    if (this.#count >= agentWaiting || this.#byAccount.of(accountId) >= accountLimit) {
      this.#reports.refused('agent_waiting', { backendId });
      return 'full';
    }
    const timer = setTimeout(
      () => {
        leave();
        if (performance.now() >= untilMs) waiter.giveUp();
        else waiter.retry();
      },
      Math.ceil(Math.min(leftMs, retryMs)),
    );
    const entered = { waiter, timer };
    const leave = (): void => {
      this.#remove(backendId, entered);
    };
    this.#add(backendId, entered);
    return { leave };
  }

  /** Calls those that wait for the backend, one turn later: the update that brings the agent is then in force as a whole. */
  wake(backendId: string): void {
    if (this.#byBackend.of(backendId) === undefined) return;
    setImmediate(() => {
      // A copy: one that is called may come again, or make others leave.
      const called = [...(this.#byBackend.of(backendId) ?? [])];
      for (const entered of called) if (this.#remove(backendId, entered)) entered.waiter.retry();
    });
  }

  wakeAll(): void {
    for (const [backendId] of this.#byBackend.entries()) this.wake(backendId);
  }

  #add(backendId: string, entered: Entered): void {
    this.#byBackend.add(backendId, entered);
    this.#counted(entered.waiter.accountId, 1);
  }

  /** False: it has left already. */
  #remove(backendId: string, entered: Entered): boolean {
    clearTimeout(entered.timer);
    if (!this.#byBackend.delete(backendId, entered)) return false;
    this.#counted(entered.waiter.accountId, -1);
    return true;
  }

  #counted(accountId: string, by: 1 | -1): void {
    this.#count += by;
    this.#byAccount.add(accountId, by);
  }
}
