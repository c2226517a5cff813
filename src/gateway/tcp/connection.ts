import type { Socket } from 'node:net';

import { formatIp } from '../../lib/ip-address.ts';
import type { IpAddress } from '../../lib/ip-address.ts';
import type { BackendEntry } from '../../snapshot/contract.ts';
import type { GatewayTimeouts, TcpClosed } from '../engine.ts';
import type { TcpEdge } from './edge.ts';
import { resetSocket } from './upstream.ts';
import type { ConnectUpstream } from './upstream.ts';

/** An admitted client, and the edge and port it came by. */
export interface Arrival {
  readonly client: Socket;
  readonly source: IpAddress;
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
export class TcpConnection {
  readonly arrival: Arrival;
  readonly #settings: ConnectionSettings;
  readonly #startedMs = performance.now();
  /** Of the PROXY header, which went no further. */
  readonly #headerBytes: number;
  readonly #upstream: Socket;
  #connecting = true;
  #openSides = 2;
  #endedBy: string | undefined;
  #brokenBy: string | undefined;
  #pendingBytes = 0;

  constructor(arrival: Arrival, backend: BackendEntry, settings: ConnectionSettings) {
    this.arrival = arrival;
    this.#settings = settings;
    const { client } = arrival;
    this.#headerBytes = client.bytesRead - client.readableLength;
    const timer = setTimeout(() => {
      this.abort('connect timeout');
    }, settings.timeouts.upstreamConnectMs);
    this.#upstream = settings.connect(backend, () => {
      clearTimeout(timer);
      this.#connecting = false;
      this.#join();
    });
    // What an error says, the `close` after it says too.
    this.#upstream.on('error', ignore).on('close', () => {
      clearTimeout(timer);
      this.#gone(this.#upstream, client, this.#connecting ? 'connect failed' : 'upstream');
    });
    client.on('error', ignore).on('close', () => {
      this.#gone(client, this.#upstream, 'client');
    });
  }

  /** Resets both sides at once. */
  abort(reason: string): void {
    this.#brokenBy ??= reason;
    resetSocket(this.arrival.client);
    resetSocket(this.#upstream);
  }

  get report(): TcpClosed {
    const { client, edge, source } = this.arrival;
    return {
      edgeId: edge.rules.id,
      source: formatIp(source),
      bytesIn: client.bytesRead - this.#headerBytes,
      bytesOut: client.bytesWritten,
      durationMs: performance.now() - this.#startedMs,
      reason: this.#brokenBy ?? this.#endedBy ?? 'client',
    };
  }

  #join(): void {
    const { client } = this.arrival;
    if (client.destroyed) return;
    this.#pump(client, this.#upstream, 'client');
    this.#pump(this.#upstream, client, 'upstream');
    // Every byte of either direction passes the client's socket, whose timer each of them winds up.
    this.#watchIdle(client);
    client.resume();
  }

  #pump(from: Socket, to: Socket, name: string): void {
    from.on('data', (chunk) => {
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      from.resume();
    });
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
    if (!other.destroyed && other === this.#upstream) this.#watchIdle(other);
  }

  #watchIdle(side: Socket): void {
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
