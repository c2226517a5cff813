import { CallLanes, putInRing } from './call-lanes.ts';
import type { Account, Lane } from './call-lanes.ts';
import type { QueuedCall } from './queued-call.ts';

/**
 * Why a call was not let in: all turns were taken, or its account, or its principal within the account, had as many calls
 * in progress as it may.
 */
export type Refusal = 'overloaded' | 'account_busy' | 'principal_busy';

interface CallQueueOptions {
  /** Calls of one account that are in progress at once. */
  readonly accountLimit: number;
  /** Calls of one principal that are in progress at once; fewer, so that it cannot shut out the others of its account. */
  readonly principalLimit: number;
  /** A call that would have to wait longer than this is refused. */
  readonly maxWaitMs: number;
  /** Called whenever the number of calls that wait has changed. */
  readonly onWaiting: (count: number) => void;
  /** The gateway in this process has clients: their traffic goes first. */
  readonly isBesideTraffic: () => boolean;
}

/**
 * Time that calls may take in one turn of the event loop before traffic through the gateway has its turn: as much as
 * everything else has taken, which under overload is mostly the refusal of calls, within these bounds.
 */
const shortestSliceMs = 2;
const longestSliceMs = 10;
/**
 * Calls that begin in one turn of the event loop beside traffic. A turn has to read as many, commit as many and answer as
 * many, so that traffic would wait for all that are in progress at once; but the fewer a commit has, the more each costs.
 */
const callsBesideTraffic = 8;
/** Time after which calls that wait are looked at again, and over which the pace of calls is measured. */
const watchMs = 50;
/** A call that was not foreseen to wait may wait so many times as long, behind calls that take long themselves. */
const patience = 20;

