/** Why a call was not let in: all turns were taken, or its lane had as many calls in progress as it may. */
export type Refusal = 'overloaded' | 'account_busy';

interface CallQueueOptions {
  /** Calls of one lane that are in progress at once. */
  readonly laneLimit: number;
  /** A call that would have to wait longer than this is refused. */
  readonly maxWaitMs: number;
  /** Called whenever the number of calls that wait has changed. */
  readonly onWaiting: (count: number) => void;
}

interface Lane {
  running: number;
  readonly waiting: QueuedCall[];
  /** Calls that began since then while others waited; undefined while none waits. */
  counted: { sinceMs: number; calls: number } | undefined;
  /** Mean time between such calls, by which the wait of a new one is foreseen; 0 while it is not known. */
  intervalMs: number;
}

/**
 * Time that calls may take in one turn of the event loop before traffic through the gateway has its turn: as much as
 * everything else has taken, which under overload is mostly the refusal of calls, within these bounds.
 */
const shortestSliceMs = 2;
const longestSliceMs = 10;
/** Time after which calls that wait are looked at again, and over which the pace of calls is measured. */
const watchMs = 50;
/** A call that was not foreseen to wait may wait so many times as long, behind calls that take long themselves. */
const patience = 20;

/** One call, from its arrival until nothing is done for it any more. */
export class QueuedCall {
  readonly begin: (refusal?: Refusal) => void;
  sinceMs = 0;
  /** The lane in which it is in progress. */
  lane: Lane | undefined;
  /** Its client went away before its turn came: it is not carried out. */
  isAbandoned = false;
  #holds = 1;
  readonly #leave: (call: QueuedCall) => void;

  constructor(queue: CallQueue, begin: QueuedCall['begin']) {
    this.begin = begin;
    this.#leave = (call) => queue.leave(call);
  }

  /** Keeps the place of the call in its lane until one more `release`. */
  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds > 0) return;
    this.isAbandoned = true;
    this.#leave(this);
  }
}

/**
 * Lets calls in by turns between lanes, one lane for each account: the calls of one account wait for each other, not those
 * of another. A lane has a limited number of calls in progress, and all lanes together get a slice of each turn of the event
 * loop, so that the gateway in the same process has its turn in between. A call that would have to wait too long is refused
 * at once, and one that has waited too long behind calls in progress is refused then; nothing was done for either.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with calls that wait, in the order of their turns. */
  readonly #ring: Lane[] = [];
  #waiting = 0;
  #sliceMs = shortestSliceMs;
  #spentMs = 0;
  #scheduledMs = 0;
  /** Time of this clock passes only while the process runs: calls are not late because it stood still. */
  #clockMs = 0;
  #readMs = performance.now();
  #isScheduled = false;
  #isWatched = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** Calls `begin` when the turn of the call has come, perhaps at once, with a refusal if it has not come in time. */
  enter(key: string, call: QueuedCall): void {
    const lane = this.#laneOf(key);
    const nowMs = performance.now();
    const { length } = lane.waiting;
    const { laneLimit, maxWaitMs } = this.#options;
    // A client that makes no more than twice as many calls at once as may be in progress is not the cause of overload.
    if (length >= laneLimit && length * lane.intervalMs > maxWaitMs) {
      call.begin(this.#isFree(lane) ? 'overloaded' : 'account_busy');
    } else if (length === 0 && this.#isFree(lane) && this.#spentMs < this.#sliceMs) {
      this.#start(lane, call);
      this.#spend(nowMs);
    } else {
      this.#advanceClock();
      call.sinceMs = this.#clockMs;
      if (lane.waiting.push(call) === 1) this.#ring.push(lane);
      this.#countWaiting(1);
      this.#schedule();
    }
  }

  /** Moves a call in progress to the lane that it belongs to, once that is known. */
  move(call: QueuedCall, key: string): void {
    const lane = this.#laneOf(key);
    if (lane === call.lane || call.lane === undefined) return;
    this.leave(call);
    call.lane = lane;
    lane.running += 1;
  }

  /** Frees the place of a call in progress. */
  leave(call: QueuedCall): void {
    const { lane } = call;
    if (lane === undefined) return;
    call.lane = undefined;
    lane.running -= 1;
    if (lane.waiting.length > 0) this.#schedule();
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#advanceClock();
    const elapsedMs = performance.now() - this.#scheduledMs;
    this.#sliceMs = Math.min(longestSliceMs, Math.max(shortestSliceMs, elapsedMs));
    this.#spentMs = 0;
    const full: Lane[] = [];
    while (this.#ring.length > 0 && this.#spentMs < this.#sliceMs) {
      const lane = this.#ring.shift();
      if (lane === undefined) break;
      const nowMs = performance.now();
      if (!this.#serve(lane, nowMs)) full.push(lane);
      else if (lane.waiting.length > 0) this.#ring.push(lane);
      this.#spend(nowMs);
    }
    if (this.#ring.length > 0) this.#schedule();
    this.#ring.push(...full);
    if (full.length > 0) this.#lookAgain();
  };

  /** Serves the first call of a lane. Returns false if that has to wait for another one of its lane. */
  #serve(lane: Lane, nowMs: number): boolean {
    const [call] = lane.waiting;
    if (call === undefined) return true;
    const isFree = this.#isFree(lane);
    const isLate = !isFree && this.#clockMs - call.sinceMs > patience * this.#options.maxWaitMs;
    if (!call.isAbandoned && !isLate && !isFree) return false;
    lane.waiting.shift();
    this.#countWaiting(-1);
    if (isLate && !call.isAbandoned) {
      call.begin('account_busy');
    } else if (!call.isAbandoned) {
      this.#count(lane, nowMs);
      this.#start(lane, call);
    }
    if (lane.waiting.length === 0) {
      lane.counted = undefined;
      lane.intervalMs = 0;
    }
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
    call.lane = lane;
    lane.running += 1;
    call.begin();
  }

  #spend(sinceMs: number): void {
    this.#spentMs += performance.now() - sinceMs;
    // Time adds up over several turns of the loop until this one ends, so that few calls do not cost a turn each.
    if (this.#spentMs > shortestSliceMs / 2) this.#schedule();
  }

  #isFree(lane: Lane): boolean {
    return lane.running < this.#options.laneLimit;
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

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, waiting: [], counted: undefined, intervalMs: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }
}
