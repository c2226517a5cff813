import { performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

import type { GatewayTimeouts } from '../../engine.ts';
import { Http2Exchange } from './exchange-h2.ts';
import type { ClientConnection, Exchange } from './exchange.ts';

const sessionOptions = {
  maxHeaderListPairs: 500,
  // Upstreams repeat such headers now and then, and a rule may add one beside theirs: HTTP/1.1 passes them on as well.
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

  /** No new streams; the sessions end with the ones they have. */
  goAway(): void {
    for (const session of this.#sessions) session.close();
  }
}
