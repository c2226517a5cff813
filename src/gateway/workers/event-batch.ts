import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { Events, SingleEvent, SingleName } from './messages.ts';
import { AnswerPacker } from './packed-answers.ts';
import type { PackedAnswers } from './packed-answers.ts';

const flushMs = 50;
const batchLimit = 2000;
/** Most events that wait for a parent that does not keep up; of further ones, those that may be are dropped and counted. */
const waitingLimit = 100_000;

/**
 * Whether an event may be dropped where the parent does not keep up. One that may not is rare, or bounded by what is open: a
 * sign-out, a count of a rate limit or a fault that is lost would be wrong in the parent for good. `paired`: with the end of
 * a connection, where its beginning was dropped, and only there.
 */
const eventRules: Readonly<Record<SingleName, 'kept' | 'droppable' | 'paired'>> = {
  warned: 'droppable',
  tcpOpened: 'paired',
  tcpClosed: 'paired',
  handshakeFailed: 'droppable',
  boundsReported: 'kept',
  listenerFault: 'kept',
  entryFault: 'kept',
  backendRefused: 'droppable',
  passwordRefused: 'droppable',
  // The next use of the session tells the same.
  visitorSeen: 'droppable',
  visitorLeft: 'kept',
  ratesCounted: 'kept',
  inspected: 'droppable',
  ownArrivalReset: 'droppable',
};

// The keys of an object that has every name, and no other.
export const singleNames = Object.keys(eventRules) as readonly SingleName[];

type SendEvents = (events: Omit<Events, 'type'>) => Promise<void>;

/** Collects the events of a worker and sends them in batches, one at a time. */
export class EventBatch {
  readonly observer: TrafficObserver;
  readonly #send: SendEvents;
  readonly #log: GatewayLog;
  readonly #answers = new AnswerPacker();
  /** Full batches of answers. */
  readonly #packed: PackedAnswers[] = [];
  #waiting: SingleEvent[] = [];
  /** Connections to the HTTPS listener, of which only the numbers matter: they are never dropped. */
  #https = { opened: 0, closed: 0 };
  /** Open TCP connections whose beginning was dropped. */
  readonly #untold = new Set<string>();
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: SendEvents, log: GatewayLog) {
    this.#send = send;
    this.#log = log;
    const singles = singleNames.map((name) => [
      name,
      (...parameters: unknown[]) => {
        this.#add([name, ...parameters] as unknown as SingleEvent);
      },
    ]);
    this.observer = {
      // One method for each name that the type lists, which passes on whatever it is given.
      ...(Object.fromEntries(singles) as TrafficObserver),
      httpsOpened: () => {
        this.#https.opened += 1;
        this.#schedule();
      },
      httpsClosed: () => {
        this.#https.closed += 1;
        this.#schedule();
      },
      httpAnswered: (...event) => {
        if (this.#isFull()) return;
        this.#answers.add(...event);
        if (this.#answers.length === batchLimit) this.#packed.push(this.#answers.take());
        this.#schedule();
      },
    };
  }

  /** Resolves when all events so far have been handed over. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  get #count(): number {
    return this.#waiting.length + this.#packed.length * batchLimit + this.#answers.length;
  }

  #add(event: SingleEvent): void {
    if (this.#mayDrop(event) && this.#isFull()) {
      if (event[0] === 'tcpOpened' && event[1].verdict === 'allowed') this.#untold.add(event[2].connectionId);
      return;
    }
    // The parent knows nothing of a connection whose beginning it was not told.
    if (event[0] === 'tcpClosed' && event[2] !== undefined && this.#untold.delete(event[2].connectionId)) return;
    this.#waiting.push(event);
    this.#schedule();
  }

  #mayDrop([name]: SingleEvent): boolean {
    return eventRules[name] === 'droppable' || name === 'tcpOpened';
  }

  /** Counts what is dropped for want of room. */
  #isFull(): boolean {
    if (this.#count < waitingLimit) return false;
    this.#dropped++;
    return true;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), flushMs);
  }

  async #sendAll(): Promise<void> {
    while (this.#count > 0 || this.#https.opened > 0 || this.#https.closed > 0) {
      const https = this.#https;
      this.#https = { opened: 0, closed: 0 };
      const events = this.#waiting.splice(0, batchLimit);
      await this.#send({ events, https, answers: this.#packed.shift() ?? this.#answers.take() });
    }
    if (this.#dropped === 0) return;
    this.#log.warn({ dropped: this.#dropped }, 'traffic events were dropped: the parent process does not keep up');
    this.#dropped = 0;
  }
}
