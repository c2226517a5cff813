import type { Exchange } from './exchange.ts';
import { formatHeaders, forwardTrailers } from './forward-headers.ts';
import type { HeaderGuard } from './header-guard.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

interface PumpEvents {
  onMove(): void;
  /** The body is not as long as its head said; the upstream must not take what follows for another request. */
  onMismatch(): void;
}

/** Moves a request body upstream, as fast as the upstream takes it. */
export class RequestBodyPump {
  readonly #exchange: Exchange;
  readonly #guard: HeaderGuard | undefined;
  readonly #events: PumpEvents;
  /** Bytes that the head promised and that have not come yet. */
  #left: number;
  #connection: UpstreamConnection | undefined;
  started = false;
  #complete = false;
  #held = false;

  constructor(exchange: Exchange, guard: HeaderGuard | undefined, events: PumpEvents) {
    this.#exchange = exchange;
    this.#guard = guard;
    this.#events = events;
    this.#left = typeof exchange.body === 'object' ? exchange.body.length : Infinity;
  }

  /** True while it is the client that nothing comes from. */
  get waiting(): boolean {
    return this.started && !this.#complete && !this.#held;
  }

  start(connection: UpstreamConnection): void {
    this.started = true;
    this.#connection = connection;
    this.#exchange.bodyStream.on('data', this.#onData);
    this.#exchange.bodyStream.on('end', this.#onEnd);
  }

  resume(): void {
    this.#held = false;
    this.#exchange.bodyStream.resume();
  }

  /** What still comes is read and thrown away, so that the client sees its answer. */
  stop(): void {
    this.#connection = undefined;
    if (!this.started) return;
    this.#exchange.bodyStream.off('data', this.#onData);
    this.#exchange.bodyStream.off('end', this.#onEnd);
    this.#exchange.bodyStream.resume();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#events.onMove();
    this.#left -= chunk.length;
    if (this.#left < 0) {
      this.#events.onMismatch();
    } else if (this.#connection?.writeBody(chunk, this.#isChunked) === false) {
      this.#held = true;
      this.#exchange.bodyStream.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#events.onMove();
    this.#complete = true;
    if (!this.#isChunked && this.#left > 0) {
      this.#events.onMismatch();
      return;
    }
    const trailers = this.#isChunked ? forwardTrailers(this.#exchange.trailers, this.#guard) : [];
    this.#connection?.endBody(this.#isChunked ? `0\r\n${formatHeaders(trailers)}\r\n` : '');
  };

  get #isChunked(): boolean {
    return this.#exchange.body === 'chunked';
  }
}
