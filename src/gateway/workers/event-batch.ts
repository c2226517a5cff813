import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { SingleEvent } from './messages.ts';
import { AnswerPacker } from './packed-answers.ts';
import type { PackedAnswers } from './packed-answers.ts';

const flushMs = 50;
const batchLimit = 2000;
/** Most events that wait for a parent that does not keep up; further ones are dropped and counted. */
const waitingLimit = 100_000;

type SendEvents = (events: readonly SingleEvent[], answers: PackedAnswers) => Promise<void>;

/** Collects the events of a worker and sends them in batches, one at a time. */
export class EventBatch {
  readonly observer: TrafficObserver;
  readonly #send: SendEvents;
  readonly #log: GatewayLog;
  readonly #answers = new AnswerPacker();
  /** Full batches of answers. */
  readonly #packed: PackedAnswers[] = [];
  #waiting: SingleEvent[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: SendEvents, log: GatewayLog) {
    this.#send = send;
    this.#log = log;
    this.observer = {
      warned: (...event) => {
        this.#add(['warned', ...event]);
      },
      tcpOpened: (...event) => {
        this.#add(['tcpOpened', ...event]);
      },
      tcpClosed: (...event) => {
        this.#add(['tcpClosed', ...event]);
      },
      httpsOpened: () => {
        this.#add(['httpsOpened']);
      },
      httpsClosed: () => {
        this.#add(['httpsClosed']);
      },
      httpAnswered: (...event) => {
        if (!this.#mayAdd()) return;
        this.#answers.add(...event);
        if (this.#answers.length === batchLimit) this.#packed.push(this.#answers.take());
      },
      handshakeFailed: (event) => {
        this.#add(['handshakeFailed', event]);
      },
      boundsReported: (reports) => {
        this.#add(['boundsReported', reports]);
      },
      listenerFault: (event) => {
        this.#add(['listenerFault', event]);
      },
      backendRefused: (event) => {
        this.#add(['backendRefused', event]);
      },
      passwordRefused: (...event) => {
        this.#add(['passwordRefused', ...event]);
      },
      visitorSeen: (session) => {
        this.#add(['visitorSeen', session]);
      },
      visitorLeft: (session) => {
        this.#add(['visitorLeft', session]);
      },
      ratesCounted: (reports) => {
        this.#add(['ratesCounted', reports]);
      },
      ownArrivalReset: () => {
        this.#add(['ownArrivalReset']);
      },
      entryFault: (event) => {
        this.#add(['entryFault', event]);
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
    if (this.#mayAdd()) this.#waiting.push(event);
  }

  /** True: the event will be sent with the next batch. */
  #mayAdd(): boolean {
    if (this.#count >= waitingLimit) {
      this.#dropped++;
      return false;
    }
    this.#timer ??= setTimeout(() => void this.flush(), flushMs);
    return true;
  }

  async #sendAll(): Promise<void> {
    while (this.#count > 0)
      await this.#send(this.#waiting.splice(0, batchLimit), this.#packed.shift() ?? this.#answers.take());
    if (this.#dropped === 0) return;
    this.#log.warn({ dropped: this.#dropped }, 'traffic events were dropped: the parent process does not keep up');
    this.#dropped = 0;
  }
}
