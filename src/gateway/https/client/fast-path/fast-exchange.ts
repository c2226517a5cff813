import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

import type { AnswerHead, ClientConnection, Exchange } from '../../exchange.ts';
import { formatHeaders } from '../../headers/header-list.ts';
import type { PlainHead } from './plain-head.ts';

const shortBody = 16_384;
const none: readonly string[] = [];

/**
 * An exchange over HTTP/1.1 whose request was plain. It writes `Date`, `Keep-Alive` and reason phrases as Node's own
 * server does; a new version of Node may change that side. `test/gateway/https-fast-path.test.ts` compares the bytes.
 */
export class FastExchange implements Exchange {
  readonly client: ClientConnection;
  readonly protocol = '1.1';
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly fault = undefined;
  readonly headers: readonly string[];
  readonly body = 'none';
  readonly trailers = none;
  readonly upgrade = undefined;
  readonly bodyStream: TLSSocket;
  heldBody: Buffer | undefined;
  onDrain: (() => void) | undefined;
  onClose: (() => void) | undefined;
  headSent = false;
  /** Header lines about the connection, for an answer that does not close it. */
  readonly #connectionHeader: string;
  readonly #done: (usable: boolean) => void;
  /** Bytes that go out with the next write: the head, or the end of a chunk. */
  #unsent = '';
  #hasWritten = false;
  #hasBody = true;
  #chunked = false;
  #closes = false;
  #ended = false;
  #isOver = false;

  /** `done` is called when the answer has been written, or the socket is gone. */
  constructor(
    socket: TLSSocket,
    client: ClientConnection,
    { method, target, host, headers, close }: PlainHead,
    keepAlive: string,
    done: (usable: boolean) => void,
  ) {
    this.bodyStream = socket;
    this.client = client;
    this.method = method;
    this.target = target;
    this.host = host;
    this.headers = headers;
    this.#connectionHeader = close ? 'Connection: close\r\n' : keepAlive;
    this.#closes = close;
    this.#done = done;
  }

  sendInterim(status: number, reason: string, headers: readonly string[]): void {
    if (this.headSent) return;
    this.bodyStream.write(
      `HTTP/1.1 ${status} ${reason || reasonOf(status)}\r\n${formatHeaders(headers)}\r\n`,
      'latin1',
    );
  }

  sendHead({ status, reason, headers, contentLength, close }: AnswerHead): void {
    this.headSent = true;
    this.#closes ||= close;
    this.#hasBody = this.method !== 'HEAD' && status !== 204 && status !== 304;
    this.#chunked = this.#hasBody && contentLength === undefined;
    let head = `HTTP/1.1 ${status} ${reason || reasonOf(status)}\r\n${formatHeaders(headers)}`;
    if (contentLength !== undefined) head += `Content-Length: ${contentLength}\r\n`;
    if (close) head += 'Connection: close\r\n';
    if (!hasDate(headers)) head += dateLine();
    if (!close) head += this.#connectionHeader;
    if (this.#chunked) head += 'Transfer-Encoding: chunked\r\n';
    this.#unsent = `${head}\r\n`;
  }

  flushHead(): void {
    if (this.#ended || this.#unsent === '' || this.#hasWritten || this.bodyStream.destroyed) return;
    this.bodyStream.write(this.#unsent, 'latin1');
    this.#unsent = '';
  }

  write(chunk: Buffer): boolean {
    if (this.#hasBody && chunk.length > 0) this.#writeChunk(chunk);
    return !this.bodyStream.writableNeedDrain;
  }

  end(chunk: Buffer | undefined, trailers: readonly string[]): void {
    const socket = this.bodyStream;
    if (this.#hasBody && chunk !== undefined && chunk.length > 0) {
      // One write for head and body saves a TLS record and a system call.
      if (this.#unsent !== '' && !this.#chunked && chunk.length <= shortBody) this.#unsent += chunk.toString('latin1');
      else this.#writeChunk(chunk);
    }
    if (this.#chunked) this.#unsent += `0\r\n${formatHeaders(trailers)}\r\n`;
    if (this.#unsent !== '') socket.write(this.#unsent, 'latin1');
    this.#unsent = '';
    this.#ended = true;
    if (this.#closes) socket.destroySoon();
    // The next request waits for the drain, or a client that never reads would make answers pile up.
    if (!socket.writableNeedDrain) this.#finish();
  }

  abort(): void {
    this.bodyStream.destroy();
  }

  switchProtocols(): { socket: Socket; firstBytes: Buffer } {
    throw new Error('a plain request asks for no other protocol');
  }

  /** The socket takes more. */
  drained(): void {
    if (this.#ended) this.#finish();
    else this.onDrain?.();
  }

  /** The socket is gone. */
  closed(): void {
    this.#closes = true;
    this.#finish();
  }

  #writeChunk(chunk: Buffer): void {
    this.#hasWritten = true;
    const socket = this.bodyStream;
    socket.cork();
    if (this.#chunked) this.#unsent += `${chunk.length.toString(16)}\r\n`;
    if (this.#unsent !== '') socket.write(this.#unsent, 'latin1');
    socket.write(chunk);
    socket.uncork();
    this.#unsent = this.#chunked ? '\r\n' : '';
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onClose?.();
    this.#done(!this.#closes);
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
