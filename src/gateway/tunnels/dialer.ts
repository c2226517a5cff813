import type { Duplex } from 'node:stream';

import type { TunnelRef } from '../../snapshot/contract.ts';

/** Says to the agent who comes, and how. */
export interface Visitor {
  /** `ip:port` of the client, with brackets around an IPv6 address; the port is 0 where it is not known. */
  readonly address: string;
  readonly proto: 'http' | 'https' | 'tcp' | 'tls';
  /** True if the bytes are the client's own TLS. */
  readonly isTls: boolean;
}

/**
 * A way through an agent, in the form of a connection: bytes both ways, each with back-pressure and an end of its own
 * (`allowHalfOpen`), and `destroy`, which the other end can tell from an orderly end.
 */
export type TunnelStream = Duplex;

/** Opens connections through tunnels, wherever their sessions are held. Given to the engine by whoever starts it. */
export interface TunnelDialer {
  /**
   * Opens a connection through the tunnel to the program behind the agent. Rejects with a `TunnelFault` if there is none:
   * the session is gone, has no room for another stream, or is held by a process that cannot be reached.
   */
  dial(tunnel: TunnelRef, visitor: Visitor): Promise<TunnelStream>;
  /** Connections through the tunnel that this process has open: the next one goes where the fewest are. */
  load(tunnel: TunnelRef): number;
}

/** Why there is no way through a tunnel. */
export class TunnelFault extends Error {
  override readonly name = 'TunnelFault';
  readonly reason: 'gone' | 'full' | 'unreachable';

  constructor(reason: TunnelFault['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** For an engine that no agents connect to. */
export const noDialer: TunnelDialer = {
  dial: () => Promise.reject(new TunnelFault('unreachable', 'this process reaches no agents')),
  load: () => 0,
};
