import type { Socket } from 'node:net';

import type { IpAddress } from '../../lib/ip/address.ts';
import type { BackendEntry } from '../../snapshot/contract.ts';
import type { GatewayTimeouts, TcpClosed } from '../engine.ts';
import type { TcpEdge } from './edge.ts';
import { release } from './read-memory.ts';
import { resetSocket } from './upstream.ts';
import type { ConnectUpstream, UpstreamUser } from './upstream.ts';

/** An admitted client, and the edge and port it came by. */
export interface Arrival {
  readonly client: Socket;
  readonly source: IpAddress;
  readonly sourceText: string;
  readonly port: number;
  readonly edge: TcpEdge;
}

export interface ConnectionSettings {
  readonly timeouts: GatewayTimeouts;
  readonly connect: ConnectUpstream;
  /** Called once, when both sides are gone. */
  readonly closed: (connection: TcpConnection) => void;
}

/** A client and its upstream, joined. Ends are passed on each way by themselves; a break on one side breaks the other. */
export class TcpConnection implements UpstreamUser {
  readonly arrival: Arrival;
  readonly client: Socket;
  /** Among the open connections of its edge. */
  place = 0;
  readonly #settings: ConnectionSettings;
  readonly #startedMs = performance.now();
  /** Of the PROXY header, which went no further. */
  readonly #headerBytes: number;
  readonly #upstream: Socket;
  #connectTimer: NodeJS.Timeout | undefined;
  #isWatched = false;
  /** Every byte of either direction passes the client's socket, whose timer each of them winds up. */
  #idleSide: Socket;
  #connecting = true;
  #openSides = 2;
  #endedBy: string | undefined;
  #brokenBy: string | undefined;
  #pendingBytes = 0;

  constructor(arrival: Arrival, backend: BackendEntry, settings: ConnectionSettings) {
    const { client } = arrival;
    this.arrival = arrival;
    this.client = client;
    this.#idleSide = client;
    this.#settings = settings;
    this.#headerBytes = client.bytesRead - client.readableLength;
    this.#upstream = settings.connect(backend, this);
    // What an error says, the `close` after it says too.
    this.#upstream.on('error', ignore).on('close', () => {
      clearTimeout(this.#connectTimer);
      this.#gone(this.#upstream, client, this.#connecting ? 'connect failed' : 'upstream');
    });
    client.on('error', ignore).on('close', () => {
      this.#gone(client, this.#upstream, 'client');
    });
  }

  /**
   * Starts the timers of a connection that still lacks them. To be called for each, a few times within any of the
   * limits: most connections are over before, and a timer costs as much as the rest of their bookkeeping.
   */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    if (this.#connecting) this.#watchConnect();
    else this.#watchIdle();
  }

  /** Resets both sides at once. */
  abort(reason: string): void {
    this.#brokenBy ??= reason;
    resetSocket(this.client);
    resetSocket(this.#upstream);
  }

  connected(): void {
    const { client } = this;
    clearTimeout(this.#connectTimer);
    this.#connecting = false;
    if (client.destroyed) return;
    client.on('data', (chunk) => {
      if (!this.#pass(chunk, client, this.#upstream)) client.pause();
      if (this.#upstream.writableLength === 0) release(chunk);
    });
    this.#passEnd(client, this.#upstream, 'client');
    this.#passEnd(this.#upstream, client, 'upstream');
    if (this.#isWatched) this.#watchIdle();
    client.resume();
  }

  received(bytes: Buffer): boolean {
    return this.#pass(bytes, this.#upstream, this.client);
  }

  get report(): TcpClosed {
    const { edge, sourceText } = this.arrival;
    return {
      edgeId: edge.rules.id,
      source: sourceText,
      bytesIn: this.client.bytesRead - this.#headerBytes,
      bytesOut: this.client.bytesWritten,
      durationMs: performance.now() - this.#startedMs,
      reason: this.#brokenBy ?? this.#endedBy ?? 'client',
    };
  }

  /** Answers whether more may come; if not, `from` is resumed when it may. */
  #pass(bytes: Buffer, from: Socket, to: Socket): boolean {
    if (to.write(bytes) || to.writableLength === 0) return true;
    to.once('drain', () => {
      from.resume();
    });
    return false;
  }

  #passEnd(from: Socket, to: Socket, name: string): void {
    from.on('end', () => {
      this.#endedBy ??= name;
      to.end();
    });
  }

  #gone(side: Socket, other: Socket, name: string): void {
    if (--this.#openSides === 0) {
      this.#settings.closed(this);
      return;
    }
    if (!side.readableEnded || !side.writableFinished) {
      this.#brokenBy ??= name;
      // All that it sent has been read: that still belongs to the other side.
      if (side.readableEnded) other.destroySoon();
      else resetSocket(other);
    }
    if (side !== this.client || this.#connecting) return;
    this.#idleSide = other;
    this.#isWatched = false;
  }

  #watchConnect(): void {
    const leftMs = this.#startedMs + this.#settings.timeouts.upstreamConnectMs - performance.now();
    this.#connectTimer = setTimeout(() => {
      this.abort('connect timeout');
    }, leftMs);
  }

  #watchIdle(): void {
    const side = this.#idleSide;
    side.setTimeout(this.#settings.timeouts.idleMs).on('timeout', () => {
      // Nothing on this side, but an upstream that reads slowly may still be taking what the client sent long ago.
      const pendingBytes = this.#upstream.writableLength;
      if (pendingBytes === 0 || pendingBytes === this.#pendingBytes) this.abort('idle');
      else side.setTimeout(this.#settings.timeouts.idleMs);
      this.#pendingBytes = pendingBytes;
    });
  }
}

function ignore(): void {}
