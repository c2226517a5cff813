import type { Socket } from 'node:net';

import { requestTimeout } from '../../../../errors/shared.ts';
import { UserError } from '../../../../errors/user-error.ts';
import { GrowingBuffer } from '../../../../lib/growing-buffer.ts';
import { formatHeaders } from '../../../../lib/header-list.ts';
import { newOperationId } from '../../../../lib/ids.ts';
import { sourceKey } from '../../../../lib/ip/source-key.ts';
import type { GatewayTimeouts } from '../../../engine.ts';
import { readDirectly } from '../../../../lib/direct-reads.ts';
import { ReadShare } from '../../../turns/read-share.ts';
import type { RequestQueue } from '../../../turns/request-queue.ts';
import { errorAnswer } from '../../error-page.ts';
import type { ClientConnection, Exchange } from '../../exchange.ts';
import { MalformedMessage } from '../../framing/fields.ts';
import type { IdleTimeout, IdleWatch } from '../../idle-watch.ts';
import { BodyReader } from './body-reader.ts';
import type { BodyReaderOwner } from './body-reader.ts';
import { HeadReader } from './head-reader.ts';
import { Http1Exchange } from './http1-exchange.ts';
import type { RequestHead } from './request-head.ts';

/** Bytes that may wait for the request before them to end. As long as it is read, the gateway sees a client leave. */
const earlyLimit = 65_536;
/** Time that a refused client has to read its answer. */
const lingerMs = 1000;
const nothing = Buffer.alloc(0);

/** Options that all connections of a server share. */
export interface Http1Options {
  readonly watch: IdleWatch;
  readonly timeouts: GatewayTimeouts;
  readonly queue: RequestQueue;
  readonly errorPrefix: string;
  /** Header lines that tell a client how long its connection is kept. */
  readonly keepAlive: string;
  readonly handle: (exchange: Exchange) => void;
}

/** One connection of a client that speaks HTTP/1: its requests are carried out one at a time, in their order. */
export class Http1Connection implements IdleTimeout, BodyReaderOwner {
  lastActivity = 0;
  limitMs: number;
  readonly #socket: Socket;
  readonly #client: ClientConnection;
  readonly #options: Http1Options;
  readonly #gone: () => void;
  readonly #share: ReadShare;
  readonly #endDirectReads: () => void;
  readonly #heads = new HeadReader();
  #exchange: Http1Exchange | undefined;
  /** The body of the newest request. */
  #body: BodyReader | undefined;
  #hasServed = false;
  /** Bytes that came before somebody could take them, and those that came behind them. */
  #early: Buffer = nothing;
  readonly #more = new GrowingBuffer();
  #isConsuming = false;
  /** Whoever takes the body takes no more for now. */
  #isBodyPaused = false;
  /** Nothing is read because too much waits. */
  #isFull = false;
  /** Nothing that still comes is looked at. */
  #isClosing = false;

