import { keyOf } from '../../snapshot/contract.ts';
import type { EntryFault } from '../../snapshot/set-aside.ts';
import type { BoundReport } from '../../lib/bound-reports.ts';
import { KeyCounts } from '../../lib/key-counts.ts';
import type { Bound } from '../bounds/bound.ts';
import type { ListenerFault, TrafficObserver } from '../engine.ts';
import type { Events, SingleEvent } from './messages.ts';
import { unpackAnswers } from './packed-answers.ts';

/** A fault of something that every worker has; without a cause it is over. */
interface Fault {
  readonly cause: Error | undefined;
}

interface OpenConnections {
  https: number;
  /** Number of connections by edge. */
  readonly tcp: KeyCounts<string>;
}

/** Fields of the event for a connection that ended with its worker. */
const takenAlong = { source: '', bytesIn: 0, bytesOut: 0, durationMs: 0, reason: 'worker gone' };

/**
 * Passes the events of all workers to one observer. Every worker listens on every port and loads every entry: one is faulty
 * while it is faulty in any of them, and reported once.
 */
export class EventRelay {
  readonly #observer: TrafficObserver;
  readonly #open = new Map<number, OpenConnections>();
  readonly #listenerFaults: SharedFaults<ListenerFault>;
  readonly #entryFaults: SharedFaults<EntryFault>;
  /** The last report of each worker on its part of a bound. */
  readonly #bounds = new Map<Bound, Map<number, BoundReport<Bound>>>();

  constructor(observer: TrafficObserver) {
    this.#observer = observer;
    this.#listenerFaults = new SharedFaults(
      ({ edgeId, port }) => `${edgeId} ${port}`,
      (event) => {
        observer.listenerFault(event);
      },
    );
    this.#entryFaults = new SharedFaults<EntryFault>(keyOf, (event) => {
      observer.entryFault(event);
    });
  }

  relay(worker: number, { events, https, answers }: Omit<Events, 'type'>): void {
    let open = this.#open.get(worker);
    if (open === undefined) this.#open.set(worker, (open = { https: 0, tcp: new KeyCounts() }));
    open.https += https.opened - https.closed;
    for (let left = https.opened; left > 0; left--) this.#observer.httpsOpened();
    for (let left = https.closed; left > 0; left--) this.#observer.httpsClosed();
    for (const event of events) {
      count(open, event);
      this.#relayOne(worker, event);
    }
    for (const [event, decision] of unpackAnswers(answers, worker)) this.#observer.httpAnswered(event, decision);
  }

  /** Reports the end of all connections and faults of a worker that is gone. */
  forget(worker: number): void {
    const { https, tcp } = this.#open.get(worker) ?? { https: 0, tcp: new KeyCounts<string>() };
    this.#open.delete(worker);
    for (let left = https; left > 0; left--) this.#observer.httpsClosed();
    for (const [edgeId, connections] of tcp.entries()) {
      for (let left = connections; left > 0; left--) this.#observer.tcpClosed({ edgeId, ...takenAlong });
    }
    for (const parts of this.#bounds.values()) parts.delete(worker);
    this.#listenerFaults.forget(worker);
    this.#entryFaults.forget(worker);
  }

  #relayOne(worker: number, event: SingleEvent): void {
    switch (event[0]) {
      case 'boundsReported':
        this.#observer.boundsReported(event[1].map((report) => this.#joinUse(worker, report)));
        break;
      case 'listenerFault':
        this.#listenerFaults.relay(worker, event[1]);
        break;
      case 'entryFault':
        this.#entryFaults.relay(worker, event[1]);
        break;
      case 'tcpOpened':
        this.#observer.tcpOpened(event[1], { ...event[2], worker });
        break;
      case 'tcpClosed':
        this.#observer.tcpClosed(event[1], event[2] && { ...event[2], worker });
        break;
      default: {
        const [name, ...parameters] = event;
        // The parameters are those that the method of this name was called with in the worker.
        Reflect.apply(this.#observer[name], this.#observer, parameters);
      }
    }
  }

  /** Each worker has a part of a bound, unless it is one of each connection or link. */
  #joinUse(worker: number, report: BoundReport<Bound>): BoundReport<Bound> {
    const parts = this.#bounds.get(report.bound) ?? new Map<number, BoundReport<Bound>>();
    this.#bounds.set(report.bound, parts.set(worker, report));
    const all = [...parts.values()];
    const join = ofEach.has(report.bound) ? most : sum;
    return { ...report, limit: join(all.map(({ limit }) => limit)), inUse: join(all.map(({ inUse }) => inUse)) };
  }
}

/** Bounds that each connection, request or link has for itself. */
const ofEach: ReadonlySet<Bound> = new Set(['stream_resets', 'backend_queue_seconds', 'link_unread_mib']);

function most(values: readonly number[]): number {
  return Math.max(...values);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Faults that are there while any worker has them, and are reported once. */
class SharedFaults<Event extends Fault> {
  readonly #keyOf: (event: Event) => string;
  readonly #report: (event: Event) => void;
  readonly #known = new Map<string, { readonly event: Event; readonly workers: Set<number> }>();

  constructor(toKey: (event: Event) => string, report: (event: Event) => void) {
    this.#keyOf = toKey;
    this.#report = report;
  }

  relay(worker: number, event: Event): void {
    const key = this.#keyOf(event);
    const known = this.#known.get(key);
    if (event.cause !== undefined) {
      if (known !== undefined) known.workers.add(worker);
      else this.#known.set(key, { event, workers: new Set([worker]) });
      if (known === undefined) this.#report(event);
    } else if (known?.workers.delete(worker) === true && known.workers.size === 0) {
      this.#known.delete(key);
      this.#report(event);
    }
  }

  forget(worker: number): void {
    for (const { event } of this.#known.values()) this.relay(worker, { ...event, cause: undefined });
  }
}

function count(open: OpenConnections, event: SingleEvent): void {
  if (event[0] === 'tcpOpened' && event[1].verdict === 'allowed') open.tcp.add(event[1].edgeId, 1);
  else if (event[0] === 'tcpClosed') open.tcp.add(event[1].edgeId, -1);
}
