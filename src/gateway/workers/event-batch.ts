import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { TrafficEvent } from './messages.ts';

const flushMs = 50;
const batchLimit = 2000;
/** Most events that wait for a parent that does not keep up; further ones are dropped and counted. */
const waitingLimit = 100_000;

/** Collects the events of a worker and sends them in batches, one at a time. */
export class EventBatch {
  readonly observer: TrafficObserver;
  readonly #send: (events: readonly TrafficEvent[]) => Promise<void>;
  readonly #log: GatewayLog;
  #waiting: TrafficEvent[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (events: readonly TrafficEvent[]) => Promise<void>, log: GatewayLog) {
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
        this.#add(['httpAnswered', ...event]);
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

  #add(event: TrafficEvent): void {
    if (this.#waiting.length >= waitingLimit) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(event);
    this.#timer ??= setTimeout(() => void this.flush(), flushMs);
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.#send(this.#waiting.splice(0, batchLimit));
    if (this.#dropped === 0) return;
    this.#log.warn({ dropped: this.#dropped }, 'traffic events were dropped: the parent process does not keep up');
    this.#dropped = 0;
  }
}
