import { BadResponse, parseFields } from './response-head.ts';

/** Longest chunk line or trailer line, in bytes. Extensions are skipped. */
const lineLimit = 4096;
const trailerLimit = 16_384;
/** Extensions without blanks around them: other readers (llhttp, Go) refuse these too. */
const sizeLine =
  /^([0-9A-Fa-f]{1,12})(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t\x20!\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
const framingTrailer = /^(?:content-length|transfer-encoding):/im;
const lf = 10;
const cr = 13;

type State = 'size' | 'data' | 'after-data' | 'trailers' | 'done';

/**
 * Decodes a chunked body. Strict, because the body is framed anew for the client: lines end with CR LF, a size is hex
 * digits only, and nothing is guessed.
 */
export class ChunkedDecoder {
  #state: State = 'size';
  /** Bytes of the chunk still to come. */
  #left = 0;
  /** Start of a line that has not ended yet, in Latin-1. */
  #line = '';
  #trailerBytes = 0;
  #trailerLines = '';
  trailers: readonly string[] = [];

  get done(): boolean {
    return this.#state === 'done';
  }

  /** Calls `onData` with the data in `chunk` from `at` on. Returns where the body ended, or the chunk's length. */
  push(chunk: Buffer, at: number, onData: (data: Buffer) => void): number {
    while (at < chunk.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const end = Math.min(chunk.length, at + this.#left);
        onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'after-data';
      } else {
        at = this.#readLine(chunk, at);
      }
    }
    return at;
  }

  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(lf, at);
    if (end < 0) {
      this.#line += chunk.toString('latin1', at);
      if (this.#line.length > lineLimit) throw new BadResponse('chunk line too long');
      return chunk.length;
    }
    this.#line += chunk.toString('latin1', at, end);
    const line = this.#line;
    this.#line = '';
    if (line.length > lineLimit) throw new BadResponse('chunk line too long');
    if (line.charCodeAt(line.length - 1) !== cr) throw new BadResponse('bare line feed in a chunked body');
    this.#takeLine(line.slice(0, -1));
    return end + 1;
  }

  #takeLine(line: string): void {
    if (this.#state === 'size') {
      const size = sizeLine.exec(line)?.[1];
      if (size === undefined) throw new BadResponse('malformed chunk size');
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? 'trailers' : 'data';
    } else if (this.#state === 'after-data') {
      if (line !== '') throw new BadResponse('chunk longer than its size');
      this.#state = 'size';
    } else if (line === '') {
      if (framingTrailer.test(this.#trailerLines)) throw new BadResponse('a trailer that frames the body');
      this.trailers = parseFields(this.#trailerLines, 0);
      this.#state = 'done';
    } else {
      this.#trailerBytes += line.length + 2;
      if (this.#trailerBytes > trailerLimit) throw new BadResponse('trailers too large');
      this.#trailerLines += `${line}\r\n`;
    }
  }
}
