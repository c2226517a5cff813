import type { Socket } from 'node:net';

import { formatIp } from '../../lib/ip/address.ts';
import type { ClientSource } from '../../lib/ip/identify-client.ts';
import { limitOf } from './bound.ts';
import type { Bound, GatewayBoundReports, GatewayBounds } from './bound.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import { KeyCounts } from '../../lib/key-counts.ts';

/** Share of the bound that is kept free by closing idle connections. */
const freeShare = 0.1;
/** Pause after a search for idle connections that has found none: each looks at all connections. */
const searchMs = 100;

/** Counts the connections of clients to all listeners, and refuses those beyond the bounds. */
export class ClientConnections {
  readonly #limits: GatewayBounds;
  /** The bound at first: it is lowered where others take their part of it. */
  readonly #highest: number;
  readonly #reports: GatewayBoundReports;
  readonly #bySource = new KeyCounts<SourceKey>();
  #open = 0;
  /** Idle connections that were told to close and have not done so yet. */
  #closing = 0;
  #searchAt = -Infinity;
  #closeIdle: (count: number) => number = () => 0;

  constructor(limits: GatewayBounds, reports: GatewayBoundReports) {
    this.#limits = limits;
    this.#highest = limits.clientConnections;
    this.#reports = reports;
    reports.watch('client_connections', limitOf(limits, 'clientConnections'), () => this.#open);
    reports.watch('source_connections', limitOf(limits, 'sourceConnections'), () => this.#bySource.most());
  }

  get count(): number {
    return this.#open;
  }

  /**
   * `closeIdle` closes up to so many connections without a request under way, those that have been idle longest, and
   * returns how many.
   */
  onFull(closeIdle: (count: number) => number): void {
    this.#closeIdle = closeIdle;
  }

  /**
   * Counts a connection until it closes. Returns undefined, and the connection is closed, if there are too many; else a
   * function that counts it towards its source, once that is known, and returns false if that has too many.
   */
  accept(socket: Socket): ((client: ClientSource) => boolean) | undefined {
    const { clientConnections } = this.#limits;
    this.makeRoom();
    // Where the bound was lowered, those that are closing do not count.
    if (this.#open - this.#closing >= clientConnections || this.#open >= this.#highest) {
      this.#refuse(socket, 'client_connections', {});
      return undefined;
    }
    this.#open += 1;
    let key: SourceKey | undefined;
    socket.on('close', () => {
      this.#open -= 1;
      this.#closing = Math.max(0, this.#closing - 1);
      if (key !== undefined) this.#bySource.add(key, -1);
    });
    return ({ source, peerTrusted }) => {
      // A trusted proxy forwards for many clients.
      if (peerTrusted || socket.destroyed) return !socket.destroyed;
      const counted = sourceKey(source);
      if (this.#bySource.of(counted) >= this.#limits.sourceConnections) {
        this.#refuse(socket, 'source_connections', { source: formatIp(source) });
        return false;
      }
      key = counted;
      this.#bySource.add(counted, 1);
      return true;
    };
  }

  /** Number of connections that are kept free. */
  get #room(): number {
    return Math.ceil(this.#limits.clientConnections * freeShare);
  }

  /** Closes idle connections where too little is free. To be called when the bound was lowered. */
  makeRoom(): void {
    const over = this.#open - this.#closing - (this.#limits.clientConnections - this.#room);
    if (over < 0) return;
    const now = performance.now();
    if (now < this.#searchAt) return;
    const closed = this.#closeIdle(Math.max(over, this.#room));
    this.#closing += closed;
    if (closed === 0) this.#searchAt = now + searchMs;
  }

  #refuse(socket: Socket, bound: Bound, about: object): void {
    this.#reports.refused(bound, about);
    socket.on('error', () => {});
    socket.resetAndDestroy();
  }
}
