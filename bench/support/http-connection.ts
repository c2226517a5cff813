import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Endpoint {
  readonly port: number;
  /** Name for TLS, with any certificate accepted; without it, the connection is plain. */
  readonly servername?: string;
}

export interface Answer {
  readonly status: number;
  /** Status line and header lines. */
  readonly head: string;
  readonly body: string;
}

interface Waiting {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

/** A kept-alive HTTP/1.1 connection with little overhead, for one request at a time. */
export class HttpConnection {
  readonly #socket: Socket;
  #received = '';
  #waiting: Waiting | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      this.#received += String(chunk);
      this.#tryAnswer();
    });
    const fail = (error?: Error) => {
      this.#waiting?.reject(error ?? new Error('the connection was closed before an answer'));
      this.#waiting = undefined;
    };
    socket.on('error', fail);
    socket.on('close', () => {
      fail();
    });
  }

  static async open({ port, servername }: Endpoint): Promise<HttpConnection> {
    const options = { host: '127.0.0.1', port };
    const socket =
      servername === undefined
        ? connect(options)
        : connectTls({ ...options, servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] });
    await once(socket, servername === undefined ? 'connect' : 'secureConnect');
    return new HttpConnection(socket);
  }

  /** Sends the bytes of a whole request. */
  send(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.closed) {
        reject(new Error('the connection is closed'));
        return;
      }
      this.#waiting = { resolve, reject };
      this.#socket.write(request, 'latin1');
    });
  }

  get closed(): boolean {
    return this.#socket.destroyed || this.#socket.readyState !== 'open';
  }

  close(): void {
    this.#socket.destroy();
  }

  #tryAnswer(): void {
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const end = bodyEnd(head, this.#received, headEnd + 4);
    if (end === undefined) return;
    const answer = { status: Number(head.slice(9, 12)), head, body: this.#received.slice(headEnd + 4, end) };
    this.#received = this.#received.slice(end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }
}

/** Returns the offset of the response's end, undefined while it is incomplete. Chunked bodies keep their framing. */
function bodyEnd(head: string, received: string, start: number): number | undefined {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return received.length >= start + Number(length) ? start + Number(length) : undefined;
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return start;
  const last = received.indexOf('0\r\n\r\n', start);
  return last < 0 ? undefined : last + 5;
}

/** Formats the bytes of a request. */
export function formatRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): string {
  const all = { ...headers, ...(body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}
