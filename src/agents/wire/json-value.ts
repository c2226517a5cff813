const quoteMark = 0x22;
const backslash = 0x5c;
const braceOpen = 0x7b;
const braceClose = 0x7d;
const bracketOpen = 0x5b;
const bracketClose = 0x5d;

export type JsonFaultName = 'too long' | 'not an object' | 'too deep' | 'not UTF-8' | 'not JSON';

export type JsonRead =
  | { readonly state: 'more' }
  | { readonly state: 'done'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly state: 'bad'; readonly fault: JsonFaultName };

const more: JsonRead = { state: 'more' };
/** Messages have four levels. */
const maxDepth = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads one JSON object from pieces of a stream that has no lengths: it is complete when its braces are balanced. It
 * takes pieces until it returns something else than `more`, and ignores what comes behind the object.
 */
export class JsonReader {
  readonly #maxBytes: number;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(piece: Buffer): JsonRead {
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] ?? 0;
      if (this.#bytes + at >= this.#maxBytes) return bad('too long');
      if (this.#inString) this.#passString(byte);
      else if (byte === quoteMark) this.#inString = true;
      else if (byte === braceOpen || byte === bracketOpen) this.#depth++;
      else if (byte === braceClose || byte === bracketClose) {
        this.#depth--;
        if (this.#depth === 0) return this.#parse(piece.subarray(0, at + 1));
      }
      if (this.#depth === 0 && !isBlank(byte)) return bad('not an object');
      if (this.#depth > maxDepth) return bad('too deep');
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return more;
  }

  #passString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === backslash) this.#escaped = true;
    else if (byte === quoteMark) this.#inString = false;
  }

  #parse(last: Buffer): JsonRead {
    let text: string;
    try {
      text = utf8.decode(this.#pieces.length === 0 ? last : Buffer.concat([...this.#pieces, last]));
    } catch {
      return bad('not UTF-8');
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return bad('not JSON');
    }
    return isObject(value) ? { state: 'done', value } : bad('not an object');
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function bad(fault: JsonFaultName): JsonRead {
  return { state: 'bad', fault };
}
