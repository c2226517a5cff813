import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import type { ConnectionVisit } from '../../modules/step.ts';
import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import type { GatewayTimeouts, TcpClosed, TcpDecision } from '../engine.ts';
import { Flow } from '../turns/flow.ts';
import { readerOf } from '../../lib/reader-of.ts';
import type { Reader } from '../../lib/reader-of.ts';
import { closeSoon } from '../upstream/close-soon.ts';
import { InwardBackendError } from '../upstream/guard.ts';
import type { TcpEdge } from './edge.ts';
import type { Hop } from './forwarded.ts';
import { release } from './read-memory.ts';
import { resetSocket } from './upstream.ts';
import type { OpenUpstream, UpstreamUser } from './upstream.ts';

/** Pieces that may wait for one side: each takes some 400 bytes, however small it is. */
const mostWaitingPieces = 64;

/** A client that was let in, and the edge it connected to. */
export interface AcceptedClient {
  readonly client: Socket;
  /** Port of the source; 0 where it is not known. */
  readonly port: number;
  readonly visit: ConnectionVisit;
  readonly sourceText: string;
  /** The port, or the name in its TLS handshake, by which the edge was found, in the form in which the edge has it. */
  readonly claim: number | string;
  readonly edge: TcpEdge;
  readonly decision: TcpDecision;
  /** Internal endpoints that it is forwarded to, one behind another; empty if it goes to the backend of the edge. */
  readonly hops: readonly Hop[];
  /** True while TLS is being agreed on here: steps that go by it are run then. */
  readonly isSecuring: boolean;
  /** Number of the rules that have let it in. */
  readonly admittedBy: number;
  /** When the rules end the connection, in milliseconds since 1970. */
  untilMs: number;
}

/** A client that was let in, at any stage. */
export interface OpenConnection {
  readonly accepted: AcceptedClient;
  /** Position in the `OpenConnections` of its edge, which sets it. */
  index: number;
  /** Starts the timers if they do not run yet. */
  watch(): void;
  abort(reason: string): void;
}

export interface ConnectionSettings {
  readonly timeouts: GatewayTimeouts;
  /** Called once, when both sides are gone. */
  readonly closed: (connection: TcpConnection) => void;
}

/** A client joined to its upstream. Each direction ends by itself; a break on one side breaks the other. */
export class TcpConnection implements UpstreamUser, OpenConnection {
  readonly accepted: AcceptedClient;
  readonly client: Socket;
  index = 0;
  readonly #settings: ConnectionSettings;
  readonly #startedMs = performance.now();
  /** Length of the PROXY header, which is not passed on. */
  readonly #headerBytes: number;
  readonly #upstream: Duplex;
  /** The kernel or TLS has copied the bytes once nothing waits to be written; a tunnel has not. */
  readonly #copiesBytes: boolean;
  #connectTimer: NodeJS.Timeout | undefined;
  #isWatched = false;
  /** The socket whose idle timer counts: the client's, because every byte of either direction passes it and restarts it. */
  #idleSide: Duplex;
  #connecting = true;
  #openSides = 2;
  #endedBy: string | undefined;
  #brokenBy: string | undefined;
  #cause: string | undefined;
  #pendingBytes = 0;
  /** Undefined while none has waited. */
  #waitingPieces: Map<Duplex, number> | undefined;
  /** Undefined unless what the upstream sends must be joined. */
  #toClient: Flow | undefined;

