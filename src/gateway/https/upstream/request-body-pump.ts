import { PieceJoiner } from '../../turns/piece-joiner.ts';
import type { Exchange, RequestBody } from '../exchange.ts';
import { forwardTrailers } from '../headers/forward-headers.ts';
import type { TrailerRules } from '../headers/forward-headers.ts';
import { formatHeaders } from '../../../lib/header-list.ts';
import type { UpstreamConnection } from './connection.ts';

export interface BodyOwner {
  onActivity(): void;
  /** Bytes of the body, as they go on. Their memory is used again. */
  onBody(bytes: Buffer): void;
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
  readonly #trailers: TrailerRules;
  readonly #owner: BodyOwner;
  readonly #pieces = new PieceJoiner((bytes, written) => this.#write(bytes, written));
  /** Bytes that the head announced and that have not come yet. */
  #left: number;
  readonly #changed: Buffer | undefined;
  #connection: UpstreamConnection | undefined;
  #continueTimer: NodeJS.Timeout | undefined;
  /** True once the client may send its body. */
  flowing = false;
  /** Bytes that have come. */
  bytes = 0;
  #complete = false;
  #held = false;

  /** `changed`: the whole body that goes in the place of the client's, which has been read. */
  constructor(exchange: Exchange, trailers: TrailerRules, owner: BodyOwner, changed?: Buffer) {
    this.#exchange = exchange;
    this.#trailers = trailers;
    this.#owner = owner;
    this.#changed = changed;
    const body = changed ?? exchange.body;
    this.#left = typeof body === 'object' ? body.length : Infinity;
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
    if (this.#exchange.heldBody === undefined) this.#exchange.bodySource.resume();
  }

  /** Reads the rest of the body and discards it, so that the client sees its answer. */
  stop(): void {
    this.#connection = undefined;
    clearTimeout(this.#continueTimer);
    this.#pieces.drop();
    if (this.flowing && this.#exchange.heldBody === undefined) this.#exchange.bodySource.drop();
  }

  #flow(): void {
    this.flowing = true;
    const { bodySource } = this.#exchange;
    const heldBody = this.#changed ?? this.#exchange.heldBody;
    if (heldBody === undefined) {
      bodySource.read(this.#onBytes, this.#onEnd);
    } else {
      if (heldBody.length > 0) this.#onBytes(heldBody);
      this.#onEnd();
    }
  }

  readonly #onBytes = (bytes: Buffer): void => {
    this.#owner.onActivity();
    this.#left -= bytes.length;
    this.bytes += bytes.length;
    this.#owner.onBody(bytes);
    if (this.#left < 0) this.#owner.onMismatch();
    else this.#pieces.push(bytes);
  };

  #write(bytes: Buffer, written: () => void): void {
    if (this.#connection?.writeBody(bytes, this.#isChunked, written) !== false) return;
    this.#held = true;
    if (this.#exchange.heldBody === undefined) this.#exchange.bodySource.pause();
  }

  readonly #onEnd = (): void => {
    this.#owner.onActivity();
    this.#complete = true;
    this.#pieces.flush();
    if (!this.#isChunked && this.#left > 0) {
      this.#owner.onMismatch();
      return;
    }
    const trailers = this.#isChunked ? forwardTrailers(this.#exchange.trailers, this.#trailers) : [];
    this.#connection?.endBody(this.#isChunked ? `0\r\n${formatHeaders(trailers)}\r\n` : '');
  };

  get #isChunked(): boolean {
    return this.#changed === undefined && this.#exchange.body === 'chunked';
  }
}
