import type { Duplex } from 'node:stream';

import type { ErrorDefinition } from '../../../errors/user-error.ts';
import type { UpstreamSlot } from '../../bounds/upstream-connections.ts';
import { upstreamBroke, upstreamInvalidResponse } from '../../errors.ts';
import { readDirectly } from '../../../lib/direct-reads.ts';
import { ReadShare } from '../../turns/read-share.ts';
import type { IdleWatch, IdleTimeout } from '../idle-watch.ts';
import { ResponseParser } from './response-parser.ts';
import type { RequestFraming, ResponseSink } from './response-parser.ts';

/** Shorter chunks are written in one piece with their size. In bytes. */
const shortBody = 4096;

export interface UpstreamFault {
  /** The error that clients are answered with. */
  readonly error: ErrorDefinition<never>;
  readonly cause: Error;
  /** True: the connection had served before and died without a byte of an answer. The upstream had closed it meanwhile. */
  readonly stale: boolean;
}

/** Takes an answer. After an upgrade it must take the stream, at once. */
export interface UpstreamHandler extends ResponseSink {
  /** All that has come of the answer was handed on, and more is to come. */
  onUnfinished(): void;
  onFault(fault: UpstreamFault): void;
  /** More of the request body may be written. */
  onDrain(): void;
}

interface ConnectionOwner {
  /** The connection is free for another request, for at most `limitMs`. */
  onFree(connection: UpstreamConnection, limitMs: number): void;
  onGone(connection: UpstreamConnection): void;
}

export interface ConnectionParts {
  readonly stream: Duplex;
  readonly slot: UpstreamSlot;
  readonly accountId: string;
  /** The way it takes, where there are several to one backend. */
  readonly via: string;
  /** As in `UpstreamSource`. */
  readonly silentEnd: ErrorDefinition<never>;
  readonly owner: ConnectionOwner;
  readonly watch: IdleWatch;
}

/** One HTTP/1.1 connection to an upstream: a request at a time, never pipelined. */
export class UpstreamConnection implements IdleTimeout {
  lastActivity = 0;
  /** Infinite while a request is under way: the request has a limit of its own. */
  limitMs = Infinity;
  /** The connection's place among the connections to its backend. A socket that has changed protocol keeps it. */
  readonly slot: UpstreamSlot;
  readonly via: string;
  readonly #socket: Duplex;
  readonly #silentEnd: ErrorDefinition<never>;
  readonly #owner: ConnectionOwner;
  readonly #watch: IdleWatch;
  readonly #share: ReadShare;
  readonly #endDirectReads: () => void;
  readonly #parser = new ResponseParser();
  #handler: UpstreamHandler | undefined;
  #requestSent = true;
  #served = 0;

