import type { TrafficObserver } from '../engine.ts';
import type { TrafficEvent } from './messages.ts';

type ListenerFault = Parameters<TrafficObserver['listenerFault']>[0];

interface OpenConnections {
  https: number;
  /** Number of connections by edge. */
  readonly tcp: Map<string, number>;
}

/** Fields of the event for a connection that ended with its worker. */
const takenAlong = { source: '', bytesIn: 0, bytesOut: 0, durationMs: 0, reason: 'worker gone' };

/**
 * Passes the events of all workers to one observer. Every worker listens on every port: a port is faulty while it is
 * faulty in any of them, and reported once.
 */
export class EventRelay {
  readonly #observer: TrafficObserver;
  readonly #open = new Map<number, OpenConnections>();
  /** Numbers of the workers in which a port is faulty, by edge and port. */
  readonly #faults = new Map<string, { readonly event: ListenerFault; readonly workers: Set<number> }>();

  constructor(observer: TrafficObserver) {
    this.#observer = observer;
  }

  relay(worker: number, events: readonly TrafficEvent[]): void {
    let open = this.#open.get(worker);
    if (open === undefined) this.#open.set(worker, (open = { https: 0, tcp: new Map() }));
    for (const event of events) {
      count(open, event);
      this.#relayOne(worker, event);
    }
  }

  /** Reports the end of all connections and faults of a worker that is gone. */
  forget(worker: number): void {
    const { https, tcp } = this.#open.get(worker) ?? { https: 0, tcp: new Map<string, number>() };
    this.#open.delete(worker);
    for (let left = https; left > 0; left--) this.#observer.httpsClosed();
    for (const [edgeId, connections] of tcp) {
      for (let left = connections; left > 0; left--) this.#observer.tcpClosed({ edgeId, ...takenAlong });
    }
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
      case 'httpsOpened':
        this.#observer.httpsOpened();
        break;
      case 'httpsClosed':
        this.#observer.httpsClosed();
        break;
      case 'httpAnswered':
        this.#observer.httpAnswered(event[1]);
        break;
      case 'listenerFault':
        this.#relayFault(worker, event[1]);
        break;
      case 'backendRefused':
        this.#observer.backendRefused(event[1]);
        break;
      case 'ownArrivalReset':
        this.#observer.ownArrivalReset();
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

function count(open: OpenConnections, event: TrafficEvent): void {
  if (event[0] === 'httpsOpened') open.https += 1;
  else if (event[0] === 'httpsClosed') open.https -= 1;
  else if (event[0] === 'tcpOpened' && event[1].verdict === 'allowed') countTcp(open, event[1].edgeId, 1);
  else if (event[0] === 'tcpClosed') countTcp(open, event[1].edgeId, -1);
}

function countTcp({ tcp }: OpenConnections, edgeId: string, change: number): void {
  const connections = (tcp.get(edgeId) ?? 0) + change;
  if (connections > 0) tcp.set(edgeId, connections);
  else tcp.delete(edgeId);
}