  constructor(socket: Socket, client: ClientConnection, options: Http1Options, gone: () => void) {
    this.#socket = socket;
    this.#client = client;
    this.#options = options;
    this.#gone = gone;
    this.#share = new ReadShare(socket, sourceKey(client.peer));
    this.limitMs = options.timeouts.headersMs;
    this.#endDirectReads = readDirectly(socket, this.#onData);
    socket.on('data', this.#onData).on('drain', this.#onDrain).on('error', this.#onError).on('close', this.#onClose);
    options.watch.add(this);
  }

  get isIdle(): boolean {
    return this.#exchange === undefined;
  }

  closeIfIdle(): void {
    if (this.#hasServed && this.isIdle && !this.#heads.hasBegun) this.close();
  }

  /** Closes it once the client has read what waits for it. */
  close(): void {
    if (this.#socket.destroyed) return;
    if (this.#isClosing) {
      // The client was told so before, and does not read.
      if (this.#options.watch.now - this.lastActivity >= lingerMs) this.#socket.destroy();
      return;
    }
    this.#stopReading();
    this.#options.watch.add(this);
    this.#awaitReader();
    this.#socket.destroySoon();
  }

  /** No request came in time: an error if one was awaited, later the usual end of a kept connection. */
  onIdle(): void {
    if (this.#isClosing || this.#exchange !== undefined) this.#socket.destroy();
    else if (this.#hasServed && !this.#heads.hasBegun) this.close();
    else this.#refuse(new UserError(requestTimeout));
  }

  onEnded(): void {
    this.#awaitReader();
  }

  onWanted(): void {
    if (!this.#isConsuming) this.#consume(nothing);
  }

  pause(): void {
    this.#isBodyPaused = true;
    this.#share.pause();
  }

  resume(): void {
    this.#isBodyPaused = false;
    if (!this.#isFull) this.#share.resume();
  }

  /** The answer to the request under way has been written, or the socket is gone. */
  onDone(): void {
    const closes = this.#exchange?.closes === true;
    this.#exchange = undefined;
    if (closes) {
      this.#stopReading();
      this.#awaitReader();
      return;
    }
    if (this.#body?.isDone === false) this.#body.drop();
    this.limitMs = this.#options.timeouts.keepAliveMs;
    this.lastActivity = this.#options.watch.now;
    if (!this.#isConsuming) this.#consume(nothing);
  }

  leave(): Buffer {
    this.#share.end();
    this.#endDirectReads();
    this.#socket
      .off('data', this.#onData)
      .off('drain', this.#onDrain)
      .off('error', this.#onError)
      .off('close', this.#onClose);
    this.#options.watch.delete(this);
    this.#gone();
    return Buffer.concat([this.#early, this.#more.take()]);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#share.count(chunk.length);
    if (this.#isClosing) return;
    if (this.#early.length > 0) {
      this.#more.add(chunk);
      this.#pauseIfFull();
    } else {
      this.#consume(chunk);
    }
  };

  readonly #onDrain = (): void => {
    this.#exchange?.drained();
  };

  readonly #onError = (): void => {
    this.#socket.destroy();
  };

  readonly #onClose = (): void => {
    this.#share.end();
    this.#isClosing = true;
    this.#options.watch.delete(this);
    this.#gone();
    this.#exchange?.closed();
  };

  /** Takes what has waited, then these bytes, as far as somebody can take them. */
  #consume(chunk: Buffer): void {
    let rest = this.#early.length > 0 ? this.#early : chunk;
    this.#early = nothing;
    this.#isConsuming = true;
    try {
      while (!this.#isClosing) {
        if (rest.length === 0 && this.#more.length > 0) rest = this.#more.take();
        const taken = rest.length === 0 ? 0 : this.#take(rest);
        if (taken === 0) break;
        rest = taken === rest.length ? nothing : rest.subarray(taken);
      }
      this.#early = this.#isClosing ? nothing : rest;
    } catch (error) {
      // A malformed body gets no answer: some of it may be on its way already.
      if (error instanceof UserError) this.#refuse(error);
      else if (error instanceof MalformedMessage) this.#socket.destroy();
      else throw error;
    } finally {
      this.#isConsuming = false;
    }
    this.#pauseIfFull();
  }

  /** Returns how many of the bytes were taken; 0: nobody can take them yet. */
  #take(bytes: Buffer): number {
    const body = this.#body;
    if (body?.isDone === false) {
      if (this.#exchange === undefined) this.lastActivity = this.#options.watch.now;
      return body.wantsBytes ? body.push(bytes) : 0;
    }
    if (this.#exchange !== undefined) return 0;
    const hadBegun = this.#heads.hasBegun;
    const head = this.#heads.read(bytes);
    const { taken } = this.#heads;
    if (head !== undefined) this.#begin(head);
    else if (!hadBegun) this.#awaitHead();
    return taken;
  }

  /** The rest of a head must come soon, in however many pieces. */
  #awaitHead(): void {
    if (!this.#hasServed || !this.#heads.hasBegun) return;
    this.limitMs = this.#options.timeouts.headersMs;
    this.lastActivity = this.#options.watch.now;
  }

  /** The client must read on: an answer that is written has no other limit. */
  #awaitReader(): void {
    this.limitMs = this.#options.timeouts.idleMs;
    this.lastActivity = this.#options.watch.now;
  }

  #begin(head: RequestHead): void {
    const { keepAlive, queue, handle } = this.#options;
    // The exchange has limits of its own until its answer is written.
    this.limitMs = Infinity;
    this.#hasServed = true;
    this.#isBodyPaused = false;
    const body = new BodyReader(head.body, this);
    const exchange = new Http1Exchange(head, body, this.#socket, this.#client, keepAlive, this);
    this.#body = body;
    this.#exchange = exchange;
    queue.add(this.#client, () => {
      if (!exchange.isOver) handle(exchange);
    });
  }

  #pauseIfFull(): void {
    const isFull = this.#early.length + this.#more.length >= earlyLimit;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    if (isFull) this.#share.pause();
    else if (!this.#isBodyPaused) this.#share.resume();
  }

  /** Discards what still comes: an answer may wait for a slow reader, but no further request may be carried out. */
  #stopReading(): void {
    this.#isClosing = true;
    this.#early = nothing;
    this.#more.take();
    this.#share.resume();
  }

  #refuse(error: UserError): void {
    const { status, headers, body } = errorAnswer(error, newOperationId(), '', this.#options.errorPrefix);
    const list = [...headers, 'Content-Length', String(body.length), 'Connection', 'close'];
    // Further bytes are read and discarded, or the client would be reset before it has its answer.
    this.#stopReading();
    this.#socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status} \r\n${formatHeaders(list)}\r\n`, 'latin1'), body]));
    setTimeout(() => this.#socket.destroy(), lingerMs).unref();
  }
}
