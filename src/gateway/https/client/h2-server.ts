import { constants, performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

import type { GatewayTimeouts } from '../../engine.ts';
import { tooManyStreamResets } from '../../errors.ts';
import type { ClientConnection, Exchange } from '../exchange.ts';
import { Http2Exchange } from './exchange-h2.ts';
import type { IdleConnection } from './idle-connection.ts';
import { ResetBudget } from './reset-budget.ts';

/** The limits of headers are those of HTTP/1: see `decide.ts` for their number, `h1-server.ts` for their size. */
const sessionOptions = {
  maxHeaderListPairs: 500,
  // Repeated headers are passed on, as with HTTP/1.1: upstreams send them, and a rule may add one to theirs.
  strictSingleValueFields: false,
  settings: { maxConcurrentStreams: 256, maxHeaderListSize: 32_768, enablePush: false },
};

/** Time for a client to close its side once ours is closed. */
const lingerMs = 5_000;

interface Session {
  readonly session: ServerHttp2Session;
  readonly socket: TLSSocket;
  readonly resets: ResetBudget;
  /** Number of streams under way. */
  open: number;
  /** Value of `performance.now()` when the last stream ended. */
  idleSince: number;
  /** It ends with the stream that is its last at the time. */
  isLeaving: boolean;
}

export interface Http2Options {
  readonly timeouts: GatewayTimeouts;
  /** Size of each session's `ResetBudget`. */
  readonly streamResets: number;
  /** Called when a session is closed because its client has cancelled too many requests. */
  readonly onResets: (client: ClientConnection) => void;
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
    const { timeouts, streamResets, handle } = this.#options;
    const session = performServerHandshake(socket, sessionOptions);
    const state = {
      session,
      socket,
      resets: new ResetBudget(streamResets),
      open: 0,
      idleSince: performance.now(),
      isLeaving: false,
    };
    this.#sessions.add(state);
    const first = setTimeout(() => session.destroy(), timeouts.headersMs);
    let linger: NodeJS.Timeout | undefined;
    // Node waits for the client, which could keep the connection for ever.
    socket.once('finish', () => (linger = setTimeout(() => socket.destroy(), lingerMs)));
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, list: string[]) => {
      clearTimeout(first);
      state.open += 1;
      stream.on('close', () => {
        state.open -= 1;
        state.idleSince = performance.now();
        if (state.isLeaving && state.open === 0) session.close();
        // Only a client closes a stream before its answer.
        if (!stream.headersSent) this.#countReset(state, client);
      });
      handle(new Http2Exchange(stream, headers, list, client));
    });
    session.setTimeout(timeouts.keepAliveMs, () => {
      if (state.open === 0) session.close();
    });
    // The session closes itself; without a listener the error would end the process.
    session.on('error', () => {});
    session.on('close', () => {
      clearTimeout(first);
      clearTimeout(linger);
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
      if (state.open === 0) state.session.close();
    }
  }

  #countReset({ session, resets }: Session, client: ClientConnection): void {
    if (session.closed || session.destroyed || resets.spend()) return;
    this.#options.onResets(client);
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0, Buffer.from(tooManyStreamResets.message));
    // Requests under way may end; no new one is taken.
    session.close();
  }
}
