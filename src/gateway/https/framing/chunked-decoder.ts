import { MalformedMessage, parseFields } from './fields.ts';

/** Longest chunk line or trailer line, in bytes. Extensions are skipped. */
const lineLimit = 4096;
const trailerLimit = 16_384;
const longestSize = 12;
/** Extensions without blanks around them: other readers (llhttp, Go) refuse these too. */
const extensions =
  /^(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t\x20!\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
const framingTrailer = /^(?:content-length|transfer-encoding):/im;
const lf = 10;
const cr = 13;
const semicolon = 59;
/** Shorter pieces are copied byte by byte, which takes less time than a call. */
const shortPiece = 16;

type State = 'size' | 'size-lf' | 'extension' | 'data' | 'data-cr' | 'data-lf' | 'trailers' | 'done';

/**
 * Decodes a chunked body. Strict, because the body is framed anew for whoever gets it: lines end with CR LF, a size is hex
 * digits only, and nothing is guessed. The cost of a chunk is that of its bytes, also where each holds a single one.
 */
export class ChunkedDecoder {
  #state: State = 'size';
  /** Bytes of the chunk still to come. */
  #left = 0;
  #digits = 0;
  /** Start of a line that has not ended yet, in Latin-1. */
  #line = '';
  #trailerBytes = 0;
  #trailerLines = '';
  trailers: readonly string[] = [];

  get done(): boolean {
    return this.#state === 'done';
  }

  /** Calls `onData` at most once, with the data in `chunk` from `at` on. Returns where the body ended, or the chunk's length. */
  push(chunk: Buffer, at: number, onData: (data: Buffer) => void): number {
    const data = new JoinedData(chunk);
    try {
      return this.#read(chunk, at, data);
    } finally {
      // Also what came before a fault.
      const joined = data.take();
      if (joined !== undefined) onData(joined);
    }
  }

  #read(chunk: Buffer, start: number, data: JoinedData): number {
    let at = start;
    while (at < chunk.length && this.#state !== 'done') {
      if (this.#state === 'data') {
        const end = Math.min(chunk.length, at + this.#left);
        data.add(at, end);
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#state = 'data-cr';
      } else if (this.#state === 'trailers' || this.#state === 'extension') {
        at = this.#readLine(chunk, at);
      } else {
        const dataAt = this.#startOfData(chunk, at);
        if (dataAt > at) {
          at = dataAt;
        } else {
          this.#takeByte(chunk[at] ?? 0);
          at += 1;
        }
      }
    }
    return at;
  }

  /** Reads a size line of the usual form that stands whole at `at`, in one go. Returns `at` where it does not. */
  #startOfData(chunk: Buffer, at: number): number {
    const start = this.#state === 'data-cr' && chunk[at] === cr && chunk[at + 1] === lf ? at + 2 : at;
    if (start === at && (this.#state !== 'size' || this.#digits > 0)) return at;
    let size = 0;
    let end = start;
    for (let digit = hexDigit(chunk[end] ?? 0); digit >= 0; digit = hexDigit(chunk[++end] ?? 0))
      size = size * 16 + digit;
    const isUsual = end > start && end - start <= longestSize && size > 0 && chunk[end] === cr && chunk[end + 1] === lf;
    if (!isUsual) return at;
    this.#left = size;
    this.#state = 'data';
    return end + 2;
  }

  /** Takes a byte of a chunk's size, or of the line break behind its data. */
  #takeByte(byte: number): void {
    if (this.#state === 'size') {
      this.#takeSize(byte);
    } else if (this.#state === 'size-lf') {
      if (byte !== lf) throw new MalformedMessage('malformed chunk size');
      this.#startChunk();
    } else if (this.#state === 'data-cr') {
      if (byte === lf) throw new MalformedMessage('bare line feed in a chunked body');
      if (byte !== cr) throw new MalformedMessage('chunk longer than its size');
      this.#state = 'data-lf';
    } else {
      if (byte !== lf) throw new MalformedMessage('chunk longer than its size');
      this.#state = 'size';
    }
  }

  #takeSize(byte: number): void {
    const digit = hexDigit(byte);
    if (digit >= 0) {
      this.#digits += 1;
      if (this.#digits > longestSize) throw new MalformedMessage('malformed chunk size');
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (byte === lf) throw new MalformedMessage('bare line feed in a chunked body');
    if (this.#digits === 0 || (byte !== cr && byte !== semicolon)) throw new MalformedMessage('malformed chunk size');
    this.#state = byte === cr ? 'size-lf' : 'extension';
    if (byte === semicolon) this.#line = ';';
  }

  #startChunk(): void {
    this.#digits = 0;
    this.#state = this.#left === 0 ? 'trailers' : 'data';
  }

  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(lf, at);
    this.#line += chunk.toString('latin1', at, end < 0 ? chunk.length : end);
    if (this.#line.length > lineLimit) throw new MalformedMessage('chunk line too long');
    if (end < 0) return chunk.length;
    const line = this.#line;
    this.#line = '';
    if (line.charCodeAt(line.length - 1) !== cr) throw new MalformedMessage('bare line feed in a chunked body');
    this.#takeLine(line.slice(0, -1));
    return end + 1;
  }

  #takeLine(line: string): void {
    if (this.#state === 'extension') {
      if (!extensions.test(line)) throw new MalformedMessage('malformed chunk size');
      this.#startChunk();
    } else if (line === '') {
      if (framingTrailer.test(this.#trailerLines)) throw new MalformedMessage('a trailer that frames the body');
      this.trailers = parseFields(this.#trailerLines, 0);
      this.#state = 'done';
    } else {
      this.#trailerBytes += line.length + 2;
      if (this.#trailerBytes > trailerLimit) throw new MalformedMessage('trailers too large');
      this.#trailerLines += `${line}\r\n`;
    }
  }
}

/** Parts of one buffer, joined: as they are where there is one, else copied. */
class JoinedData {
  readonly #from: Buffer;
  #start = 0;
  #end = 0;
  #copy: Buffer | undefined;
  #length = 0;

  constructor(from: Buffer) {
    this.#from = from;
  }

  add(start: number, end: number): void {
    if (this.#end === 0) {
      this.#start = start;
      this.#end = end;
      return;
    }
    if (this.#copy === undefined) {
      this.#copy = Buffer.allocUnsafeSlow(this.#end - this.#start + this.#from.length - start);
      this.#append(this.#copy, this.#start, this.#end);
    }
    this.#append(this.#copy, start, end);
  }

  take(): Buffer | undefined {
    if (this.#copy !== undefined) return this.#copy.subarray(0, this.#length);
    if (this.#end === 0) return undefined;
    const isWhole = this.#start === 0 && this.#end === this.#from.length;
    return isWhole ? this.#from : this.#from.subarray(this.#start, this.#end);
  }

  #append(copy: Buffer, start: number, end: number): void {
    if (end - start > shortPiece) {
      this.#from.copy(copy, this.#length, start, end);
      this.#length += end - start;
      return;
    }
    for (let at = start; at < end; at++) copy[this.#length++] = this.#from[at] ?? 0;
  }
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const lower = byte | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}
