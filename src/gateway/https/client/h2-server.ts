import { performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

import type { GatewayTimeouts } from '../../engine.ts';
import type { ClientConnection, Exchange } from '../exchange.ts';
import { Http2Exchange } from './exchange-h2.ts';

/** The limits of headers are those of HTTP/1: see `decide.ts` for their number, `h1-server.ts` for their size. */
const sessionOptions = {
  maxHeaderListPairs: 500,
  // Repeated headers are passed on, as with HTTP/1.1: upstreams send them, and a rule may add one to theirs.
  strictSingleValueFields: false,
  settings: { maxConcurrentStreams: 256, maxHeaderListSize: 32_768, enablePush: false },
};

/** Speaks HTTP/2 on connections that are handed to it. */
export class Http2Server {
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #timeouts: GatewayTimeouts;
  readonly #handle: (exchange: Exchange) => void;

  constructor(timeouts: GatewayTimeouts, handle: (exchange: Exchange) => void) {
    this.#timeouts = timeouts;
    this.#handle = handle;
  }

  accept(socket: TLSSocket, client: ClientConnection): void {
    const session = performServerHandshake(socket, sessionOptions);
    this.#sessions.add(session);
    let open = 0;
    const first = setTimeout(() => session.destroy(), this.#timeouts.headersMs);
    session.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, list: string[]) => {
      clearTimeout(first);
      open += 1;
      stream.on('close', () => {
        open -= 1;
      });
      this.#handle(new Http2Exchange(stream, headers, list, client));
    });
    session.setTimeout(this.#timeouts.keepAliveMs, () => {
      if (open === 0) session.close();
    });
    // The session closes itself; without a listener the error would end the process.
    session.on('error', () => {});
    session.on('close', () => {
      clearTimeout(first);
      this.#sessions.delete(session);
    });
  }

  /** Refuses new streams; a session ends with its last stream. */
  goAway(): void {
    for (const session of this.#sessions) session.close();
  }
}