  constructor({ stream: socket, slot, accountId, via, silentEnd, owner, watch }: ConnectionParts) {
    this.slot = slot;
    this.via = via;
    this.#socket = socket;
    this.#share = new ReadShare(socket, accountId);
    this.#silentEnd = silentEnd;
    this.#owner = owner;
    this.#watch = watch;
    this.#endDirectReads = readDirectly(socket, this.#onSocketData);
    socket.on('data', this.#onSocketData);
    socket.on('drain', this.#onSocketDrain);
    socket.on('end', this.#onSocketEnd);
    socket.on('error', this.#onSocketError);
    socket.on('close', this.#onSocketClose);
    watch.add(this);
  }

  /** `head` is the whole request head; a body follows through `writeBody` and `endBody` if `hasBody`. */
  send(request: RequestFraming, head: string, hasBody: boolean, handler: UpstreamHandler): void {
    this.limitMs = Infinity;
    this.#handler = handler;
    this.#requestSent = !hasBody;
    this.#parser.begin(request, handler);
    this.#socket.write(head, 'latin1');
  }

  /** False: wait for `onDrain`. Calls `written` when none of it waits any more. */
  writeBody(chunk: Buffer, chunked: boolean, written: () => void): boolean {
    if (!chunked) return this.#socket.write(chunk, written);
    if (chunk.length <= shortBody)
      return this.#socket.write(`${chunk.length.toString(16)}\r\n${chunk.toString('latin1')}\r\n`, 'latin1', written);
    this.#socket.cork();
    this.#socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
    this.#socket.write(chunk);
    const more = this.#socket.write('\r\n', 'latin1', written);
    this.#socket.uncork();
    return more;
  }

  /** `end` closes a chunked body; it is empty for other bodies. */
  endBody(end: string): void {
    if (end !== '') this.#socket.write(end, 'latin1');
    this.#requestSent = true;
    this.#releaseIfDone();
  }

  pause(): void {
    this.#share.pause();
  }

  resume(): void {
    this.#share.resume();
  }

  /** Drops the connection without a call to the handler. */
  abort(): void {
    this.#handler = undefined;
    this.#parser.leave();
    this.#watch.delete(this);
    this.#owner.onGone(this);
    this.#socket.destroy();
    this.slot.close();
  }

  /** Gives the stream away, which the caller must read at once. Its place stays taken until it is closed. */
  takeStream(): Duplex {
    this.#handler = undefined;
    this.#owner.onGone(this);
    this.#watch.delete(this);
    this.#detach();
    return this.#socket;
  }

  onIdle(): void {
    this.abort();
  }

  readonly #onSocketData = (chunk: Buffer): void => {
    this.#share.count(chunk.length);
    try {
      const surplus = this.#parser.push(chunk);
      // Surplus bytes must never be taken for the answer to the next request.
      if (surplus > 0) this.abort();
      else if (this.#parser.ended) this.#releaseIfDone();
      else this.#handler?.onUnfinished();
    } catch (error) {
      this.#fail(upstreamInvalidResponse, error instanceof Error ? error : new Error(String(error)));
    }
  };

  readonly #onSocketDrain = (): void => {
    this.#handler?.onDrain();
  };

  readonly #onSocketEnd = (): void => {
    this.#parser.finish();
    if (this.#parser.ended || this.#handler === undefined) this.abort();
    else this.#fail(this.#brokenBy, new Error('upstream closed the connection'));
  };

  readonly #onSocketError = (error: Error): void => {
    this.#fail(this.#brokenBy, error);
  };

  readonly #onSocketClose = (): void => {
    this.#fail(this.#brokenBy, new Error('upstream connection closed'));
    this.#share.end();
    this.#watch.delete(this);
  };

  get #brokenBy(): ErrorDefinition<never> {
    return this.#served > 0 || this.#parser.touched ? upstreamBroke : this.#silentEnd;
  }

  #fail(error: ErrorDefinition<never>, cause: Error): void {
    const handler = this.#handler;
    this.abort();
    if (handler === undefined || this.#parser.ended) return;
    handler.onFault({ error, cause, stale: this.#served > 0 && !this.#parser.touched });
  }

  #releaseIfDone(): void {
    if (!this.#parser.ended || this.#handler === undefined) return;
    const head = this.#parser.head;
    // After an answer that came before the whole request was sent, the connection is in the middle of a request.
    if (!this.#requestSent || head?.keepAlive !== true || this.#socket.destroyed) {
      this.abort();
      return;
    }
    this.#handler = undefined;
    this.#served += 1;
    this.#share.resume();
    // One second less than promised: a request must not meet the upstream's close.
    const promisedMs = head.keepAliveMs === undefined ? Infinity : head.keepAliveMs - 1000;
    this.#owner.onFree(this, promisedMs);
  }

  #detach(): void {
    this.#share.end();
    this.#endDirectReads();
    this.#socket.off('data', this.#onSocketData);
    this.#socket.off('drain', this.#onSocketDrain);
    this.#socket.off('end', this.#onSocketEnd);
    this.#socket.off('error', this.#onSocketError);
    this.#socket.off('close', this.#onSocketClose);
  }
}
