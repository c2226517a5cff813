import { STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

import { UserError } from '../../../errors/user-error.ts';
import { versionNotServed } from '../../errors.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBody } from '../exchange.ts';
import { formatHeaders } from '../headers/header-list.ts';
import { notAcceptable } from '../routing/request-target.ts';

const nothing = Buffer.alloc(0);
const shortBody = 16_384;

export interface UpgradeRequest {
  readonly socket: Socket;
  /** Bytes that came behind the request head. */
  readonly firstBytes: Buffer;
}

interface Http1Options {
  readonly upgrade: UpgradeRequest | undefined;
  /** False: the request line is not as Node's parser has read it. */
  readonly lineIsExact: boolean;
  /** Called when the answer tells the client that the connection carries no further request. */
  readonly closes: () => void;
}

/** An exchange over HTTP/1 on the slow path. Node's parser has checked the framing; repeated headers are checked here. */
export class Http1Exchange implements Exchange {
  readonly client: ClientConnection;
  readonly protocol: '1.0' | '1.1';
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly headers: readonly string[];
  readonly body: RequestBody;
  readonly bodyStream: IncomingMessage;
  readonly upgrade: string | undefined;
  readonly fault: UserError | undefined;
  heldBody: Buffer | undefined;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  readonly #response: ServerResponse;
  readonly #upgradeRequest: UpgradeRequest | undefined;
  readonly #closes: () => void;
  #written = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    client: ClientConnection,
    { upgrade: upgradeRequest, lineIsExact, closes }: Http1Options,
  ) {
    this.client = client;
    this.protocol = request.httpVersion === '1.1' ? '1.1' : '1.0';
    this.method = request.method ?? '';
    this.target = request.url ?? '';
    this.headers = request.rawHeaders;
    this.bodyStream = request;
    this.#response = response;
    this.#upgradeRequest = upgradeRequest;
    this.#closes = closes;
    const { host, body, fault } = readHead(request);
    this.host = host;
    this.body = upgradeRequest !== undefined && hasNoBytes(body) ? 'none' : body;
    this.fault = faultOfLine(request, lineIsExact) ?? (fault === undefined ? undefined : notAcceptable(fault));
    this.upgrade = upgradeRequest === undefined ? undefined : request.headers.upgrade;
    response.on('drain', () => this.onDrain?.());
    response.on('close', () => this.onClose?.());
  }

  get trailers(): readonly string[] {
    return this.bodyStream.rawTrailers;
  }

  get headSent(): boolean {
    return this.#response.headersSent;
  }

  sendInterim(status: number, reason: string, headers: readonly string[]): void {
    // A pipelined request has no socket until the answers before it are out; interim responses may be left out.
    const { socket } = this.#response;
    if (this.protocol === '1.0' || socket === null || this.headSent) return;
    const statusLine = `HTTP/1.1 ${status} ${reason || (STATUS_CODES[status] ?? '')}`;
    socket.write(`${statusLine}\r\n${formatHeaders(headers)}\r\n`, 'latin1');
  }

  sendHead({ status, reason, headers, contentLength, close }: AnswerHead): void {
    const list = [...headers];
    if (contentLength !== undefined) list.push('Content-Length', String(contentLength));
    if (close || this.#upgradeRequest !== undefined) list.push('Connection', 'close');
    // Node holds the head back until the body starts.
    this.#response.writeHead(status, reason || (STATUS_CODES[status] ?? ''), list);
    // Node also closes where the client expected a 100 that it has not sent, and where an old client cannot be told the
    // length. It has no public name for it.
    if (Reflect.get(this.#response, '_last') === true) this.#closes();
  }

  flushHead(): void {
    const { headersSent, writableEnded, destroyed } = this.#response;
    if (this.#written || !headersSent || writableEnded || destroyed) return;
    this.#written = true;
    this.#response.flushHeaders();
  }

  write(chunk: Buffer): boolean {
    this.#written = true;
    return this.#response.write(chunk);
  }

  end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    if (trailers.length > 0 && this.#response.chunkedEncoding) this.#response.addTrailers(pairsOf(trailers));
    if (chunk === undefined) this.#response.end();
    // A short body written as a string goes out in one piece with its head; a buffer would be a write of its own.
    else if (!this.#written && chunk.length <= shortBody) this.#response.end(chunk.toString('latin1'), 'latin1');
    else this.#response.end(chunk);
  }

  abort(): void {
    this.bodyStream.socket.destroy();
  }

  switchProtocols(headers: readonly string[]): { socket: Socket; firstBytes: Buffer } {
    const { socket, firstBytes } = this.#upgradeRequest ?? { socket: this.bodyStream.socket, firstBytes: nothing };
    this.#response.detachSocket(socket);
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${formatHeaders(headers)}\r\n`, 'latin1');
    return { socket, firstBytes };
  }
}

/** Node's parser takes lines of other versions, of RTSP and of ICE, and several spaces, and hides the latter. */
function faultOfLine({ httpVersion }: IncomingMessage, lineIsExact: boolean): UserError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new UserError(versionNotServed, { version: httpVersion });
  return lineIsExact
    ? undefined
    : notAcceptable('its first line is not a method, a target and "HTTP/1.1", with one space between them');
}

interface HeadFacts {
  host: string | undefined;
  body: RequestBody;
  fault: string | undefined;
}

function readHead({ rawHeaders, httpVersionMinor }: IncomingMessage): HeadFacts {
  const facts: HeadFacts = { host: undefined, body: 'none', fault: undefined };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    // Comparing lengths first is cheap: this runs for every header of every request.
    if (name.length === 4 && name.toLowerCase() === 'host') {
      if (facts.host !== undefined) facts.fault = 'it has more than one Host header';
      facts.host = value;
    } else if (name.length === 14 && name.toLowerCase() === 'content-length') {
      if (facts.body !== 'none') facts.fault = 'the length of its body is given twice';
      facts.body = { length: Number(value) };
      if (!Number.isSafeInteger(facts.body.length)) facts.fault = 'its body is too large';
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      if (facts.body !== 'none') facts.fault = 'the length of its body is given twice';
      if (value.toLowerCase() !== 'chunked' || httpVersionMinor === 0)
        facts.fault = 'its transfer coding is not supported';
      facts.body = 'chunked';
    }
  }
  return facts;
}

function hasNoBytes(body: RequestBody): boolean {
  return typeof body === 'object' && body.length === 0;
}

function pairsOf(list: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < list.length; at += 2) pairs.push([list[at] ?? '', list[at + 1] ?? '']);
  return pairs;
}
