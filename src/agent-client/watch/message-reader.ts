import { ChunkedSkip, LengthSkip } from './body-skip.ts';
import type { BodySkip, TakeBytes } from './body-skip.ts';
import type { Framing } from './head.ts';

/** Takes what a `MessageReader` finds. */
export interface MessageSink {
  /** A head came, in Latin-1. Returns how its body ends, undefined if it has none, or `lost` to read no more. */
  onHead(text: string): BodySkip | undefined | 'lost';
  /** Takes the body; undefined: nobody looks at it. */
  readonly onBody: TakeBytes | undefined;
  onEnd(): void;
}

const maxHead = 64 * 1024;
const endOfHead = Buffer.from('\r\n\r\n');
const nothing = Buffer.alloc(0);
const carriageReturn = 13;
const lineFeed = 10;

/** Finds the messages of one direction of an HTTP/1 connection, until it meets something that is none. */
export class MessageReader {
  readonly #sink: MessageSink;
  #head: Buffer = nothing;
  /** Bytes of `#head` that are a head so far. */
  #held = 0;
  #body: BodySkip | undefined;
  #isLost = false;

  constructor(sink: MessageSink) {
    this.#sink = sink;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Stops reading for good. */
  lose(): void {
    this.#isLost = true;
    this.#head = nothing;
    this.#held = 0;
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length && !this.#isLost) {
      if (this.#body === undefined) at = this.#readHead(bytes, at);
      else {
        const end = this.#body.skip(bytes, at, this.#sink.onBody);
        if (end === 'more') return;
        if (end === 'lost') this.lose();
        else {
          at = end;
          this.#body = undefined;
          this.#sink.onEnd();
        }
      }
    }
  }

  #readHead(bytes: Buffer, start: number): number {
    let at = start;
    // Empty lines between messages are allowed.
    if (this.#held === 0) while (bytes[at] === carriageReturn || bytes[at] === lineFeed) at++;
    const known = this.#held;
    const all = known === 0 ? bytes.subarray(at) : this.#joined(bytes.subarray(at));
    const end = all.indexOf(endOfHead, Math.max(0, known - endOfHead.length + 1));
    if ((end < 0 ? all.length : end) > maxHead) this.lose();
    else if (end < 0) {
      if (known === 0) this.#joined(all);
      this.#held = all.length;
    } else {
      this.#held = 0;
      this.#takeHead(all.toString('latin1', 0, end));
      return at + end + endOfHead.length - known;
    }
    return bytes.length;
  }

  /** The start of the head and what follows. Its memory doubles, so that a head in many pieces is not copied as often. */
  #joined(more: Buffer): Buffer {
    const length = this.#held + more.length;
    if (length > this.#head.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#head.length));
      this.#head.copy(larger, 0, 0, this.#held);
      this.#head = larger;
    }
    more.copy(this.#head, this.#held);
    return this.#head.subarray(0, length);
  }

  #takeHead(text: string): void {
    const body = this.#sink.onHead(text);
    if (body === 'lost') this.lose();
    else if (body === undefined) this.#sink.onEnd();
    else this.#body = body;
  }
}

/** The body that a head announces; undefined if it announces none. */
export function announcedBody({ isChunked, contentLength = 0 }: Framing): BodySkip | undefined {
  if (isChunked) return new ChunkedSkip();
  return contentLength === 0 ? undefined : new LengthSkip(contentLength);
}
