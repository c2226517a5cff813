import { headersTooLarge } from '../../../../errors/shared.ts';
import { UserError } from '../../../../errors/user-error.ts';
import { GrowingBuffer } from '../../../../lib/growing-buffer.ts';
import { checkFieldLine, malformed, parseRequestHead, parseRequestLine } from './request-head.ts';
import type { RequestHead } from './request-head.ts';

/** In bytes. */
const headLimit = 32_768;
/** Line breaks that may stand before a request, in bytes (RFC 9112, 2.2). */
const blankLimit = 64;
/** The longest method and a space; no request line starts otherwise. */
const longestMethod = 24;
const endOfHead = '\r\n\r\n';
const lf = 10;
const cr = 13;
const space = 32;

/** Reads the heads of one connection. Each byte is looked at once, in whatever pieces they come. */
export class HeadReader {
  /** The start of a head that has not come whole. */
  readonly #partial = new GrowingBuffer(2 * headLimit);
  /** Bytes of `#partial` whose lines have been checked. */
  #checked = 0;
  /** Bytes of `#partial` in which the end of a line has been looked for. */
  #searched = 0;
  #blanks = 0;
  /** Set by `read`: how many bytes of the chunk it has taken. */
  taken = 0;

  /** True if a head has begun. */
  get hasBegun(): boolean {
    return this.#partial.length > 0;
  }

  /** Returns a head that ends in this chunk; undefined: all of the chunk was taken. Throws a `UserError`. */
  read(chunk: Buffer): RequestHead | undefined {
    const known = this.#partial.length;
    const start = known === 0 ? this.#skipBlanks(chunk) : 0;
    this.taken = chunk.length;
    if (start === chunk.length) return undefined;
    if (known > 0) this.#partial.add(chunk);
    const bytes = known === 0 ? chunk : this.#partial.bytes;
    // Usually a head comes whole, and its text is made once.
    const from = known === 0 ? start : Math.max(0, known - 3);
    const text = bytes.toString('latin1', from, Math.min(bytes.length, start + headLimit + endOfHead.length));
    const end = text.indexOf(endOfHead) + from;
    if (end < from) {
      if (bytes.length - start > headLimit) throw new UserError(headersTooLarge);
      if (known === 0) this.#partial.add(chunk.subarray(start));
      this.#checkLines();
      return undefined;
    }
    const head = parseRequestHead(
      from === start ? text.slice(0, end + 2 - from) : bytes.toString('latin1', start, end + 2),
    );
    this.taken = end + endOfHead.length - known;
    this.#blanks = 0;
    this.#checked = 0;
    this.#searched = 0;
    if (known > 0) this.#partial.take();
    return head;
  }

  #skipBlanks(chunk: Buffer): number {
    let at = 0;
    while (at < chunk.length && (chunk[at] === cr || chunk[at] === lf)) at++;
    this.#blanks += at;
    if (this.#blanks > blankLimit) throw malformed('nothing but line breaks');
    return at;
  }

  /** Refuses what can be no head as soon as it is seen: a client that speaks another protocol waits for an answer. */
  #checkLines(): void {
    const { bytes } = this.#partial;
    for (let end = bytes.indexOf(lf, this.#searched); end >= 0; end = bytes.indexOf(lf, end + 1)) {
      if (bytes[end - 1] !== cr) throw malformed('bare line feed');
      const line = bytes.toString('latin1', this.#checked, end - 1);
      if (this.#checked === 0) parseRequestLine(line);
      else checkFieldLine(line);
      this.#checked = end + 1;
    }
    this.#searched = bytes.length;
    if (this.#checked > 0) return;
    const at = bytes.subarray(0, longestMethod).indexOf(space);
    if (!startsAsMethod(bytes[0]) || (at < 0 && bytes.length >= longestMethod))
      throw malformed('malformed request line');
  }
}

function startsAsMethod(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 65 && byte <= 90;
}
