import { GrowingBuffer } from '../../../lib/growing-buffer.ts';
import { ChunkedDecoder } from '../framing/chunked-decoder.ts';
import { MalformedMessage } from '../framing/fields.ts';
import { parseResponseHead } from './response-head.ts';
import type { ResponseHead } from './response-head.ts';

/** Bytes of all heads of one answer: those before the last are written to the client whether it reads or not. */
const headLimit = 65_536;
const interimLimit = 32;
const endOfHead = Buffer.from('\r\n\r\n');

/** The facts of a request that decide how its answer is framed. */
export interface RequestFraming {
  readonly method: string;
  /** True: the request offered to change the protocol. */
  readonly upgrade: boolean;
}

export interface ResponseSink {
  onInterim(head: ResponseHead): void;
  onHead(head: ResponseHead): void;
  /** `last`: the body ends with this chunk, which is then followed by `onEnd`. */
  onData(chunk: Buffer, last: boolean): void;
  onEnd(trailers: readonly string[]): void;
  /** The connection speaks another protocol from now on; `firstBytes` are those that have come already. */
  onUpgrade(head: ResponseHead, firstBytes: Buffer): void;
}

type State = 'idle' | 'head' | 'length' | 'chunked' | 'until-close' | 'ended';

/** Reads the answers on one connection, one at a time. After it has thrown `MalformedMessage` the connection cannot be used. */
export class ResponseParser {
  #state: State = 'idle';
  #request: RequestFraming = { method: 'GET', upgrade: false };
  #sink: ResponseSink | undefined;
  /** The start of a head that has not come whole. */
  readonly #partialHead = new GrowingBuffer(2 * headLimit);
  #interims = 0;
  /** Bytes of the heads before this one. */
  #interimBytes = 0;
  /** Bytes of the body still to come. */
  #left = 0;
  #chunks = new ChunkedDecoder();
  #head: ResponseHead | undefined;

  begin(request: RequestFraming, sink: ResponseSink): void {
    this.#state = 'head';
    this.#request = request;
    this.#sink = sink;
    this.#interims = 0;
    this.#interimBytes = 0;
    this.#head = undefined;
  }

  /** The final head of the answer under way or just ended. */
  get head(): ResponseHead | undefined {
    return this.#head;
  }

  /** False while an answer is under way. */
  get ended(): boolean {
    return this.#state === 'ended';
  }

  /** True if any byte of an answer has come. */
  get touched(): boolean {
    return this.#head !== undefined || this.#interims > 0 || this.#partialHead.length > 0;
  }

  /** Nobody wants the rest of the answer. */
  leave(): void {
    this.#sink = undefined;
  }

  /** Returns how many bytes followed the end of the answer: they belong to no request. */
  push(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length) {
      if (this.#state === 'head') at = this.#readHead(chunk, at);
      else if (this.#state === 'idle' || this.#state === 'ended') return chunk.length - at;
      else at = this.#readBody(chunk, at);
    }
    return 0;
  }

  /** The upstream has closed its side. */
  finish(): void {
    if (this.#state === 'until-close') this.#end([]);
  }

  #readHead(chunk: Buffer, at: number): number {
    const known = this.#partialHead.length;
    if (known > 0) this.#partialHead.add(chunk.subarray(at));
    const bytes = known === 0 ? chunk.subarray(at) : this.#partialHead.bytes;
    const end = bytes.indexOf(endOfHead, Math.max(0, known - 3));
    if (this.#interimBytes + (end < 0 ? bytes.length : end) > headLimit)
      throw new MalformedMessage('response head too large');
    if (end < 0) {
      if (bytes[0] !== 72) throw new MalformedMessage('not HTTP');
      if (known === 0) this.#partialHead.add(bytes);
      return chunk.length;
    }
    if (known > 0) this.#partialHead.take();
    const next = at + end + endOfHead.length - known;
    const head = parseResponseHead(bytes.toString('latin1', 0, end));
    this.#interimBytes += end;
    if (head.status >= 200) this.#takeFinal(head);
    else if (head.status === 101) return this.#takeUpgrade(head, chunk, next);
    else this.#takeInterim(head);
    return next;
  }

  #takeInterim(head: ResponseHead): void {
    if (++this.#interims > interimLimit) throw new MalformedMessage('too many interim responses');
    this.#sink?.onInterim(head);
  }

  #takeUpgrade(head: ResponseHead, chunk: Buffer, next: number): number {
    if (!this.#request.upgrade) throw new MalformedMessage('unasked change of protocol');
    if (head.upgrade === undefined) throw new MalformedMessage('change of protocol without its name');
    if (head.contentLength !== undefined && head.contentLength > 0)
      throw new MalformedMessage('body before a new protocol');
    this.#state = 'ended';
    this.#head = head;
    this.#sink?.onUpgrade(head, chunk.subarray(next));
    return chunk.length;
  }

  #takeFinal(head: ResponseHead): void {
    this.#head = head;
    this.#state = this.#framingOf(head);
    this.#sink?.onHead(head);
    if (this.#state === 'ended') this.#end([]);
  }

  #framingOf(head: ResponseHead): State {
    if (this.#request.method === 'HEAD' || head.status === 204 || head.status === 304) return 'ended';
    if (head.chunked) {
      this.#chunks = new ChunkedDecoder();
      return 'chunked';
    }
    if (head.contentLength === undefined) return 'until-close';
    this.#left = head.contentLength;
    return this.#left === 0 ? 'ended' : 'length';
  }

  #readBody(chunk: Buffer, at: number): number {
    if (this.#state === 'chunked') {
      const end = this.#chunks.push(chunk, at, (data) => this.#sink?.onData(data, false));
      if (this.#chunks.done) this.#end(this.#chunks.trailers);
      return end;
    }
    const end = this.#state === 'length' ? Math.min(chunk.length, at + this.#left) : chunk.length;
    const data = at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end);
    if (this.#state === 'length') this.#left -= end - at;
    const last = this.#state === 'length' && this.#left === 0;
    this.#sink?.onData(data, last);
    if (last) this.#end([]);
    return end;
  }

  #end(trailers: readonly string[]): void {
    this.#state = 'ended';
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.onEnd(trailers);
  }
}