/**
 * Lets calls in by turns between accounts, and within an account between its principals: the calls of one wait for each
 * other, not those of another. Accounts and principals have a limited number of calls in progress, and all together get a
 * slice of each turn of the event loop, so that the gateway in the same process has its turn in between. A call that would
 * have to wait too long is refused at once, and one that has waited too long behind calls in progress is refused then;
 * nothing was done for either.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #lanes = new CallLanes();
  /** Accounts with calls that wait, in the order of their turns. */
  readonly #ring: Account[] = [];
  #waiting = 0;
  #sliceMs = shortestSliceMs;
  #spentMs = 0;
  /** Calls that have begun since time was last counted from 0. */
  #begun = 0;
  #scheduledMs = 0;
  /** Time of this clock passes only while the process runs: calls are not late because it stood still. */
  #clockMs = 0;
  #readMs = performance.now();
  #isScheduled = false;
  #isWatched = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** The refusal that a call of this principal would get now, before it has waited; undefined if it would get none. */
  foresee(accountId: string, principalId: string): Refusal | undefined {
    const lane = this.#lanes.find(accountId, principalId);
    return lane === undefined ? undefined : this.#foresee(lane);
  }

  /** Calls `begin` when the turn of the call has come, perhaps at once, with a refusal if it has not come in time. */
  enter(accountId: string, principalId: string, call: QueuedCall): void {
    const lane = this.#lanes.open(accountId, principalId);
    const nowMs = performance.now();
    const refusal = this.#foresee(lane);
    if (refusal !== undefined) {
      call.begin(refusal);
    } else if (lane.waiting.length === 0 && this.#busyWith(lane) === undefined && this.#mayBegin) {
      this.#start(lane, call);
      this.#spend(nowMs);
    } else {
      this.#advanceClock();
      call.sinceMs = this.#clockMs;
      call.hasWaited = true;
      lane.waiting.push(call);
      putInRing(lane.account.ring, lane);
      putInRing(this.#ring, lane.account);
      this.#countWaiting(1);
      this.#schedule();
    }
  }

  /** Frees the place of a call in progress. */
  leave(call: QueuedCall): void {
    const { lane } = call;
    if (lane === undefined) return;
    call.lane = undefined;
    lane.running -= 1;
    lane.account.running -= 1;
    this.#lanes.forget(lane);
    if (lane.account.ring.length > 0) this.#schedule();
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#advanceClock();
    const elapsedMs = performance.now() - this.#scheduledMs;
    this.#sliceMs = Math.min(longestSliceMs, Math.max(shortestSliceMs, elapsedMs));
    this.#spentMs = 0;
    this.#begun = 0;
    const full: Account[] = [];
    while (this.#ring.length > 0 && this.#mayBegin) {
      const account = this.#ring.shift();
      if (account === undefined) break;
      const nowMs = performance.now();
      if (!this.#serveAccount(account, nowMs)) full.push(account);
      else if (account.ring.length > 0) this.#ring.push(account);
      else account.isInRing = false;
      this.#spend(nowMs);
    }
    if (this.#ring.length > 0) this.#schedule();
    this.#ring.push(...full);
    if (full.length > 0) this.#lookAgain();
  };

  /** Serves one call of the principal whose turn it is. Returns false if all of them have to wait for calls in progress. */
  #serveAccount({ ring }: Account, nowMs: number): boolean {
    for (let left = ring.length; left > 0; left--) {
      const lane = ring.shift();
      if (lane === undefined) break;
      const isServed = this.#serve(lane, nowMs);
      if (lane.waiting.length > 0) {
        ring.push(lane);
      } else {
        lane.isInRing = false;
        this.#lanes.forget(lane);
      }
      if (isServed) return true;
    }
    return false;
  }

  /** Serves the first call of a lane. Returns false if that has to wait for a call in progress. */
  #serve(lane: Lane, nowMs: number): boolean {
    const [call] = lane.waiting;
    if (call === undefined) return true;
    const busyWith = this.#busyWith(lane);
    const isLate = busyWith !== undefined && this.#clockMs - call.sinceMs > patience * this.#options.maxWaitMs;
    if (!call.isAbandoned && !isLate && busyWith !== undefined) return false;
    lane.waiting.shift();
    this.#countWaiting(-1);
    if (lane.waiting.length === 0) {
      lane.counted = undefined;
      lane.intervalMs = 0;
    } else if (!call.isAbandoned && !isLate) {
      this.#count(lane, nowMs);
    }
    if (call.isAbandoned) return true;
    if (isLate) call.begin(busyWith);
    else this.#start(lane, call);
    return true;
  }

  #advanceClock(): void {
    const nowMs = performance.now();
    // While calls wait, turns come more often than this.
    this.#clockMs += Math.min(nowMs - this.#readMs, 2 * watchMs);
    this.#readMs = nowMs;
  }

  /** Calls end in groups, by one commit, so that the time between them is a mean over many. */
  #count(lane: Lane, nowMs: number): void {
    const counted = (lane.counted ??= { sinceMs: nowMs, calls: 0 });
    const elapsedMs = nowMs - counted.sinceMs;
    if (elapsedMs > watchMs) {
      lane.intervalMs = elapsedMs / counted.calls;
      lane.counted = { sinceMs: nowMs, calls: 1 };
    } else {
      counted.calls += 1;
    }
  }

  #start(lane: Lane, call: QueuedCall): void {
    this.#begun += 1;
    call.lane = lane;
    lane.running += 1;
    lane.account.running += 1;
    call.begin();
  }

  #spend(sinceMs: number): void {
    this.#spentMs += performance.now() - sinceMs;
    // Time adds up over several turns of the loop until this one ends, so that few calls do not cost a turn each.
    if (this.#spentMs > shortestSliceMs / 2 || this.#begun > callsBesideTraffic / 2) this.#schedule();
  }

  /** False when traffic shall have its turn. */
  get #mayBegin(): boolean {
    if (this.#spentMs >= this.#sliceMs) return false;
    return this.#begun < callsBesideTraffic || !this.#options.isBesideTraffic();
  }

  #foresee(lane: Lane): Refusal | undefined {
    const { length } = lane.waiting;
    const { accountLimit, maxWaitMs } = this.#options;
    // A client that makes no more than twice as many calls at once as may be in progress is not the cause of overload.
    if (length < accountLimit || length * lane.intervalMs <= maxWaitMs) return undefined;
    return this.#busyWith(lane) ?? 'overloaded';
  }

  /** The limit that calls in progress have reached; undefined where there is a place. */
  #busyWith({ running, account }: Lane): 'account_busy' | 'principal_busy' | undefined {
    if (running >= this.#options.principalLimit) return 'principal_busy';
    return account.running >= this.#options.accountLimit ? 'account_busy' : undefined;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#scheduledMs = performance.now();
    setImmediate(this.#turn);
  }

  /** Calls behind those in progress may have to be refused before one of these has ended. */
  #lookAgain(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    setTimeout(() => {
      this.#isWatched = false;
      this.#schedule();
    }, watchMs).unref();
  }

  #countWaiting(change: number): void {
    this.#waiting += change;
    this.#options.onWaiting(this.#waiting);
  }
}