  /** `slot` is closed with the connection to the backend. */
  constructor(
    accepted: AcceptedClient,
    open: OpenUpstream,
    slot: Pick<UpstreamSlot, 'close'>,
    settings: ConnectionSettings,
  ) {
    const { client } = accepted;
    this.accepted = accepted;
    this.client = client;
    this.#idleSide = client;
    this.#settings = settings;
    this.#headerBytes = client.bytesRead - client.readableLength;
    this.#upstream = open(this);
    this.#copiesBytes = this.#upstream instanceof Socket;
    // `close` follows every error.
    this.#upstream.on('error', (error: Error) => {
      if (error instanceof InwardBackendError) this.#brokenBy ??= 'backend leads inwards';
      else if (this.#connecting) this.#cause = error.message;
    });
    this.#upstream.on('close', () => {
      slot.close();
      clearTimeout(this.#connectTimer);
      this.#gone(this.#upstream, client, this.#connecting ? 'connect failed' : 'upstream');
    });
    client.on('error', ignore).on('close', () => {
      this.#gone(client, this.#upstream, 'client');
    });
  }

  /**
   * Starts the timers if they do not run yet. The front calls it for every connection a few times within each limit: most
   * connections are over before the first call, and timers cost as much as the rest of their bookkeeping.
   */
  watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    if (this.#connecting) this.#watchConnect();
    else this.#watchIdle();
  }

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
    const toUpstream = client instanceof TLSSocket ? this.#joined(client, this.#upstream) : undefined;
    const reader = readerOf(client);
    client.on('data', (chunk) => {
      if (toUpstream !== undefined) toUpstream.push(chunk);
      else if (!this.#pass(chunk, reader, this.#upstream)) reader.pause();
      if (this.#copiesBytes && this.#upstream.writableLength === 0) release(chunk);
    });
    const isPlain = this.#copiesBytes && !(this.#upstream instanceof TLSSocket);
    this.#toClient = isPlain ? undefined : this.#joined(this.#upstream, client);
    this.#passEnd(client, this.#upstream, 'client');
    this.#passEnd(this.#upstream, client, 'upstream');
    if (this.#isWatched) this.#watchIdle();
    client.resume();
  }

  received(bytes: Buffer): boolean {
    if (this.#toClient !== undefined) {
      this.#toClient.push(bytes);
      return true;
    }
    return this.#pass(bytes, this.#upstream, this.client);
  }

  get report(): TcpClosed {
    const { edge, sourceText } = this.accepted;
    return {
      edgeId: edge.rules.id,
      source: sourceText,
      bytesIn: this.client.bytesRead - this.#headerBytes,
      bytesOut: this.client.bytesWritten,
      durationMs: performance.now() - this.#startedMs,
      reason: this.#brokenBy ?? this.#endedBy ?? 'client',
      ...(this.#cause === undefined ? {} : { cause: this.#cause }),
    };
  }

  /** Returns false if `from` must pause; it is resumed when `to` has drained. */
  #pass(bytes: Buffer, from: Pick<Reader, 'resume'>, to: Duplex): boolean {
    const isClear = to.writableLength === 0;
    if (isClear) this.#waitingPieces?.delete(to);
    // Most connections never have a piece that waits.
    if (isClear && (to.write(bytes) || to.writableLength === 0)) return true;
    const resume = (): void => {
      from.resume();
    };
    if (!isClear) {
      this.#waitingPieces ??= new Map();
      const waiting = (this.#waitingPieces.get(to) ?? 0) + 1;
      const isLast = waiting >= mostWaitingPieces;
      this.#waitingPieces.set(to, isLast ? 0 : waiting);
      if (isLast) {
        to.write(bytes, resume);
        return false;
      }
      if (to.write(bytes) || to.writableLength === 0) return true;
    }
    to.once('drain', resume);
    return false;
  }

  /** The system joins the pieces of a plain socket; those of TLS and of tunnels are joined here. */
  #joined(from: Duplex, to: Duplex): Flow {
    const flow = new Flow(from, to, this.accepted.visit.countedSource);
    from.on('end', () => flow.flush());
    return flow;
  }

  #passEnd(from: Duplex, to: Duplex, name: string): void {
    from.on('end', () => {
      this.#endedBy ??= name;
      to.end();
    });
  }

  #gone(side: Duplex, other: Duplex, name: string): void {
    if (--this.#openSides === 0) {
      this.#settings.closed(this);
      return;
    }
    if (!side.readableEnded || !side.writableFinished) {
      this.#brokenBy ??= name;
      // Everything it sent has been read, and the other side must still get it.
      if (side.readableEnded) closeSoon(other, this.#settings.timeouts.idleMs);
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
    const { idleMs } = this.#settings.timeouts;
    const look = (): void => {
      // The client is silent, but a slow upstream may still be reading what the client sent long ago.
      const pendingBytes = this.#upstream.writableLength;
      if (pendingBytes === 0 || pendingBytes === this.#pendingBytes) this.abort('idle');
      else if (side instanceof Socket) side.setTimeout(idleMs);
      this.#pendingBytes = pendingBytes;
    };
    if (side instanceof Socket) {
      side.setTimeout(idleMs).on('timeout', look);
      return;
    }
    // A tunnel's stream has no clock of its own. It is left only to take the last bytes of a client that is gone.
    const timer = setInterval(look, idleMs);
    side.once('close', () => {
      clearInterval(timer);
    });
  }
}

function ignore(): void {}
