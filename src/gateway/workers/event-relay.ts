import type { TrafficObserver } from '../engine.ts';
import type { TrafficEvent } from './messages.ts';

type ListenerFault = Parameters<TrafficObserver['listenerFault']>[0];

/**
 * Tells the observer what the workers saw, as if there were one. Every worker listens on every port: a port is faulty
 * while it is so in any of them, and told so once.
 */
export class EventRelay {
  readonly #observer: TrafficObserver;
  /** By edge and port: the workers, by number, in which it is faulty. */
  readonly #faults = new Map<string, { readonly event: ListenerFault; readonly workers: Set<number> }>();

  constructor(observer: TrafficObserver) {
    this.#observer = observer;
  }

  relay(worker: number, events: readonly TrafficEvent[]): void {
    for (const event of events) this.#relayOne(worker, event);
  }

  /** The faults of a worker end with it. */
  forget(worker: number): void {
    for (const { event } of this.#faults.values()) this.#relayFault(worker, { ...event, cause: undefined });
  }

  #relayOne(worker: number, event: TrafficEvent): void {
    switch (event[0]) {
      case 'warned':
        this.#observer.warned(event[1], event[2]);
        break;
      case 'tcpOpened':
        this.#observer.tcpOpened(event[1]);
        break;
      case 'tcpClosed':
        this.#observer.tcpClosed(event[1]);
        break;
      case 'httpAnswered':
        this.#observer.httpAnswered(event[1]);
        break;
      case 'listenerFault':
        this.#relayFault(worker, event[1]);
        break;
    }
  }

  #relayFault(worker: number, event: ListenerFault): void {
    const key = `${event.edgeId} ${event.port}`;
    const known = this.#faults.get(key);
    if (event.cause !== undefined) {
      if (known !== undefined) known.workers.add(worker);
      else this.#faults.set(key, { event, workers: new Set([worker]) });
      if (known === undefined) this.#observer.listenerFault(event);
    } else if (known?.workers.delete(worker) === true && known.workers.size === 0) {
      this.#faults.delete(key);
      this.#observer.listenerFault(event);
    }
  }
}
