import type { Socket } from 'node:net';

import { ready } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { parseIp } from '../../lib/ip/address.ts';
import type { ClientRules } from '../../lib/ip/identify-client.ts';
import type { SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { TrafficObserver } from '../engine.ts';
import type { OwnAddresses } from './own-addresses.ts';
import { arrivalOf } from './upstream-sockets.ts';
import type { Arrival, UpstreamSockets } from './upstream-sockets.ts';

const notOurs = ready(false);

/** Asks the other processes of the gateway whether a socket of theirs made the connection. */
export type AskOthers = (arrival: Arrival) => Promise<boolean>;

/**
 * Knows the connections that the gateway has made to itself. They must be reset without a look at what they bring: their
 * bytes are those of somebody's client, but come from an address of this machine, which may be trusted.
 */
export class Arrivals implements SnapshotFollower {
  readonly #sockets: UpstreamSockets;
  readonly #own: OwnAddresses;
  readonly #askOthers: AskOthers | undefined;
  /** Ports of all backends there have been: the others have no socket to any other port. */
  readonly #backendPorts = new Set<number>();

  constructor(sockets: UpstreamSockets, own: OwnAddresses, askOthers?: AskOthers) {
    this.#sockets = sockets;
    this.#own = own;
    this.#askOthers = askOthers;
  }

  /** Ports count from here on: another process may have put the update in force a moment earlier. */
  prepare(update: SnapshotUpdate): () => void {
    for (const entry of update.set) if (entry.kind === 'backend') this.#backendPorts.add(entry.port);
    return () => {};
  }

  /** `port` is that of the listener. Cheap where no backend has the same one. */
  isOurs(socket: Socket, port: number): Awaitable<boolean> {
    if (!this.#sockets.hasPort(port) && (this.#askOthers === undefined || !this.#backendPorts.has(port)))
      return notOurs;
    const arrival = arrivalOf(socket);
    if (arrival === undefined) return notOurs;
    if (this.#sockets.made(arrival)) return ready(true);
    return this.#askOthers !== undefined && this.#isFromHere(arrival) ? this.#askOthers(arrival) : notOurs;
  }

  #isFromHere({ peerAddress, address }: Arrival): boolean {
    if (peerAddress === address) return true;
    const peer = parseIp(peerAddress);
    return peer !== undefined && this.#own.has(peer);
  }
}

/** The part of the rules for clients that is the same for every listener. */
export function ownArrivals(
  arrivals: Arrivals,
  observer: TrafficObserver,
): Pick<ClientRules, 'isOurs' | 'ownArrivalReset'> {
  return {
    isOurs: (socket, port) => arrivals.isOurs(socket, port),
    ownArrivalReset: () => {
      observer.ownArrivalReset();
    },
  };
}
