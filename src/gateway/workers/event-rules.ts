import type { TrafficObserver } from '../engine.ts';

/** Events that are sent one by one; the others are packed, or only counted. */
export type SingleName = Exclude<keyof TrafficObserver, 'httpAnswered' | 'httpsOpened' | 'httpsClosed'>;

/**
 * Whether an event may be dropped where the parent does not keep up. One that may not is rare, or bounded by what is open: a
 * sign-out, a count of a rate limit or a fault that is lost would be wrong in the parent for good. `paired`: with the end of
 * a connection, where its beginning was dropped, and only there.
 */
export const eventRules: Readonly<Record<SingleName, 'kept' | 'droppable' | 'paired'>> = {
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
  ownArrivalReset: 'droppable',
};

// The keys of an object that has every name, and no other.
export const singleNames = Object.keys(eventRules) as readonly SingleName[];
