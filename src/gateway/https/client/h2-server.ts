import { constants, performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

import { sourceKey } from '../../../lib/ip/source-key.ts';
import type { GatewayTimeouts } from '../../engine.ts';
import { tooManyStreamResets } from '../../errors.ts';
import { ReadShare } from '../../turns/read-share.ts';
import type { RequestQueue } from '../../turns/request-queue.ts';
import type { ClientConnection, Exchange } from '../exchange.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { Http2Exchange } from './exchange-h2.ts';
import type { IdleConnection } from './idle-connection.ts';
import { ResetBudget } from './reset-budget.ts';

/** The limits of headers are those of HTTP/1: see `decide.ts` for their number, `h1-server.ts` for their size. */
const sessionOptions = {
  maxHeaderListPairs: 500,
  // Repeated headers are passed on, as with HTTP/1.1: upstreams send them, and a rule may add one to theirs.
  strictSingleValueFields: false,
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 32_768, enablePush: false },
};

interface Session {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly resets: ResetBudget;
  /** Number of streams under way. */
  open: number;
  /** Value of `performance.now()` when the last stream ended. */
  idleSince: number;
  /** The session ends with the stream that is its last at the time. */
  isLeaving: boolean;
  /** Nothing has happened for the time that it may be idle, while there were streams. */
  isSilent: boolean;
  /** The session has ended, and its connection is closed soon. */
  isEnding: boolean;
}

export interface Http2Options {
  readonly timeouts: GatewayTimeouts;
  /** Size of each session's `ResetBudget`. */
  readonly streamResets: number;
  /** Called when a session is closed because its client has cancelled too many requests. */
  readonly onResets: (client: ClientConnection) => void;
  readonly queue: RequestQueue;
  readonly watch: IdleWatch;
  readonly handle: (exchange: Exchange) => void;
}

/** Speaks HTTP/2 on connections that are handed to it. */
export class Http2Server {
  readonly #sessions = new Set<Session>();
  readonly #options: Http2Options;

  constructor(options: Http2Options) {
    this.#options = options;
  }

  accept(socket: TLSSocket, client: ClientConnection): void {
    const { timeouts, streamResets, queue, watch, handle } = this.#options;
    const session = performServerHandshake(socket, sessionOptions);
    const state = {
      session,
      socket,
      resets: new ResetBudget(streamResets),
      open: 0,
      idleSince: performance.now(),
      isLeaving: false,
      isSilent: false,
      isEnding: false,
    };
    this.#sessions.add(state);
    const share = new ReadShare(socket, sourceKey(client.peer));
    const parts = { share, watch, idleMs: timeouts.idleMs };
    const first = setTimeout(() => session.destroy(), timeouts.headersMs);
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, list: string[]) => {
      clearTimeout(first);
      state.open += 1;
      const exchange = new Http2Exchange(stream, headers, list, client, parts);
      stream.on('close', () => {
        exchange.closed();
        state.open -= 1;
        state.idleSince = performance.now();
        // Where nothing can be sent, nothing else starts the clock again.
        if (state.isSilent && state.open === 0) {
          state.isSilent = false;
          session.setTimeout(timeouts.keepAliveMs);
        }
        if (state.isLeaving || session.closed || session.destroyed) this.#endIfIdle(state);
        // Only a client closes a stream before its answer.
        if (!stream.headersSent) this.#countReset(state, client);
      });
      queue.add(client, () => {
        if (!stream.destroyed && !stream.closed) handle(exchange);
      });
    });
    session.setTimeout(timeouts.keepAliveMs);
    // Not by the callback of `setTimeout`, which is called once, perhaps while there are streams.
    session.on('timeout', () => {
      state.isSilent = true;
      this.#endIfIdle(state);
    });
    session.on('goaway', () => {
      this.#endIfIdle(state);
    });
    // The session closes itself; without a listener the error would end the process.
    session.on('error', () => {});
    session.on('close', () => {
      clearTimeout(first);
      share.end();
      this.#sessions.delete(state);
    });
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const { session, socket, open, idleSince } of this.#sessions) {
      // One that is destroyed waits for its client.
      if (open === 0) yield { idleSince, close: () => (session.destroyed ? socket : session).destroy() };
    }
  }

  get count(): number {
    return this.#sessions.size;
  }

  /** Refuses new streams; a session ends with its last stream. */
  goAway(): void {
    for (const { session } of this.#sessions) session.close();
  }

  /** Asks so many clients to open a new connection, each as soon as it has no stream under way. */
  relieve(count: number): void {
    for (const state of [...this.#sessions].filter(({ isLeaving }) => !isLeaving).slice(0, count)) {
      state.isLeaving = true;
      this.#endIfIdle(state);
    }
  }

  #countReset(state: Session, client: ClientConnection): void {
    const { session, resets } = state;
    if (session.closed || session.destroyed || resets.spend()) return;
    this.#options.onResets(client);
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(tooManyStreamResets.message));
    // Requests under way may end; no new one is taken.
    session.close();
    this.#endIfIdle(state);
  }

  /** Node waits for the client to read all, and to close its side: it could keep the connection for ever. */
  #endIfIdle(state: Session): void {
    const { session, socket } = state;
    if (state.open > 0 || state.isEnding) return;
    state.isEnding = true;
    session.close();
    // The socket's end has been told already, and would not clear the timer.
    if (socket.closed) return;
    const late = setTimeout(() => socket.destroy(), this.#options.timeouts.idleMs);
    socket.once('close', () => clearTimeout(late));
  }
}
