import type { ServerHttp2Stream } from 'node:http2';

import { GrowingBuffer } from '../../../lib/growing-buffer.ts';
import type { ReadShare } from '../../turns/read-share.ts';
import type { RequestBodySource } from '../exchange.ts';

/**
 * The body of a request over HTTP/2. Node would keep each frame that nobody has read as an object of its own, a hundred
 * times what a byte takes. So frames are taken where Node hands them over, `push`, and those that must wait are joined: at
 * most the window of a stream, which grows only while somebody reads.
 */
export class Http2Body implements RequestBodySource {
  readonly #stream: ServerHttp2Stream;
  readonly #share: ReadShare;
  readonly #waiting = new GrowingBuffer();
  #onBytes: ((bytes: Buffer) => void) | undefined;
  #onEnd: (() => void) | undefined;
  #isPaused = true;
  #isDropped = false;
  #hasEnded = false;

  constructor(stream: ServerHttp2Stream, share: ReadShare) {
    this.#stream = stream;
    this.#share = share;
    const push = stream.push.bind(stream);
    stream.push = (chunk: Buffer | null) => {
      if (chunk !== null) return this.#take(chunk);
      push(null);
      // Nothing of it lies with Node: its end can be told, after that of its trailers.
      stream.read(0);
      return false;
    };
    stream.on('end', () => {
      this.#hasEnded = true;
      this.#flush();
    });
  }

  read(onBytes: (bytes: Buffer) => void, onEnd: () => void): void {
    this.#onBytes = onBytes;
    this.#onEnd = onEnd;
    this.resume();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#flush();
    if (!this.#isPaused && !this.#stream.destroyed) this.#askForMore();
  }

  drop(): void {
    this.#isDropped = true;
    this.#waiting.take();
    this.#onBytes = undefined;
    this.#onEnd = undefined;
    this.resume();
  }

  /** Node asks for more by itself only where its own buffer takes what comes. */
  #askForMore(): void {
    const read: unknown = Reflect.get(this.#stream, '_read');
    if (typeof read === 'function') Reflect.apply(read, this.#stream, [0]);
  }

  /** False: the client gets no more room for now. */
  #take(frame: Buffer): boolean {
    this.#share.count(frame.length);
    if (this.#isDropped) return true;
    if (this.#isPaused) this.#waiting.add(frame);
    else this.#onBytes?.(frame);
    return !this.#isPaused;
  }

  #flush(): void {
    if (this.#isPaused) return;
    if (this.#waiting.length > 0) this.#onBytes?.(this.#waiting.take());
    if (this.#isPaused || !this.#hasEnded) return;
    const onEnd = this.#onEnd;
    this.#onEnd = undefined;
    onEnd?.();
  }
}
