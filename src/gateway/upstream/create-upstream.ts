import type { LookupFunction } from 'node:net';

import type { GatewayOptions, TrafficObserver } from '../engine.ts';
import { Arrivals } from './arrivals.ts';
import type { AskOthers } from './arrivals.ts';
import { createConnector } from './connect.ts';
import type { ConnectUpstream } from './connect.ts';
import { UpstreamGuard } from './guard.ts';
import { ListenerTable } from './listener-table.ts';
import { OwnAddresses } from './own-addresses.ts';
import { UpstreamSockets } from './upstream-sockets.ts';

export interface UpstreamParts {
  readonly options: Pick<GatewayOptions, 'inward' | 'upstreamAuthorities'>;
  readonly observer: Pick<TrafficObserver, 'backendRefused'>;
  /** Needed where the gateway runs in several processes. */
  readonly askOthers?: AskOthers;
  /** Resolves the names of backends; default: the system's resolver. */
  readonly lookup?: LookupFunction;
}

/** The way to upstreams, and what keeps it from leading back. */
export interface Upstream {
  readonly connect: ConnectUpstream;
  /** Must follow snapshots, before the fronts do. */
  readonly listeners: ListenerTable;
  /** Must follow snapshots, before the fronts do. */
  readonly arrivals: Arrivals;
  readonly sockets: UpstreamSockets;
}

export function createUpstream({ options, observer, askOthers, lookup }: UpstreamParts): Upstream {
  const own = new OwnAddresses();
  const sockets = new UpstreamSockets();
  const listeners = new ListenerTable(options.inward, own);
  const guard = new UpstreamGuard({
    listeners,
    sockets,
    allowLinkLocal: options.inward.allowLinkLocal,
    refused: (event) => {
      observer.backendRefused(event);
    },
    ...(lookup && { lookup }),
  });
  const connect = createConnector(guard, options.upstreamAuthorities);
  return { connect, listeners, arrivals: new Arrivals(sockets, own, askOthers), sockets };
}
