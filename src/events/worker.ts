import { toTimestamp } from '../lib/ids.ts';
import { afterFailure, waitMs, withoutFailures } from './attempts.ts';
import type { FailedOutcome } from './attempts.ts';
import { paceOf } from './event.ts';
import type { EventTarget, Outcome, OutgoingEvent, Place } from './event.ts';
import { SourceUnavailable } from './storage.ts';
import type { Delivery, DeliveryState, Destination, EventStorage, Progress } from './storage.ts';

/** Events between two looks at the subscription. */
const eventsAtOnce = 20;
/** What was sent is noted at least so often: a process that dies sends it again. */
const noteEveryMs = 1_000;
/** Interval at which gateways are asked for further decisions. */
const pollMs = 2_000;
/** A place up to which nothing was to be sent is noted so often: a process that follows begins there. */
const noteSeenEveryMs = 60_000;
/** Pause before an event is tried again whose gateway does not answer. */
const unavailableMs = 30_000;
/** After a longer wait it is looked at again. */
const longestTimerMs = 3_600_000;

export interface WorkerParts {
  readonly storage: Pick<EventStorage, 'load' | 'next' | 'againOf' | 'read' | 'save'>;
  readonly holder: string;
  /** Sends events in turn with those of other destinations. They are read when their turn has come, so that few are in memory. */
  readonly send: (
    target: EventTarget,
    read: () => Promise<readonly OutgoingEvent[]>,
    signal: AbortSignal,
  ) => Promise<Outcome>;
  /** Ended with the lease. */
  readonly signal: AbortSignal;
  /** Tells whoever runs the server. */
  readonly warn: (fields: object, message: string) => void;
  readonly onFault: (error: unknown) => void;
}

/** Events that a receiver may have got by now. */
interface InFlight {
  readonly subscriptionId: string;
  readonly source: string;
  readonly types: readonly string[];
  readonly target: EventTarget;
}

/** How far somebody has looked, and when that was last noted. */
interface Seen {
  readonly place: Place;
  readonly notedMs: number;
}

/** One look at the deliveries of a destination. */
class Round {
  readonly #end = new AbortController();
  readonly signal: AbortSignal;
  inFlight: InFlight | undefined;
  /** The destination, or what names it, has changed since: no further event is sent by what was read. */
  isStale = false;
  /** Somebody wants an attempt at once, even if the one under way fails. */
  isUrgent = false;
  /** It has changed since somebody began to look whether the attempt is still wanted. */
  isDoubted = false;
  isChecked = false;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#end.signal]);
  }

  end(): void {
    this.#end.abort();
  }
}

