import { Readable } from 'node:stream';

import type { Exchange, RequestBody } from '../exchange.ts';
import { forwardTrailers } from '../headers/forward-headers.ts';
import type { HeaderGuard } from '../headers/header-guard.ts';
import { formatHeaders } from '../headers/header-list.ts';
import type { UpstreamConnection } from './connection.ts';

export interface BodyOwner {
  onActivity(): void;
  /** The body is not as long as its head announced. */
  onMismatch(): void;
}

/** Time that an upstream has to answer `Expect: 100-continue`; then it is sent the body anyway. */
const continueMs = 1000;

export function hasBytes(body: RequestBody): boolean {
  return body === 'chunked' || (body !== 'none' && body.length > 0);
}

/** Sends a request body upstream, as fast as the upstream takes it. */
export class RequestBodyPump {
  readonly #exchange: Exchange;
  readonly #guard: HeaderGuard | undefined;
  readonly #owner: BodyOwner;
  readonly #stream: Readable;
  /** Bytes that the head announced and that have not come yet. */
  #left: number;
  #connection: UpstreamConnection | undefined;
  #continueTimer: NodeJS.Timeout | undefined;
  /** True once the client may send its body. */
  flowing = false;
  #complete = false;
  #held = false;

  constructor(exchange: Exchange, guard: HeaderGuard | undefined, owner: BodyOwner) {
    this.#exchange = exchange;
    this.#guard = guard;
    this.#owner = owner;
    this.#stream = exchange.heldBody === undefined ? exchange.bodyStream : Readable.from([exchange.heldBody]);
    this.#left = typeof exchange.body === 'object' ? exchange.body.length : Infinity;
  }

  /** True while the next bytes must come from the client. */
  get waiting(): boolean {
    return this.flowing && !this.#complete && !this.#held;
  }

  start(connection: UpstreamConnection, expectsContinue: boolean): void {
    this.#connection = connection;
    if (expectsContinue) this.#continueTimer = setTimeout(() => this.proceed(), continueMs);
    else this.#flow();
  }

  /** Lets the client send the body it holds back for `100 Continue`. */
  proceed(): void {
    if (this.flowing || this.#connection === undefined) return;
    clearTimeout(this.#continueTimer);
    this.#exchange.sendInterim(100, 'Continue', []);
    this.#flow();
  }

  resume(): void {
    this.#held = false;
    this.#stream.resume();
  }

  /** Reads the rest of the body and discards it, so that the client sees its answer. */
  stop(): void {
    this.#connection = undefined;
    clearTimeout(this.#continueTimer);
    if (!this.flowing) return;
    this.#stream.off('data', this.#onData);
    this.#stream.off('end', this.#onEnd);
    this.#stream.resume();
  }

  #flow(): void {
    this.flowing = true;
    this.#stream.on('data', this.#onData);
    this.#stream.on('end', this.#onEnd);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#owner.onActivity();
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.#owner.onMismatch();
    } else if (this.#connection?.writeBody(chunk, this.#isChunked) === false) {
      this.#held = true;
      this.#stream.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#owner.onActivity();
    this.#complete = true;
    if (!this.#isChunked && this.#left > 0) {
      this.#owner.onMismatch();
      return;
    }
    const trailers = this.#isChunked ? forwardTrailers(this.#exchange.trailers, this.#guard) : [];
    this.#connection?.endBody(this.#isChunked ? `0\r\n${formatHeaders(trailers)}\r\n` : '');
  };

  get #isChunked(): boolean {
    return this.#exchange.body === 'chunked';
  }
}
