import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

import type { UserError } from '../../../errors/user-error.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBody, RequestBodySource } from '../exchange.ts';
import type { ReadShare } from '../../turns/read-share.ts';
import type { IdleTimeout, IdleWatch } from '../idle-watch.ts';
import { notAcceptable } from '../routing/request-target.ts';
import { Http2Body } from './http2-body.ts';

/** The source of a request without a body, from which nobody reads. */
const noBody: RequestBodySource = { read: () => {}, pause: () => {}, resume: () => {}, drop: () => {} };

/** Parts of a session that its exchanges share. */
interface Http2ExchangeParts {
  readonly share: ReadShare;
  readonly watch: IdleWatch;
  readonly idleMs: number;
}

/** An exchange over one HTTP/2 stream. */
export class Http2Exchange implements Exchange, IdleTimeout {
  lastActivity = 0;
  /** Time without progress after which a client has left, once its answer is written. */
  readonly limitMs: number;
  readonly client: ClientConnection;
  readonly protocol = '2';
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly headers: readonly string[];
  readonly body: RequestBody;
  readonly bodySource: RequestBodySource;
  readonly upgrade = undefined;
  readonly fault: UserError | undefined;
  heldBody: Buffer | undefined;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  bodyBytes = 0;
  trailers: readonly string[] = [];
  readonly #stream: ServerHttp2Stream;
  readonly #watch: IdleWatch;
  #answerTrailers: readonly string[] = [];

  /** `list` holds the headers in the order of the wire, pseudo-headers among them. */
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    list: readonly string[],
    client: ClientConnection,
    { share, watch, idleMs }: Http2ExchangeParts,
  ) {
    this.#watch = watch;
    this.limitMs = idleMs;
    this.client = client;
    this.#stream = stream;
    this.method = pseudo(headers, ':method');
    this.target = pseudo(headers, ':path');
    this.headers = joinCookies(list);
    this.host = pseudo(headers, ':authority') || headers.host;
    this.fault = faultOf(headers);
    this.body = bodyOf(stream, headers);
    this.bodySource = this.body === 'none' ? noBody : new Http2Body(stream, share);
    // Each listener is an object more for each request: only those are there that this one needs.
    if (this.body !== 'none')
      stream.on('trailers', (_, __, trailerList?: readonly string[]) => {
        this.trailers = trailerList ?? [];
      });
    // The `close` event follows; without a listener the error would end the process.
    stream.on('error', ignore);
  }

  /** The stream is gone. */
  closed(): void {
    this.#watch.delete(this);
    this.onClose?.();
  }

  get headSent(): boolean {
    return this.#stream.headersSent;
  }

  sendInterim(status: number, _reason: string, headers: readonly string[]): void {
    if (this.headSent || this.#stream.destroyed || this.#stream.closed) return;
    this.#stream.additionalHeaders({ ...toObject(headers), ':status': status });
  }

  sendHead({ status, headers, contentLength }: AnswerHead): void {
    const answer = [':status', String(status), ...headers];
    if (contentLength !== undefined) answer.push('content-length', String(contentLength));
    // A body of known length has no trailers: upstreams send them with chunked bodies only.
    const waitForTrailers = contentLength === undefined;
    this.#stream.respond(answer, { waitForTrailers });
    if (waitForTrailers) this.#stream.on('wantTrailers', () => this.#sendTrailers());
  }

  /** The head has gone out already: nghttp2 puts frames together by itself. */
  flushHead(): void {}

  write(chunk: Buffer, written: () => void): boolean {
    this.bodyBytes += chunk.length;
    const stream = this.#stream;
    const takesMore = stream.write(chunk, written);
    if (!takesMore && stream.listenerCount('drain') === 0) this.#followDrains();
    return takesMore;
  }

  end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    this.#answerTrailers = trailers;
    if (chunk === undefined) this.#stream.end();
    else {
      this.bodyBytes += chunk.length;
      this.#stream.end(chunk);
    }
    if (!this.#stream.destroyed) this.#watch.add(this);
  }

  /** The client has neither taken its answer nor ended its request. */
  onIdle(): void {
    this.abort();
  }

  abort(): void {
    // Not `close`: it would end the body first, as if it were complete.
    this.#stream.destroy(new Error('aborted'));
  }

  #followDrains(): void {
    this.#stream.on('drain', () => {
      this.lastActivity = this.#watch.now;
      this.onDrain?.();
    });
  }

  #sendTrailers(): void {
    // An empty list sends an empty frame, which ends the stream.
    if (!this.#stream.destroyed && !this.#stream.closed) this.#stream.sendTrailers(toObject(this.#answerTrailers));
  }

  switchProtocols(): { socket: Socket; firstBytes: Buffer } {
    throw new Error('HTTP/2 has no Upgrade');
  }
}

function ignore(): void {}

function pseudo(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function faultOf(headers: IncomingHttpHeaders): UserError | undefined {
  const authority = pseudo(headers, ':authority');
  // RFC 9113, 8.3.1.
  if (authority !== '' && headers.host !== undefined && headers.host !== authority)
    return notAcceptable('it names two hosts');
  return pseudo(headers, ':scheme') === 'https' ? undefined : notAcceptable('its scheme is not https');
}

function bodyOf(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): RequestBody {
  if (stream.endAfterHeaders) return 'none';
  const length = headers['content-length'];
  // nghttp2 checks that it is a number and agrees with the body.
  return length === undefined ? 'chunked' : { length: Number(length) };
}

/** HTTP/2 may split cookies over several headers; HTTP/1.1 has one line (RFC 9113, 8.2.3). */
function joinCookies(list: readonly string[]): readonly string[] {
  let first = 0;
  while (list[first]?.startsWith(':') === true) first += 2;
  if (list.indexOf('cookie', list.indexOf('cookie') + 1) < 0) return list.slice(first);
  const joined: string[] = [];
  let cookieAt = -1;
  for (let at = first; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    if (name === 'cookie' && cookieAt >= 0) {
      joined[cookieAt] += `; ${value}`;
    } else {
      if (name === 'cookie') cookieAt = joined.length + 1;
      joined.push(name, value);
    }
  }
  return joined;
}

function toObject(list: readonly string[]): OutgoingHttpHeaders {
  // No prototype: a header may be called __proto__.
  const headers: OutgoingHttpHeaders = Object.create(null);
  for (let at = 0; at < list.length; at += 2) {
    const name = (list[at] ?? '').toLowerCase();
    const value = list[at + 1] ?? '';
    const present = headers[name];
    if (present === undefined) headers[name] = value;
    else headers[name] = Array.isArray(present) ? [...present, value] : [String(present), value];
  }
  return headers;
}
