import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { parseIp } from './ip/address.ts';
import type { CidrSet } from './ip/cidr-set.ts';
import { sourceKey } from './ip/source-key.ts';
import type { SourceKey } from './ip/source-key.ts';

export interface ConnectionLimits {
  /** Connections of everybody together. */
  readonly all: number;
  /** Connections of one IPv4 address, or one /64 network of IPv6. */
  readonly bySource: number;
  /** Peers that forward for many clients: they are not counted by source. */
  readonly trustedProxies: CidrSet;
  /** A connection was closed at once. */
  readonly refused: (limit: 'all' | 'source', source: string) => void;
}

/** Bounds the connections of HTTP servers. When there are too many, the one that has been idle longest makes room. */
export class ServerConnections {
  readonly #limits: ConnectionLimits;
  /** Sockets without a request under way, those first that have been idle longest. */
  readonly #idle = new Set<Socket>();
  readonly #bySource = new Map<SourceKey, number>();
  #open = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Several servers may share one bound. */
  attach(server: Server): void {
    server.prependListener('connection', (socket) => this.accept(socket));
    server.prependListener('request', ({ socket }, response: ServerResponse) => {
      this.busy(socket);
      // A response is closed once, and `on` costs less than `once`.
      response.on('close', () => this.idle(socket));
    });
  }

  /** A request of the connection is under way. */
  busy(socket: Socket): void {
    this.#idle.delete(socket);
  }

  /** No request of the connection is under way. */
  idle(socket: Socket): void {
    if (!socket.destroyed) this.#idle.add(socket);
  }

  /** Counts a new connection, or resets it. */
  accept(socket: Socket): void {
    const key = this.#sourceOf(socket);
    const count = key === undefined ? 0 : (this.#bySource.get(key) ?? 0);
    if (count >= this.#limits.bySource) {
      this.#refuse(socket, 'source');
      return;
    }
    if (this.#open >= this.#limits.all && !this.#closeOldestIdle()) {
      this.#refuse(socket, 'all');
      return;
    }
    this.#open += 1;
    this.#idle.add(socket);
    if (key !== undefined) this.#bySource.set(key, count + 1);
    socket.once('close', () => {
      this.#open -= 1;
      this.#idle.delete(socket);
      if (key !== undefined) this.#leave(key);
    });
  }

  /** Undefined for a trusted proxy, and for a peer that has left already. */
  #sourceOf({ remoteAddress = '' }: Socket): SourceKey | undefined {
    const ip = parseIp(remoteAddress);
    if (ip === undefined || this.#limits.trustedProxies.lookup(ip) !== 0) return undefined;
    return sourceKey(ip);
  }

  #leave(key: SourceKey): void {
    const left = (this.#bySource.get(key) ?? 1) - 1;
    if (left > 0) this.#bySource.set(key, left);
    else this.#bySource.delete(key);
  }

  #closeOldestIdle(): boolean {
    for (const socket of this.#idle) {
      this.#idle.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #refuse(socket: Socket, limit: 'all' | 'source'): void {
    this.#limits.refused(limit, socket.remoteAddress ?? '');
    socket.on('error', () => {});
    socket.resetAndDestroy();
  }
}
