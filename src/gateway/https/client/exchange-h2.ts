import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';

import type { UserError } from '../../../errors/user-error.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBody } from '../exchange.ts';
import { notAcceptable } from '../routing/request-target.ts';

/** An exchange over one HTTP/2 stream. */
export class Http2Exchange implements Exchange {
  readonly client: ClientConnection;
  readonly protocol = '2';
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly headers: readonly string[];
  readonly body: RequestBody;
  readonly bodyStream: ServerHttp2Stream;
  readonly upgrade = undefined;
  readonly fault: UserError | undefined;
  heldBody: Buffer | undefined;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  trailers: readonly string[] = [];
  #answerTrailers: readonly string[] = [];

  /** `list` holds the headers in the order of the wire, pseudo-headers among them. */
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    list: readonly string[],
    client: ClientConnection,
  ) {
    this.client = client;
    this.bodyStream = stream;
    this.method = pseudo(headers, ':method');
    this.target = pseudo(headers, ':path');
    this.headers = joinCookies(list);
    this.host = pseudo(headers, ':authority') || headers.host;
    this.fault = faultOf(headers);
    this.body = bodyOf(stream, headers);
    stream.on('drain', () => this.onDrain?.());
    stream.on('close', () => this.onClose?.());
    stream.on('trailers', (_, __, trailerList?: readonly string[]) => {
      this.trailers = trailerList ?? [];
    });
    // The `close` event follows; without a listener the error would end the process.
    stream.on('error', () => {});
  }

  get headSent(): boolean {
    return this.bodyStream.headersSent;
  }

  sendInterim(status: number, _reason: string, headers: readonly string[]): void {
    if (this.headSent || this.bodyStream.destroyed || this.bodyStream.closed) return;
    this.bodyStream.additionalHeaders({ ...toObject(headers), ':status': status });
  }

  sendHead({ status, headers, contentLength }: AnswerHead): void {
    const answer = toObject(headers);
    if (contentLength !== undefined) answer['content-length'] = contentLength;
    answer[':status'] = status;
    // A body of known length has no trailers: upstreams send them with chunked bodies only.
    const waitForTrailers = contentLength === undefined;
    this.bodyStream.respond(answer, { waitForTrailers });
    if (waitForTrailers) this.bodyStream.on('wantTrailers', () => this.#sendTrailers());
  }

  /** The head has gone out already: nghttp2 puts frames together by itself. */
  flushHead(): void {}

  write(chunk: Buffer): boolean {
    return this.bodyStream.write(chunk);
  }

  end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    this.#answerTrailers = trailers;
    if (chunk === undefined) this.bodyStream.end();
    else this.bodyStream.end(chunk);
  }

  abort(): void {
    // Not `close`: it would end the body first, as if it were complete.
    this.bodyStream.destroy(new Error('aborted'));
  }

  #sendTrailers(): void {
    // An empty list sends an empty frame, which ends the stream.
    if (!this.bodyStream.destroyed && !this.bodyStream.closed)
      this.bodyStream.sendTrailers(toObject(this.#answerTrailers));
  }

  switchProtocols(): { socket: Socket; firstBytes: Buffer } {
    throw new Error('HTTP/2 has no Upgrade');
  }
}

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
  const joined: string[] = [];
  let cookieAt = -1;
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    const value = list[at + 1] ?? '';
    if (name.startsWith(':')) continue;
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
