import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import type { GatewayOptions, TrafficObserver } from '../engine.ts';
import { Arrivals } from './arrivals.ts';
import type { AskOthers } from './arrivals.ts';
import { createConnector } from './connect.ts';
import type { ConnectUpstream, UpstreamTarget } from './connect.ts';
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
  /** An address of the host to which datagrams may go. Fails like a connection, also once the signal ends the wait. */
  readonly resolve: (target: UpstreamTarget, signal: AbortSignal) => Promise<string>;
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
  return {
    connect,
    resolve: createResolver(guard),
    listeners,
    arrivals: new Arrivals(sockets, own, askOthers),
    sockets,
  };
}

function createResolver(guard: UpstreamGuard): Upstream['resolve'] {
  return (target, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const refusal = guard.check(target);
      if (refusal !== undefined) throw refusal;
      if (isIP(target.host) !== 0) {
        resolve(target.host);
        return;
      }
      const { lookup, leave } = guard.lookupFor(target, () => {});
      const stop = () => {
        leave();
        reject(new Error(`the addresses of ${target.host} were not found in time`));
      };
      signal.addEventListener('abort', stop, { once: true });
      lookup(target.host, {}, (error, address) => {
        signal.removeEventListener('abort', stop);
        if (error === null && typeof address === 'string') resolve(address);
        else reject(error ?? new Error(`${target.host} has no address`));
      });
    });
}
