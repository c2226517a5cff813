/** Why a call was not let in: all turns were taken, or its lane had as many calls in progress as it may. */
export type Refusal = 'overloaded' | 'account_busy';

interface CallQueueOptions {
  /** Calls of one lane that are in progress at once. */
  readonly laneLimit: number;
  /** Time after which a call that waits is refused. */
  readonly maxWaitMs: number;
  /** Called whenever the number of calls that wait has changed. */
  readonly onWaiting: (count: number) => void;
}

interface Lane {
  running: number;
  readonly waiting: QueuedCall[];
}

/** Time that calls may take in one turn of the event loop before traffic through the gateway has its turn. */
const sliceMs = 2;

/** One call, from its arrival until nothing is done for it any more. */
export class QueuedCall {
  readonly begin: (refusal: Refusal | undefined, waitedMs: number) => void;
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
 * loop, so that the gateway in the same process has its turn in between. A call that cannot be let in for long is refused
 * before anything was done for it; while the first of its lane waits for long, it is refused at once.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #lanes = new Map<string, Lane>();
  /** Lanes with calls that wait, in the order of their turns. */
  readonly #ring: Lane[] = [];
  #waiting = 0;
  #spentMs = 0;
  #isScheduled = false;
  #isWatched = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** Calls `begin` when the turn of the call has come, perhaps at once, with a refusal if it has not come in time. */
  enter(key: string, call: QueuedCall): void {
    const lane = this.#laneOf(key);
    const nowMs = performance.now();
    call.sinceMs = nowMs;
    const [first] = lane.waiting;
    const isSlow = first !== undefined && nowMs - first.sinceMs > this.#options.maxWaitMs / 2;
    if (isSlow && !this.#fits(lane, lane.waiting.length + 1)) {
      call.begin(this.#reasonOf(lane), 0);
    } else if (first === undefined && this.#isFree(lane) && this.#spentMs < sliceMs) {
      this.#start(lane, call, nowMs);
      this.#spend(nowMs);
    } else {
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
    this.#spentMs = 0;
    const full: Lane[] = [];
    while (this.#ring.length > 0 && this.#spentMs < sliceMs) {
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
    const waitedMs = nowMs - call.sinceMs;
    const isLate = waitedMs > this.#options.maxWaitMs && !this.#fits(lane, lane.waiting.length);
    if (!call.isAbandoned && !isLate && !this.#isFree(lane)) return false;
    lane.waiting.shift();
    this.#countWaiting(-1);
    if (call.isAbandoned) return true;
    if (isLate) call.begin(this.#reasonOf(lane), waitedMs);
    else this.#start(lane, call, nowMs);
    return true;
  }

  #start(lane: Lane, call: QueuedCall, nowMs: number): void {
    call.lane = lane;
    lane.running += 1;
    call.begin(undefined, nowMs - call.sinceMs);
  }

  #spend(sinceMs: number): void {
    this.#spentMs += performance.now() - sinceMs;
    // Time adds up over several turns of the loop until this one ends, so that few calls do not cost a turn each.
    if (this.#spentMs > sliceMs / 2) this.#schedule();
  }

  #isFree(lane: Lane): boolean {
    return this.#fits(lane, 1);
  }

  /** True if so many calls can begin at once: then it was the process that stood still, and serving them is cheap. */
  #fits(lane: Lane, calls: number): boolean {
    return lane.running + calls <= this.#options.laneLimit;
  }

  #reasonOf(lane: Lane): Refusal {
    return this.#isFree(lane) ? 'overloaded' : 'account_busy';
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#turn);
  }

  /** Calls behind those in progress may have to be refused before one of these has ended. */
  #lookAgain(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    setTimeout(() => {
      this.#isWatched = false;
      this.#schedule();
    }, this.#options.maxWaitMs / 10).unref();
  }

  #countWaiting(change: number): void {
    this.#waiting += change;
    this.#options.onWaiting(this.#waiting);
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane: Lane = { running: 0, waiting: [] };
    this.#lanes.set(key, lane);
    return lane;
  }
}