/** Sends the events of all subscriptions that name one destination, one at a time. */
export class DestinationWorker {
  readonly #id: string;
  readonly #parts: WorkerParts;
  /** Places up to which nothing is to be sent, by subscription: not worth a write of their own. */
  readonly #seen = new Map<string, Seen>();
  #round: Round | undefined;
  #isStopped = false;
  #running: Promise<void> | undefined;
  #isAgain = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: string, parts: WorkerParts) {
    this.#id = id;
    this.#parts = parts;
  }

  /** Resolves when nothing is being sent. */
  get done(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** There may be something to send. */
  look(): void {
    this.#isAgain = true;
    this.#running ??= this.#run();
  }

  /**
   * The destination, or what names it, may have changed: an attempt under way ends if it is not wanted any more. `isUrgent`: it need
   * not wait for the next one.
   */
  restart(isUrgent: boolean): void {
    const round = this.#round;
    if (round !== undefined) {
      round.isStale = true;
      round.isUrgent ||= isUrgent;
      // Whoever gets an event would get it once more for each change, however small.
      if (round.inFlight === undefined) round.end();
      else void this.#recheck(round);
    }
    this.look();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#round?.end();
  }

  get #isOver(): boolean {
    return this.#isStopped || this.#parts.signal.aborted;
  }

  async #recheck(round: Round): Promise<void> {
    round.isDoubted = true;
    if (round.isChecked) return;
    round.isChecked = true;
    while (round.isDoubted && round.inFlight !== undefined) {
      round.isDoubted = false;
      const destination = await this.#parts.storage.load(this.#id).catch(() => undefined);
      if (round.inFlight !== undefined && !isWanted(round.inFlight, destination)) round.end();
    }
    round.isChecked = false;
  }

  async #run(): Promise<void> {
    clearTimeout(this.#timer);
    let nextMs = Infinity;
    try {
      while (this.#isAgain && !this.#isOver) {
        this.#isAgain = false;
        this.#round = new Round(this.#parts.signal);
        nextMs = await this.#doRound(this.#round);
      }
    } catch (error) {
      this.#parts.onFault(error);
      nextMs = noteEveryMs;
    }
    this.#running = undefined;
    this.#round = undefined;
    if (this.#isOver) return;
    if (this.#isAgain) this.look();
    else if (nextMs !== Infinity) this.#timer = setTimeout(() => this.look(), Math.min(nextMs, longestTimerMs)).unref();
  }

  /** Returns the time until something is to be tried again. */
  async #doRound(round: Round): Promise<number> {
    const destination = await this.#parts.storage.load(this.#id);
    let nextMs = Infinity;
    for (const delivery of destination?.deliveries ?? []) {
      if (round.signal.aborted || round.isStale || destination === undefined) break;
      const wait = waitMs(delivery.state, Date.now());
      const next = wait > 0 ? wait : await new Attempt(this.#parts, destination, delivery, this.#seen, round).run();
      if (next === 0) this.#isAgain = true;
      else nextMs = Math.min(nextMs, next);
    }
    return nextMs;
  }
}

/** Sends some of the events of one subscription. */
class Attempt {
  readonly #parts: WorkerParts;
  readonly #destination: Destination;
  readonly #delivery: Delivery;
  readonly #seen: Map<string, Seen>;
  readonly #round: Round;
  #state: DeliveryState;
  #notedMs = performance.now();
  /** The share of the account is used up for so long. */
  #laterMs = 0;

  constructor(parts: WorkerParts, destination: Destination, delivery: Delivery, seen: Map<string, Seen>, round: Round) {
    this.#parts = parts;
    this.#destination = destination;
    this.#delivery = delivery;
    this.#seen = seen;
    this.#round = round;
    this.#state = delivery.state;
  }

  /** Returns the time until the next attempt: 0 where there is more, infinite where nothing is left. */
  async run(): Promise<number> {
    const { storage } = this.#parts;
    const pauseMs = this.#pauseMs();
    if (pauseMs > 0) return pauseMs;
    const again = await storage.againOf(this.#delivery, eventsAtOnce);
    for (const places of this.#batches(again)) if (!(await this.#sendAgain(places))) return this.#leftMs();
    const { subscriptionId, source, state } = this.#delivery;
    const key = `${subscriptionId} ${source}`;
    const seen = this.#seen.get(key);
    const from = seen !== undefined && isBefore(state.place, seen.place) ? seen.place : state.place;
    const next = await storage.next(this.#delivery, from, eventsAtOnce);
    // The one that was tried before is gone, and perhaps some behind it.
    const isLost = next.isCut && (source !== '' || this.#state.failures > 0);
    if (isLost) this.#state = { ...withoutFailures(this.#state), lost: this.#state.lost + 1 };
    for (const places of this.#batches(next.found)) if (!(await this.#sendNext(places))) return this.#leftMs();
    this.#state = { ...this.#state, place: next.seen };
    // A look that found nothing is worth a write only where it was long, or it is one of many.
    const nowMs = performance.now();
    const isOld = source !== '' && isBefore(state.place, next.seen) && nowMs - (seen?.notedMs ?? 0) > noteSeenEveryMs;
    const isNoted = next.found.length > 0 || !next.isEnd || isLost || isOld;
    if (isNoted) await this.#note({});
    this.#seen.set(key, { place: next.seen, notedMs: isNoted ? nowMs : (seen?.notedMs ?? nowMs) });
    if (!next.isEnd || again.length === eventsAtOnce) return 0;
    return source === '' ? Infinity : pollMs;
  }

  #leftMs(): number {
    const laterMs = Math.max(this.#laterMs, this.#pauseMs());
    return this.#round.signal.aborted ? Infinity : Math.max(1, laterMs, waitMs(this.#state, Date.now()));
  }

  /** Time until the target may get something again, after what it got last. */
  #pauseMs(): number {
    const { sentAt } = this.#state;
    const { everyMs } = paceOf(this.#destination.target);
    if (sentAt === undefined || everyMs === 0) return 0;
    const sinceMs = Date.now() - Date.parse(sentAt);
    // A clock that was set back delays nothing.
    return sinceMs < 0 ? 0 : Math.max(0, everyMs - sinceMs);
  }

  /** Events that go out together. After a failure each goes alone, so that one which is not wanted holds up no other. */
  #batches(places: readonly Place[]): readonly (readonly Place[])[] {
    const most = this.#state.failures > 0 ? 1 : paceOf(this.#destination.target).most;
    return Array.from({ length: Math.ceil(places.length / most) }, (_, at) => places.slice(at * most, (at + 1) * most));
  }

  /** False: no further event is to be tried now. */
  async #sendNext(places: readonly Place[]): Promise<boolean> {
    const place = places.at(-1);
    const outcome = await this.#send(places);
    if (outcome === undefined || place === undefined) {
      await this.#note({});
      return false;
    }
    if (outcome.kind === 'later') return this.#putOff(outcome);
    if (outcome.kind !== 'sent') return this.#fail(outcome, places, true);
    this.#succeed({ ...this.#state, place }, outcome.remark);
    const isPaced = this.#pauseMs() > 0;
    if (!isPaced && performance.now() - this.#notedMs < noteEveryMs) return true;
    return (await this.#note({})) && !isPaced;
  }

  async #sendAgain(places: readonly Place[]): Promise<boolean> {
    const outcome = await this.#send(places);
    if (outcome === undefined) return false;
    if (outcome.kind === 'later') return this.#putOff(outcome);
    if (outcome.kind !== 'sent') return this.#fail(outcome, places, false);
    this.#succeed(this.#state, outcome.remark);
    return (await this.#note({ sentAgain: places })) && this.#pauseMs() === 0;
  }

  /** Undefined where the attempt was ended from here. */
  async #send(places: readonly Place[]): Promise<Outcome | undefined> {
    const round = this.#round;
    if (round.signal.aborted || round.isStale) return undefined;
    const { target } = this.#destination;
    const { subscriptionId, source } = this.#delivery;
    const read = async () => {
      const events: OutgoingEvent[] = [];
      for (const place of places) {
        const event = await this.#parts.storage.read(this.#delivery, place);
        if (event !== undefined) events.push(event);
      }
      if (events.length > 0) round.inFlight = { subscriptionId, source, types: events.map(({ type }) => type), target };
      return events;
    };
    try {
      return await this.#parts.send(target, read, round.signal);
    } catch (error) {
      if (round.signal.aborted) return undefined;
      if (error instanceof SourceUnavailable) return { kind: 'later', waitMs: unavailableMs, reason: error.message };
      throw error;
    } finally {
      round.inFlight = undefined;
    }
  }

  async #putOff({ waitMs: laterMs, reason }: Extract<Outcome, { kind: 'later' }>): Promise<boolean> {
    this.#laterMs = laterMs;
    this.#state = { ...this.#state, error: reason };
    await this.#note({});
    return false;
  }

  #succeed(state: DeliveryState, remark: string | undefined): void {
    if (state.failures > 0) this.#tell('events arrive again');
    this.#state = {
      ...withoutFailures(state),
      sentAt: toTimestamp(Date.now()),
      ...(remark !== undefined && { error: remark }),
    };
  }

  async #fail(outcome: FailedOutcome, places: readonly Place[], isNext: boolean): Promise<boolean> {
    const [place] = places;
    if (place === undefined) return false;
    const { state, isGivenUp } = afterFailure(this.#state, outcome, Date.now(), Math.random());
    if (this.#state.failures === 0) this.#tell(`an event did not arrive: ${outcome.reason}`);
    const behind = isGivenUp && isNext ? { ...state, place } : state;
    this.#state = this.#round.isUrgent ? { ...behind, retriesAt: undefined } : behind;
    const isKept = await this.#note(isGivenUp ? { givenUp: { place, reason: outcome.reason } } : {});
    // Of several that went together, only the first is settled: the others are looked for again.
    return isKept && isGivenUp && places.length === 1;
  }

  #tell(message: string): void {
    const { destinationId: destination, subscriptionId: subscription, accountId: account } = this.#delivery;
    this.#parts.warn({ destination, subscription, account }, message);
  }

  async #note(progress: Omit<Progress, 'state'>): Promise<boolean> {
    this.#notedMs = performance.now();
    const { storage, holder } = this.#parts;
    return storage.save(holder, this.#delivery, { state: this.#state, ...progress });
  }
}

function isBefore(one: Place, other: Place): boolean {
  return one.version < other.version || (one.version === other.version && one.position < other.position);
}

/** True: what it is by now sends the events still, and to the same place. */
function isWanted({ subscriptionId, source, types, target }: InFlight, destination: Destination | undefined): boolean {
  const delivery = destination?.deliveries.find(
    (each) => each.subscriptionId === subscriptionId && each.source === source,
  );
  // Both were made by the same function, with their fields in one order.
  const isSame = JSON.stringify(destination?.target) === JSON.stringify(target);
  return isSame && delivery !== undefined && types.every((type) => delivery.types.has(type));
}
