import type { Duplex } from 'node:stream';

import { KeyCounts } from '../../lib/key-counts.ts';
import { openDuplex } from '../../links/link.ts';
import { StreamRefused } from '../../links/stream-request.ts';
import type { OpenStream } from '../../links/stream-request.ts';
import type { TunnelRef } from '../../snapshot/contract.ts';
import type { GatewayTimeouts } from '../engine.ts';
import { TunnelFault } from './dialer.ts';
import type { TunnelDialer, Visitor } from './dialer.ts';

export const mebibyte = 1024 * 1024;

/** Limit for one tunnel: half of that for a connection, so that another tunnel can be tried within it. */
export function dialMs({ upstreamConnectMs }: Pick<GatewayTimeouts, 'upstreamConnectMs'>): number {
  return upstreamConnectMs / 2;
}

/** Dials by whatever opens streams in this process: sessions and links of its own, or the link of a worker to its parent. */
export class StreamDialer implements TunnelDialer {
  readonly #open: OpenStream;
  readonly #loads = new KeyCounts<string>();

  constructor(open: OpenStream) {
    this.#open = open;
  }

  async dial({ id, holder }: TunnelRef, visitor: Visitor): Promise<Duplex> {
    const { proto } = visitor;
    // An HTTP connection whose other end has ended is of no use; a half-open one would stay in a pool.
    const options = { allowHalfOpen: proto === 'tcp' || proto === 'tls' };
    this.#loads.add(id, 1);
    try {
      const stream = await openDuplex(this.#open, { tunnelId: id, holder, ...visitor }, options);
      if (stream.destroyed) throw new TunnelFault('gone', 'the connection broke at once');
      stream.once('close', () => {
        this.#loads.add(id, -1);
      });
      return stream;
    } catch (error) {
      this.#loads.add(id, -1);
      throw error instanceof StreamRefused ? new TunnelFault(error.reason, error.message) : error;
    }
  }

  load({ id }: TunnelRef): number {
    return this.#loads.of(id);
  }
}
