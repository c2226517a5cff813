import type { Exchange, RequestBody } from '../client/exchange.ts';
import { formatHeaders, forwardTrailers } from '../headers/forward-headers.ts';
import type { HeaderGuard } from '../headers/header-guard.ts';
import type { UpstreamConnection } from './connection.ts';

export interface BodyWatcher {
  onMove(): void;
  /** The body is not as long as its head said. */
  onMismatch(): void;
}

/** How long an upstream may keep silent about `Expect: 100-continue` before it is sent the body anyway. */
const continueMs = 1000;

export function hasBytes(body: RequestBody): boolean {
  return body === 'chunked' || (body !== 'none' && body.length > 0);
}

/** Moves a request body upstream, as fast as the upstream takes it. */
export class RequestBodyPump {
  readonly #exchange: Exchange;
  readonly #guard: HeaderGuard | undefined;
  readonly #watcher: BodyWatcher;
  /** Bytes that the head promised and that have not come yet. */
  #left: number;
  #connection: UpstreamConnection | undefined;
  #continueTimer: NodeJS.Timeout | undefined;
  /** True once the client has been let send, whether it has or not. */
  flowing = false;
  #complete = false;
  #held = false;

  constructor(exchange: Exchange, guard: HeaderGuard | undefined, watcher: BodyWatcher) {
    this.#exchange = exchange;
    this.#guard = guard;
    this.#watcher = watcher;
    this.#left = typeof exchange.body === 'object' ? exchange.body.length : Infinity;
  }

  /** True while it is the client that nothing comes from. */
  get waiting(): boolean {
    return this.flowing && !this.#complete && !this.#held;
  }

  start(connection: UpstreamConnection, expectsContinue: boolean): void {
    this.#connection = connection;
    if (expectsContinue) this.#continueTimer = setTimeout(() => this.proceed(), continueMs);
    else this.#flow();
  }

  /** The client may send the body it holds back. */
  proceed(): void {
    if (this.flowing || this.#connection === undefined) return;
    clearTimeout(this.#continueTimer);
    this.#exchange.sendInterim(100, 'Continue', []);
    this.#flow();
  }

  resume(): void {
    this.#held = false;
    this.#exchange.bodyStream.resume();
  }

  /** What still comes is read and thrown away, so that the client sees its answer. */
  stop(): void {
    this.#connection = undefined;
    clearTimeout(this.#continueTimer);
    if (!this.flowing) return;
    this.#exchange.bodyStream.off('data', this.#onData);
    this.#exchange.bodyStream.off('end', this.#onEnd);
    this.#exchange.bodyStream.resume();
  }

  #flow(): void {
    this.flowing = true;
    this.#exchange.bodyStream.on('data', this.#onData);
    this.#exchange.bodyStream.on('end', this.#onEnd);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#watcher.onMove();
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.#watcher.onMismatch();
    } else if (this.#connection?.writeBody(chunk, this.#isChunked) === false) {
      this.#held = true;
      this.#exchange.bodyStream.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#watcher.onMove();
    this.#complete = true;
    if (!this.#isChunked && this.#left > 0) {
      this.#watcher.onMismatch();
      return;
    }
    const trailers = this.#isChunked ? forwardTrailers(this.#exchange.trailers, this.#guard) : [];
    this.#connection?.endBody(this.#isChunked ? `0\r\n${formatHeaders(trailers)}\r\n` : '');
  };

  get #isChunked(): boolean {
    return this.#exchange.body === 'chunked';
  }
}
