const lineFeed = 10;
/** Longest line between chunks that is believed to be one. */
const maxLine = 4096;

/** Takes bytes of a body; their memory is used again. */
export type TakeBytes = (bytes: Buffer) => void;

/** Finds the end of a body without looking at it. */
export interface BodySkip {
  /** Returns where in `bytes` the body ends, `more` if it goes on, or `lost` if it is none. `take` gets what it is made of. */
  skip(bytes: Buffer, at: number, take: TakeBytes | undefined): number | 'more' | 'lost';
}

export class LengthSkip implements BodySkip {
  #left: number;

  constructor(length: number) {
    this.#left = length;
  }

  skip(bytes: Buffer, at: number, take: TakeBytes | undefined): number | 'more' {
    const taken = Math.min(this.#left, bytes.length - at);
    take?.(bytes.subarray(at, at + taken));
    this.#left -= taken;
    return this.#left === 0 ? at + taken : 'more';
  }
}

/** A body that only the end of the connection ends. */
export const untilEnd: BodySkip = {
  skip: (bytes, at, take) => {
    take?.(bytes.subarray(at));
    return 'more';
  },
};

export class ChunkedSkip implements BodySkip {
  #part: 'size' | 'data' | 'after data' | 'trailers' = 'size';
  /** Bytes of the chunk still to come. */
  #left = 0;
  #line = '';

  skip(bytes: Buffer, start: number, take: TakeBytes | undefined): number | 'more' | 'lost' {
    let at = start;
    while (at < bytes.length) {
      if (this.#part === 'data') {
        const taken = Math.min(this.#left, bytes.length - at);
        take?.(bytes.subarray(at, at + taken));
        this.#left -= taken;
        at += taken;
        if (this.#left === 0) this.#part = 'after data';
        continue;
      }
      const end = bytes.indexOf(lineFeed, at);
      this.#line += bytes.toString('latin1', at, end < 0 ? bytes.length : end);
      if (this.#line.length > maxLine) return 'lost';
      if (end < 0) return 'more';
      at = end + 1;
      const line = this.#line.replace(/\r$/, '');
      this.#line = '';
      const taken = this.#takeLine(line);
      if (taken === 'end') return at;
      if (taken === 'lost') return 'lost';
    }
    return 'more';
  }

  #takeLine(line: string): 'go on' | 'end' | 'lost' {
    if (this.#part === 'trailers') return line === '' ? 'end' : 'go on';
    if (this.#part === 'after data') {
      this.#part = 'size';
      return line === '' ? 'go on' : 'lost';
    }
    const [, size] = /^([0-9A-Fa-f]{1,12})[\t ]*(?:;.*)?$/.exec(line) ?? [];
    if (size === undefined) return 'lost';
    this.#left = Number.parseInt(size, 16);
    this.#part = this.#left === 0 ? 'trailers' : 'data';
    return 'go on';
  }
}
