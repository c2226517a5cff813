import type { IncomingMessage } from 'node:http';

const nothing = Buffer.alloc(0);
const endOfHead = '\r\n\r\n';

/** In bytes: more than Node's parser takes, except for blanks, which it does not count. */
const longestHead = 65_536;

/**
 * Keeps the bytes in which the next request line of a connection must stand. Node's parser takes several spaces for one, and
 * the names of other protocols for HTTP, without a word; so the line that it has read is looked for in the bytes. A body
 * that holds the same line hides a wrong one: this does no harm, as the upstream is sent a line of the gateway's own.
 */
export class RequestLines {
  #bytes: Buffer = nothing;
  #last: IncomingMessage | undefined;

  /** Must be called with all bytes of the connection, each before the parser has read it. */
  push(chunk: Buffer): void {
    // While a body is read, the next line stands in this chunk or in later ones.
    const startsAnew = this.#bytes.length === 0 || this.#last?.complete === false;
    const bytes = startsAnew ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = bytes.subarray(-Math.max(longestHead, chunk.length));
  }

  /** Must be called for each request, in order. Returns false if its line is written in another way than it was read. */
  has(request: IncomingMessage): boolean {
    this.#last = request;
    const { method = '', url = '', httpVersion, headers } = request;
    const line = `${method} ${url} HTTP/${httpVersion}\r\n`;
    const at = this.#bytes.indexOf(line, 0, 'latin1');
    if (at < 0) return false;
    const end = this.#bytes.indexOf(endOfHead, at + line.length - 2, 'latin1') + endOfHead.length;
    // An idle connection must not hold on to the memory of its last request.
    const next = end + Number(headers['content-length'] ?? 0);
    this.#bytes = next < this.#bytes.length ? this.#bytes.subarray(next) : nothing;
    return true;
  }
}
