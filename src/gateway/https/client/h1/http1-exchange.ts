import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

import type { UserError } from '../../../../errors/user-error.ts';
import type { AnswerHead, ClientConnection, Exchange, RequestBody } from '../../exchange.ts';
import { formatHeaders } from '../../../../lib/header-list.ts';
import type { BodyReader } from './body-reader.ts';
import type { RequestHead } from './request-head.ts';

const shortBody = 16_384;

interface Http1Owner {
  /** The answer is whole, and some of it waits for the client. */
  onEnded(): void;
  /** The answer has been written, or the socket is gone. */
  onDone(): void;
  /** Gives the socket away, with the bytes that came behind the request. */
  leave(): Buffer;
}

/** One request and its answer over HTTP/1.1 or HTTP/1.0. */
export class Http1Exchange implements Exchange {
  readonly client: ClientConnection;
  readonly protocol: '1.0' | '1.1';
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly fault: UserError | undefined;
  readonly headers: readonly string[];
  readonly body: RequestBody;
  readonly upgrade: string | undefined;
  readonly bodySource: BodyReader;
  heldBody: Buffer | undefined;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  headSent = false;
  bodyBytes = 0;
  /** True: no other request may follow on the connection. */
  closes: boolean;
  readonly #socket: Socket;
  /** Header lines that tell a client how long its connection is kept. */
  readonly #keepAlive: string;
  readonly #owner: Http1Owner;
  /** Bytes that go out with the next write: the head, or the end of a chunk. */
  #unsent = '';
  #hasWritten = false;
  #hasBody = true;
  #chunked = false;
  #ended = false;
  #isOver = false;

  constructor(
    head: RequestHead,
    bodySource: BodyReader,
    socket: Socket,
    client: ClientConnection,
    keepAlive: string,
    owner: Http1Owner,
  ) {
    this.client = client;
    this.protocol = head.protocol;
    this.method = head.method;
    this.target = head.target;
    this.host = head.host;
    this.fault = head.fault;
    this.headers = head.headers;
    this.body = head.body;
    this.upgrade = head.upgrade;
    this.closes = head.closes;
    this.bodySource = bodySource;
    this.#socket = socket;
    this.#keepAlive = keepAlive;
    this.#owner = owner;
  }

  get trailers(): readonly string[] {
    return this.bodySource.trailers;
  }

  /** True when nothing more is to be done for it. */
  get isOver(): boolean {
    return this.#isOver;
  }

  sendInterim(status: number, reason: string, headers: readonly string[]): void {
    if (this.headSent || this.protocol === '1.0') return;
    this.#socket.write(`HTTP/1.1 ${status} ${reason || reasonOf(status)}\r\n${formatHeaders(headers)}\r\n`, 'latin1');
  }

  sendHead({ status, reason, headers, contentLength, close }: AnswerHead): void {
    this.headSent = true;
    this.#hasBody = this.method !== 'HEAD' && status !== 204 && status !== 304;
    const isOld = this.protocol === '1.0';
    this.#chunked = this.#hasBody && contentLength === undefined && !isOld;
    // Old clients read a body without a length until the connection is closed.
    this.closes ||= close || (isOld && contentLength === undefined);
    let head = `HTTP/1.1 ${status} ${reason || reasonOf(status)}\r\n${formatHeaders(headers)}`;
    if (contentLength !== undefined) head += `Content-Length: ${contentLength}\r\n`;
    if (!hasDate(headers)) head += dateLine();
    head += this.closes ? 'Connection: close\r\n' : this.#keepAlive;
    if (this.#chunked) head += 'Transfer-Encoding: chunked\r\n';
    this.#unsent = `${head}\r\n`;
  }

  flushHead(): void {
    if (this.#ended || this.#unsent === '' || this.#hasWritten || this.#socket.destroyed) return;
    this.#socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
  }

  write(chunk: Buffer, written: () => void): boolean {
    if (this.#hasBody && chunk.length > 0) {
      this.bodyBytes += chunk.length;
      this.#writeChunk(chunk, written);
    } else written();
    return !this.#socket.writableNeedDrain;
  }

  end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    const socket = this.#socket;
    if (this.#hasBody && chunk !== undefined && chunk.length > 0) {
      this.bodyBytes += chunk.length;
      // One write for head and body saves a TLS record and a system call.
      if (this.#unsent !== '' && !this.#chunked && chunk.length <= shortBody) this.#unsent += chunk.toString('latin1');
      else this.#writeChunk(chunk, ignore);
    }
    if (this.#chunked) this.#unsent += `0\r\n${formatHeaders(trailers)}\r\n`;
    if (this.#unsent !== '') socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
    this.#ended = true;
    if (this.closes) socket.destroySoon();
    // The next request waits for the drain, or a client that never reads would make answers pile up.
    if (socket.writableNeedDrain) this.#owner.onEnded();
    else this.#finish();
  }

  abort(): void {
    this.#socket.destroy();
  }

  switchProtocols(headers: readonly string[]): { socket: Socket; firstBytes: Buffer } {
    const socket = this.#socket;
    this.#isOver = true;
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${formatHeaders(headers)}\r\n`, 'latin1');
    return { socket, firstBytes: this.#owner.leave() };
  }

  /** The socket takes more. */
  drained(): void {
    if (this.#ended) this.#finish();
    else this.onDrain?.();
  }

  /** The socket is gone. */
  closed(): void {
    this.closes = true;
    this.#finish();
  }

  #writeChunk(chunk: Buffer, written: () => void): void {
    this.#hasWritten = true;
    const socket = this.#socket;
    socket.cork();
    if (this.#chunked) this.#unsent += `${chunk.length.toString(16)}\r\n`;
    if (this.#unsent !== '') socket.write(this.#unsent, 'latin1');
    socket.write(chunk, written);
    socket.uncork();
    this.#unsent = this.#chunked ? '\r\n' : '';
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClose?.();
    this.#owner.onDone();
  }
}

function reasonOf(status: number): string {
  return STATUS_CODES[status] ?? '';
}

function hasDate(headers: readonly string[]): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'date') return true;
  }
  return false;
}

let dateSecond = 0;
let date = '';

function dateLine(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = `Date: ${new Date(nowMs).toUTCString()}\r\n`;
  }
  return date;
}

function ignore(): void {}
